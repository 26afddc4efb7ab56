/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"

#include "clients/numad-xen/display.h"
#include "clients/numad-xen/number.h"
#include "clients/numad-xen/place.h"
#include "clients/numad-xen/render.h"

#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static const Screen in_pipe = {.columns = UINT32_MAX, .rows = UINT32_MAX};

static char *with_quotes(const char *json)
{
    char *text = strdup(json);

    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    return text;
}

static PlacementView *placement_of(const char *json)
{
    _cleanup_free_ char *text = with_quotes(json), *error = NULL;
    PlacementView *view = NULL;

    if (placement_view_new(text, &view, &error) < 0)
        fail_msg("%s", error);
    return view;
}

static char *text_of(const PlacementView *view)
{
    char *string = NULL;
    Text text = {0};

    render_placement(view, &in_pipe, &text);
    assert_int_equal(text_take(&text, &string, NULL), 0);
    return string;
}

/* --- text --- */

static const char placed[] =
    "{'format':'numad-xen-placement/1','token':'" TOKEN "','nodes':[1,3],'memory':[{'node':1,'bytes':1073741824},"
    "{'node':3,'bytes':536870912}],'overhead':18874368,'vcpus':[{'vcpu':0,'hard':'0-7','soft':'2-3'},"
    "{'vcpu':1,'hard':'0-7','soft':'2-3'},{'vcpu':2,'hard':'6-7','soft':'6-7'}],'extent_order':9,"
    "'expected_locality':0.625,'reason':'two nodes are the fewest that have 1.5G','expires_ms':59001,'candidates':["
    "{'nodes':[1,3],'fits':true,'refused_by':null,'short_bytes':0,'worst_distance':22,'mean_distance':21.5,"
    "'vcpus_per_core':0.75,'left':2147483648,'rank':1},"
    "{'nodes':[0],'fits':false,'refused_by':'memory','short_bytes':1048576,'worst_distance':10,'mean_distance':10,"
    "'vcpus_per_core':null,'left':0,'rank':2},"
    "{'nodes':[2],'fits':false,'refused_by':'kind','short_bytes':0,'worst_distance':null,'mean_distance':null,"
    "'vcpus_per_core':null,'left':0,'rank':3}]}";

static void test_text(void **state)
{
    _cleanup_(placement_view_free_p) PlacementView *view = placement_of(placed);
    _cleanup_free_ char *text = text_of(view);

    assert_string_equal(text, "nodes     1,3\n"
                              "memory    1:1.0G 3:512M, and 18M beside it for Xen\n"
                              "vcpus     0-1 on CPUs 2-3 by preference, of 0-7\n"
                              "          2 on CPUs 6-7\n"
                              "locality  62% expected\n"
                              "reason    two nodes are the fewest that have 1.5G\n"
                              "token     " TOKEN "\n"
                              "time left 60 s for the domain to come\n"
                              "\n"
                              "RANK  NODES  FITS  REFUSED  SHORT  FARTHEST  MEAN  VCPUS/CORE  LEFT\n"
                              "1     1,3    yes                         22  21.5        0.75  2.0G\n"
                              "2     0      no    memory      1M        10  10.0           -     0\n"
                              "3     2      no    kind                   -     -           -     0\n");
}

static void test_dry_run(void **state)
{
    _cleanup_(placement_view_free_p) PlacementView *view =
        placement_of("{'format':'numad-xen-placement/1','token':null,'nodes':[0],'memory':[{'node':0,'bytes':1}],"
                     "'overhead':0,'vcpus':[{'vcpu':0,'hard':'0','soft':'0'}],'extent_order':null,"
                     "'expected_locality':null,'reason':'r','expires_ms':null,'candidates':[]}");
    _cleanup_free_ char *text = text_of(view);

    assert_string_equal(text, "nodes     0\n"
                              "memory    0:<1K\n"
                              "vcpus     0 on CPUs 0\n"
                              "locality  - expected\n"
                              "reason    r\n"
                              "token     none: nothing is reserved\n");
}

/* Each vCPU has a CPU of its own. */
static void test_many_groups(void **state)
{
    _cleanup_(placement_view_free_p) PlacementView *view = NULL;
    _cleanup_free_ char *json = NULL, *text = NULL;
    Text made = {0};

    text_add(&made, "{'format':'numad-xen-placement/1','vcpus':[");
    for (unsigned i = 0; i < 4096; i++)
        text_printf(&made, "%s{'vcpu':%u,'hard':'%u','soft':'%u'}", i ? "," : "", i, i, i);
    text_add(&made, "]}");
    assert_int_equal(text_take(&made, &json, NULL), 0);
    view = placement_of(json);
    text = text_of(view);
    assert_non_null(strstr(text, "\n          15 on CPUs 15\n"
                                 "          and 4080 more: --format json has them all\n"));
}

static void test_candidates_change(void **state)
{
    _cleanup_(placement_view_free_p) PlacementView *view = placement_of(placed), *other = NULL;

    assert_int_equal(placement_view_set_candidates(view, NULL), 0);
    assert_null(strstr(value_text(view->document), "candidates"));
    other = placement_of(placed);
    assert_int_equal(placement_view_set_candidates(view, other), 0);
    other = placement_view_free(other);
    assert_int_equal(value_count(view->candidates), 3);
    assert_non_null(strstr(value_text(view->document), "\"expires_ms\":59001,\"candidates\":[{\"nodes\":[1,3],"));
}

static const char *const no_placements[] = {
    "", "{", "null", "[]", "{}", "{'format':'numad-xen-status/1'}", "{'format':'numad-xen-placement/2'}"};

static void test_no_document(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(no_placements); i++) {
        _cleanup_free_ char *text = with_quotes(no_placements[i]), *error = NULL;
        PlacementView *view = NULL;

        assert_int_equal(placement_view_new(text, &view, &error), -EBADMSG);
        assert_non_null(error);
    }
    /* As little as there can be. */
    PlacementView *view = placement_of("{'format':'numad-xen-placement/1'}");
    free(text_of(view));
    placement_view_free(view);
}

/* Whatever a member is, what comes out is a text without anything a terminal obeys. */
static void test_evil(void **state)
{
    static const char *const values[] = {
        "null", "-1",    "18446744073709551615",      "1e308", "'\\u001b[2J\\n'", "{}", "[[],{},'x',null,5000]",
        "true", "'9-1'", "[{'node':9999,'bytes':-1}]"};
    static const char *const keys[] = {"token",  "nodes",      "memory",    "overhead", "vcpus", "expected_locality",
                                       "reason", "expires_ms", "candidates"};

    for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
        for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
            _cleanup_(placement_view_free_p) PlacementView *view = placement_of(placed);
            _cleanup_(placement_view_free_p) PlacementView *changed = NULL;
            _cleanup_free_ char *value = with_quotes(values[i]), *text = NULL, *error = NULL;

            json_object_object_add(view->document, keys[k], json_tokener_parse(value));
            assert_int_equal(placement_view_new(value_text(view->document), &changed, &error), 0);
            text = text_of(changed);
            for (const char *p = text; *p; p++)
                assert_false(((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7f);
        }
}

/* --- xl --- */

/* Nodes 0 and 1 have CPUs and memory, 2 memory, 3 CPUs, 4 both but of pool 1. */
static const char topology_json[] =
    "{'format':'numad-xen-topology/1','nodes':[{'node':0,'kind':'cpu+memory','cpus':'0-1'},"
    "{'node':1,'kind':'cpu+memory','cpus':'2-3'},{'node':2,'kind':'memory','cpus':''},"
    "{'node':3,'kind':'cpu','cpus':'4-5'},{'node':4,'kind':'cpu+memory','cpus':'6-7'}],"
    "'pools':[{'pool':0,'cpus':'0-5'},{'pool':1,'cpus':'6-7'}]}";

typedef struct XlCase {
    const char *nodes;               /* of the answer */
    const char *hard[2], *soft[2];   /* of two vCPUs */
    bool strict, has_cpus, has_uuid; /* of the request */
    uint32_t pool;                   /* as asked for, plus one; 0: not asked for */
    const char *lines, *why;         /* either what is printed, or what the refusal says */
} XlCase;

static const XlCase xl_cases[] = {
    {"1", {"0-5", "0-5"}, {"2-3", "2-3"}, .lines = "cpus_soft = [ \"2-3\", \"2-3\" ]\n"},
    {"1", {"0-5", "0-5"}, {"2", "3"}, .lines = "cpus_soft = [ \"2\", \"3\" ]\n"},
    {"0-1", {"0-5", "0-5"}, {"0-1", "2-3"}, .lines = "cpus_soft = [ \"0-1\", \"2-3\" ]\n"},
    {"1", {"2-3", "2-3"}, {"2-3", "2-3"}, .strict = true, .lines = "cpus = [ \"2-3\", \"2-3\" ]\n"},
    {"0-1",
     {"0-1", "2-3"},
     {"0-1", "2"},
     .strict = true,
     .lines = "cpus = [ \"0-1\", \"2-3\" ]\ncpus_soft = [ \"0-1\", \"2\" ]\n"},
    {"1",
     {"1-3", "1-3"},
     {"2-3", "2-3"},
     .has_cpus = true,
     .lines = "cpus = [ \"1-3\", \"1-3\" ]\ncpus_soft = [ \"2-3\", \"2-3\" ]\n"},
    {"4", {"6-7", "6-7"}, {"6-7", "6-7"}, .pool = 2, .lines = "cpus_soft = [ \"6-7\", \"6-7\" ]\npool = \"1\"\n"},
    {"0", {"0-5", "0-5"}, {"0-1", "0-1"}, .pool = 1, .lines = "cpus_soft = [ \"0-1\", \"0-1\" ]\npool = \"0\"\n"},
    {"0",
     {"0-5", "0-5"},
     {"0-1", "0-1"},
     .has_uuid = true,
     .lines = "cpus_soft = [ \"0-1\", \"0-1\" ]\nuuid = \"00010203-0405-0607-0809-0a0b0c0d0e0f\"\n"},
    /* CPUs without memory beside them take nothing from nodes that have both */
    {"1", {"0-5", "0-5"}, {"2-5", "2-5"}, .lines = "cpus_soft = [ \"2-5\", \"2-5\" ]\n"},
    /* an empty preference is none: Xen goes by the hard sets */
    {"0", {"0", "1"}, {"", ""}, .strict = true, .lines = "cpus = [ \"0\", \"1\" ]\n"},
    /* what xl would do otherwise */
    {"2", {"0-5", "0-5"}, {"2-3", "2-3"}, .why = "and node 2 has none: "},
    {"1-2", {"0-5", "0-5"}, {"2-3", "2-3"}, .why = "and node 2 has none: "},
    {"1", {"0-5", "0-5"}, {"4-5", "4-5"}, .why = "have no memory, and xl has no word for node 1: "},
    {"1",
     {"0-5", "0-5"},
     {"0-5", "0-5"},
     .why = "from nodes 0-1, where the CPUs are that the vCPUs prefer, and not from 1:"},
    {"0-1",
     {"0-5", "0-5"},
     {"2-3", "2-3"},
     .why = "from node 1, where the CPUs are that the vCPUs prefer, and not from 0-1:"},
    {"1", {"0-7", "0-7"}, {"6-7", "6-7"}, .why = "from nodes 0-1"}, /* 6-7 are not in the pool */
};

static PlacementView *xl_placement(const XlCase *c)
{
    _cleanup_bitmap_ Bitmap nodes = {0};
    _cleanup_free_ char *json = NULL;
    Text text = {0};

    assert_int_equal(bitmap_parse(&nodes, c->nodes, 63), 0);
    text_add(&text, "{'format':'numad-xen-placement/1','nodes':[");
    BITMAP_FOREACH (node, &nodes)
        text_printf(&text, "%s%u", node == bitmap_next(&nodes, 0) ? "" : ",", node);
    text_add(&text, "],'vcpus':[");
    for (unsigned i = 0; i < 2; i++)
        text_printf(&text, "%s{'vcpu':%u,'hard':'%s','soft':'%s'}", i ? "," : "", i, c->hard[i], c->soft[i]);
    text_add(&text, "]}");
    assert_int_equal(text_take(&text, &json, NULL), 0);
    return placement_of(json);
}

static TopologyView *xl_topology(void)
{
    _cleanup_free_ char *text = with_quotes(topology_json), *error = NULL;
    TopologyView *view = NULL;

    assert_int_equal(topology_view_new(text, &view, &error), 0);
    return view;
}

static void test_xl(void **state)
{
    _cleanup_(topology_view_free_p) TopologyView *topology = xl_topology();

    for (size_t i = 0; i < ARRAY_SIZE(xl_cases); i++) {
        const XlCase *c = &xl_cases[i];
        PlacementRequest request = {.vcpus = 2,
                                    .strict = c->strict,
                                    .has_cpus = c->has_cpus,
                                    .has_uuid = c->has_uuid,
                                    .pool = c->pool ? c->pool - 1 : ROW_NO_POOL};
        _cleanup_(placement_view_free_p) PlacementView *view = xl_placement(c);
        _cleanup_free_ char *string = NULL, *why = NULL;
        Text text = {0};
        int r;

        for (unsigned k = 0; k < 16; k++)
            request.uuid[k] = (uint8_t)k;
        r = xl_lines(view, topology, &request, &text, &why);
        assert_int_equal(text_take(&text, &string, NULL), 0);
        assert_int_equal(r, c->why ? XL_E_OTHER : 0);
        assert_string_equal(string, c->lines ? c->lines : "");
        if (c->why && !strstr(why, c->why))
            fail_msg("case %zu: no '%s' in: %s", i, c->why, why);
    }
}

static void test_xl_nonsense(void **state)
{
    static const XlCase cases[] = {{.nodes = "1", .hard = {"x", "2"}, .soft = {"2", "2"}},
                                   {.nodes = "1", .hard = {"0-5", "0-5"}, .soft = {"3-2", "2"}}};
    _cleanup_(topology_view_free_p) TopologyView *topology = xl_topology();
    PlacementRequest request = {.vcpus = 2, .pool = ROW_NO_POOL};
    _cleanup_free_ char *why = NULL;
    Text text = {0};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(placement_view_free_p) PlacementView *view = xl_placement(&cases[i]);

        assert_int_equal(xl_lines(view, topology, &request, &text, &why), -EBADMSG);
    }
    request.vcpus = 3; /* an answer to something else */
    _cleanup_(placement_view_free_p) PlacementView *view = xl_placement(&xl_cases[0]);
    assert_int_equal(xl_lines(view, topology, &request, &text, &why), -EBADMSG);
    assert_int_equal(text.size, 0);
}

static void test_xl_token(void **state)
{
    _cleanup_(topology_view_free_p) TopologyView *topology = xl_topology();
    _cleanup_(placement_view_free_p) PlacementView *view = placement_of(
        "{'format':'numad-xen-placement/1','token':'" TOKEN "','nodes':[1],'vcpus':[{'vcpu':0,'hard':'0-5',"
        "'soft':'2-3'}]}");
    PlacementRequest request = {.vcpus = 1, .pool = ROW_NO_POOL};
    _cleanup_free_ char *string = NULL, *why = NULL;
    Text text = {0};

    assert_int_equal(xl_lines(view, topology, &request, &text, &why), 0);
    assert_int_equal(text_take(&text, &string, NULL), 0);
    assert_string_equal(string, "# token " TOKEN "\ncpus_soft = [ \"2-3\" ]\n");
}

/* --- reservations --- */

static void test_reservations(void **state)
{
    _cleanup_free_ char *json = with_quotes(
        "[{'token':'" TOKEN "','name':'web','uuid':'00000000-0000-0000-0000-000000000001',"
        "'memory':[{'node':0,'bytes':1073741824},{'node':2,'bytes':1073741824}],'overhead':20971520,'domid':null,"
        "'expires_ms':28001},{'token':null,'name':null,'uuid':null,'memory':[],'overhead':0,'domid':7,"
        "'expires_ms':null}]");
    _cleanup_json_ struct json_object *rows = json_tokener_parse(json);
    _cleanup_free_ char *brief = NULL, *whole = NULL;
    Text text = {0};

    render_reservations(rows, false, &in_pipe, 120, &text);
    assert_int_equal(text_take(&text, &brief, NULL), 0);
    assert_string_equal(brief, "RESERVED                          NAME  STATE      MEMORY\n" TOKEN
                               "  web   29 s left  0:1.0G 2:1.0G\n"
                               "-                                 -     domain 7   -\n");
    render_reservations(rows, true, &in_pipe, 120, &text);
    assert_int_equal(text_take(&text, &whole, NULL), 0);
    assert_string_equal(whole, "TOKEN                             NAME  STATE      MEMORY         XEN\n" TOKEN
                               "  web   29 s left  0:1.0G 2:1.0G  20M\n"
                               "-                                 -     domain 7   -                0\n");
}

/* --- arguments --- */

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        bool good;
        uint64_t bytes;
    } cases[] = {
        {"0", true, 0},
        {"1", true, 1},
        {"1K", true, 1024},
        {"3M", true, 3u << 20},
        {"2G", true, 2ull << 30},
        {"5T", true, 5ull << 40},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", true, UINT64_MAX}, /* stays there */
        {"16777216T", true, UINT64_MAX},
        {"", false, 0},
        {"K", false, 0},
        {"1k", false, 0},
        {"1.5G", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1GB", false, 0},
        {"1G1", false, 0},
        {"0x10", false, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t bytes = 0;

        if (size_from_text(cases[i].text, &bytes) != cases[i].good)
            fail_msg("'%s' is %s a size", cases[i].text, cases[i].good ? "not" : "taken for");
        if (cases[i].good)
            assert_int_equal(bytes, cases[i].bytes);
    }
}

static void test_numbers(void **state)
{
    uint64_t value = 0;

    assert_true(number_from_text("007", &value));
    assert_int_equal(value, 7);
    assert_true(number_from_text("99999999999999999999", &value));
    assert_int_equal(value, UINT64_MAX);
    assert_false(number_from_text("", &value));
    assert_false(number_from_text("1K", &value));
    assert_false(number_from_text("-1", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_many_groups), cmocka_unit_test(test_candidates_change),
        cmocka_unit_test(test_no_document), cmocka_unit_test(test_evil),
        cmocka_unit_test(test_xl),          cmocka_unit_test(test_xl_nonsense),
        cmocka_unit_test(test_xl_token),    cmocka_unit_test(test_reservations),
        cmocka_unit_test(test_sizes),       cmocka_unit_test(test_numbers),
    };

    display_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
