/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"

#include "clients/numad-xen/display.h"
#include "clients/numad-xen/doctor.h"
#include "clients/numad-xen/render.h"

/* Everything a daemon of any version may say: reservations, placements, unknowns. */
static const char status_json[] =
    "{'format':'numad-xen-status/1','generation':42,'time':'2026-01-01T00:00:00Z','host':{'backend':'xen',"
    "'simulated':false,'xen_version':'4.17.5','page_size':4096,'max_cpu_id':3,'online_cpus':4,'features':['node-pages']"
    ","
    "'memory':{'total':4294967296,'free':1073741824,'claimed':null},'warnings':[{'code':'patch-missing','text':'a "
    "text'}]},"
    "'nodes':[{'node':0,'pxm':0,'kind':'cpu+memory','cpus':'0-1','cores':2,'memory':{'span':2147483648,"
    "'present':2147483648,'free':1073741824,'low':0,'dirty':null,'claimed':null,'reserved':536870912,"
    "'available':536870912},'free_chunks':null,'distances':[10,null],'vcpus':1.5},"
    "{'node':1,'pxm':null,'kind':'cpu+memory','cpus':'2-3','cores':2,'memory':{'span':2147483648,'present':2147483648,"
    "'free':0,'low':0,'dirty':null,'claimed':null,'reserved':0,'available':0},'free_chunks':[{'order':0,'count':3}],"
    "'distances':[21,10],'vcpus':0}],"
    "'domains':[{'domid':7,'name':'g','uuid':null,'type':'pv','state':'running','vcpus':2,'pool':0,'memory':"
    "{'total':1048576,'nodes':[{'node':1,'bytes':1048576}]},'node_affinity':'1','vcpu_affinity':["
    "{'vcpu':0,'online':true,'hard':'0-3','soft':'2-3','cpu':3},{'vcpu':1,'online':false,'hard':'0-3','soft':'0-3',"
    "'cpu':null}],'locality':1.0,'placement':{'token':'t','nodes':[1],'kept':true}},"
    "{'domid':8,'name':null,'uuid':null,'type':null,'state':'paused','vcpus':1,'pool':0,'memory':{'total':null,"
    "'nodes':null},'node_affinity':null,'vcpu_affinity':null,'locality':null,'placement':null}],"
    "'devices':[],'reservations':[{'token':'abcdef','name':'next','uuid':'','memory':[{'node':0,'bytes':536870912}],"
    "'overhead':2097152,'domid':null,'expires_ms':29000}],"
    "'stats':{'since':'2026-01-01T00:00:00Z','last_collection':1767225600.5}}";

static const char topology_json[] =
    "{'format':'numad-xen-topology/"
    "1','host':{'backend':'xen','simulated':false,'xen_version':'4.17.5','page_size':4096,"
    "'max_cpu_id':3,'online_cpus':4,'features':[],'memory':{'total':1,'free':1,'claimed':null},'warnings':[]},"
    "'nodes':[{'node':0,'pxm':0,'kind':'cpu+memory','cpus':'0-1','cores':1,'distances':[10,21]},"
    "{'node':1,'pxm':1,'kind':'cpu+memory','cpus':'2-3','cores':2,'distances':[21,10]}],"
    "'cpus':[{'cpu':0,'core':0,'socket':0,'node':0,'online':true,'siblings':'0-1'},"
    "{'cpu':1,'core':0,'socket':0,'node':0,'online':true,'siblings':'0-1'},"
    "{'cpu':2,'core':null,'socket':null,'node':null,'online':false,'siblings':''},"
    "{'cpu':3,'core':1,'socket':0,'node':1,'online':true,'siblings':'3'}],"
    "'devices':[{'pci':'0000:01:00.0','node':1},{'pci':'0000:02:00.0','node':null}],"
    "'pools':[{'pool':0,'cpus':'0-3'}],'dom0':{'nodes':1,'cpus':2}}";

static char *with_quotes(const char *json)
{
    char *text = strdup(json);

    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    return text;
}

static const Screen in_pipe = {.columns = UINT32_MAX, .rows = UINT32_MAX};

static char *status_text(const char *status, const char *topology, int64_t now)
{
    _cleanup_(status_view_free_p) StatusView *view = NULL;
    _cleanup_free_ char *error = NULL;
    char *string = NULL;
    Text text = {0};

    if (status_view_new(status, topology, &view, &error) < 0)
        return NULL;
    render_status(view, &in_pipe, now, &text);
    assert_int_equal(text_take(&text, &string, NULL), 0);
    return string;
}

static void test_status(void **state)
{
    _cleanup_free_ char *status = with_quotes(status_json), *topology = with_quotes(topology_json);
    _cleanup_free_ char *text = status_text(status, topology, 1767225600 + 5);

    assert_string_equal(text, "Xen 4.17.5 (xen)  2 nodes  4 CPUs  memory 4.0G  free 1.0G (25%)\n"
                              "\n"
                              "NODE  USED  FREE  RESERVED  AVAIL  TOTAL  CPUS  LOAD  DISTANCE\n"
                              "0      50%  1.0G      512M   512M   2.0G  0-1    1.5  10  -\n"
                              "1     100%     0         0      0   2.0G  2-3    0.0  21 10\n"
                              "AVAIL is FREE less DMA memory, claims, reservations, headroom and small chunks.\n"
                              "\n"
                              "DOMID  NAME  STATE    VCPUS  ON  MEMORY  NODE0  NODE1  KEPT  LOCAL\n"
                              "7      g     running    1/2  1       1M      0     1M  yes    100%\n"
                              "8      -     paused       1  -        -      -      -            -\n"
                              "\n"
                              "RESERVED  NAME  STATE      MEMORY\n"
                              "abcdef    next  29 s left  0:512M\n"
                              "\n"
                              "warning patch-missing: a text\n");
}

static void test_stale(void **state)
{
    _cleanup_free_ char *status = with_quotes(status_json);
    _cleanup_free_ char *fresh = status_text(status, NULL, 1767225600 + 9);
    _cleanup_free_ char *stale = status_text(status, NULL, 1767225600 + 35);
    _cleanup_free_ char *from_file = status_text(status, NULL, -1);

    assert_null(strstr(fresh, "stale"));
    assert_null(strstr(from_file, "stale"));
    assert_non_null(strstr(stale, "warning stale: these numbers are 35 s old: see numad-xen doctor\n"));
}

static void test_no_document(void **state)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "null",
                                      "[]",
                                      "7",
                                      "{}",
                                      "{\"format\":\"numad-xen-status/2\"}",
                                      "{\"format\":\"numad-xen-status/1\"} trailing",
                                      "{\"format\":7}"};

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        StatusView *view = NULL;
        char *error = NULL;

        assert_int_equal(status_view_new(bad[i], NULL, &view, &error), -EBADMSG);
        assert_non_null(error);
        free(error);
    }
    /* As little as there can be. */
    free(status_text("{\"format\":\"numad-xen-status/1\"}", NULL, 0));
}

/* Renders everything there is from two documents; what comes out is a text without anything a terminal obeys. */
static void render_all(const char *status, const char *topology)
{
    _cleanup_(status_view_free_p) StatusView *view = NULL;
    _cleanup_(topology_view_free_p) TopologyView *topology_view = NULL;
    _cleanup_(check_list_done) CheckList checks = {0};
    _cleanup_free_ char *error = NULL, *error2 = NULL, *string = NULL;
    Screen terminal = {.columns = 80, .rows = 24, .terminal = true, .bars = true, .utf8 = true};
    Text text = {0};

    if (status_view_new(status, topology, &view, &error) == 0) {
        render_status(view, &in_pipe, 1767225600, &text);
        render_status(view, &terminal, 1767225600, &text);
        render_numastat(view, view->domains, view->n_domains, &in_pipe, &text);
        doctor_check_status(&checks, view, 1767225600, doctor_advice(true, false));
    }
    if (topology_view_new(topology, &topology_view, &error2) == 0)
        render_topology(topology_view, &in_pipe, &text);
    assert_int_equal(text_take(&text, &string, NULL), 0);
    for (const char *p = string; *p; p++)
        assert_false(((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7f);
}

static struct json_object *evil(unsigned kind)
{
    struct json_object *array = json_object_new_array();

    switch (kind) {
    case 0:
        json_object_put(array);
        return NULL;
    case 1:
        json_object_put(array);
        return json_object_new_int64(-1);
    case 2:
        json_object_put(array);
        return json_object_new_uint64(UINT64_MAX);
    case 3:
        json_object_put(array);
        return json_object_new_double(1e308);
    case 4:
        json_object_put(array);
        return json_object_new_string("\033[2J\n99999999999999999999999-1,,-,\xff");
    case 5:
        json_object_put(array);
        return json_object_new_object();
    case 6:
        json_object_array_add(array, json_object_new_string("x"));
        json_object_array_add(array, NULL);
        json_object_array_add(array, json_object_new_int(5000));
        json_object_array_add(array, json_object_new_array());
        return array;
    default:
        json_object_put(array);
        return json_object_new_boolean(true);
    }
}
#define N_EVIL 8

static void replace_and_render(struct json_object *root, struct json_object *at, const char *status,
                               const char *topology);

/* Puts each evil value in the place of one member or element, renders, and goes into the old one. */
static void try_member(struct json_object *root, struct json_object *object, const char *key, const char *status,
                       const char *topology)
{
    struct json_object *old = json_object_get(value_get(object, key));

    for (unsigned kind = 0; kind < N_EVIL; kind++) {
        json_object_object_add(object, key, evil(kind));
        render_all(status ? status : json_object_to_json_string(root),
                   topology ? topology : json_object_to_json_string(root));
    }
    json_object_object_add(object, key, old);
    replace_and_render(root, old, status, topology);
}

static void try_element(struct json_object *root, struct json_object *array, size_t i, const char *status,
                        const char *topology)
{
    struct json_object *old = json_object_get(value_at(array, i));

    for (unsigned kind = 0; kind < N_EVIL; kind++) {
        json_object_array_put_idx(array, i, evil(kind));
        render_all(status ? status : json_object_to_json_string(root),
                   topology ? topology : json_object_to_json_string(root));
    }
    json_object_array_put_idx(array, i, old);
    replace_and_render(root, old, status, topology);
}

/* One of status and topology is NULL: that is the document `root`, which is changed. */
static void replace_and_render(struct json_object *root, struct json_object *at, const char *status,
                               const char *topology)
{
    if (json_object_is_type(at, json_type_object)) {
        const char *keys[64];
        size_t n = 0;

        json_object_object_foreach (at, key, value) {
            (void)value;
            keys[n++] = strdup(key);
        }
        for (size_t i = 0; i < n; i++) {
            try_member(root, at, keys[i], status, topology);
            free((char *)keys[i]);
        }
    } else
        for (size_t i = 0; i < value_count(at); i++)
            try_element(root, at, i, status, topology);
}

static void test_evil_status(void **state)
{
    _cleanup_free_ char *status = with_quotes(status_json), *topology = with_quotes(topology_json);
    _cleanup_json_ struct json_object *root = json_tokener_parse(status);

    assert_non_null(root);
    replace_and_render(root, root, NULL, topology);
}

static void test_evil_topology(void **state)
{
    _cleanup_free_ char *status = with_quotes(status_json), *topology = with_quotes(topology_json);
    _cleanup_json_ struct json_object *root = json_tokener_parse(topology);

    assert_non_null(root);
    replace_and_render(root, root, status, NULL);
}

static void test_sets(void **state)
{
    static const struct {
        const char *set, *shown;
        unsigned columns;
        bool folded;
    } cases[] = {
        {"0-3,8", "0-3,8", 16, false},       {"0,4,8,12", "0,4,8,12", 16, false}, /* it fits */
        {"0,4,8,12", "0-12:4", 4, true},     {"0,4,8", "0,4,8", 4, false},        /* three are no steps */
        {"0,2,4,6,8-9", "0-8:2,9", 4, true}, {"0-1,4,6,8,10,20", "0-1,4-10:2,20", 4, true},
        {"1,3,6,9,12", "1,3-12:3", 4, true}, {"8185,8187,8189,8191", "8185-8191:2", 4, true},
        {"8191", "8191", 1, false},          {"", "", 0, false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_bitmap_ Bitmap set = {0};
        _cleanup_free_ char *text = NULL;
        bool folded = false;

        assert_int_equal(bitmap_parse(&set, cases[i].set, CPUS_MAX - 1), 0);
        text = render_set(&set, cases[i].columns, &folded);
        assert_string_equal(text, cases[i].shown);
        assert_int_equal(folded, cases[i].folded);
    }
}

/* A topology of n nodes, the distance between two by their ids. */
static char *topology_of(unsigned n, unsigned (*distance)(unsigned from, unsigned to))
{
    Text text = {0};
    char *string = NULL;

    text_add(&text, "{\"format\":\"numad-xen-topology/1\",\"nodes\":[");
    for (unsigned from = 0; from < n; from++) {
        text_printf(&text, "%s{\"node\":%u,\"cpus\":\"\",\"distances\":[", from ? "," : "", from);
        for (unsigned to = 0; to < n; to++)
            text_printf(&text, "%s%u", to ? "," : "", from == to ? 10 : distance(from, to));
        text_add(&text, "]}");
    }
    text_add(&text, "]}");
    assert_int_equal(text_take(&text, &string, NULL), 0);
    return string;
}

static unsigned pairs(unsigned from, unsigned to)
{
    return from / 2 == to / 2 ? 12 : 20;
}

/* Node 16 is far from 0 one way only; that sets 0 apart from 1. */
static unsigned one_way(unsigned from, unsigned to)
{
    return from == 16 && to == 0 ? 30 : pairs(from, to);
}

static unsigned flat(unsigned from, unsigned to)
{
    (void)from;
    (void)to;
    return 20;
}

static void test_classes(void **state)
{
    static const struct {
        unsigned (*distance)(unsigned from, unsigned to);
        const char *lines[3]; /* that are there */
        const char *none;     /* that is not */
    } cases[] = {
        {pairs, {"\n0-1        12  20:2-17\n", "\n16-17      12  20:0-15\n"}, "30:"},
        {one_way, {"\n0          10  12:1 20:2-17\n", "\n16         10  12:17 20:1-15 30:0\n", "\n17  "}, "0-1 "},
        {flat, {"\n0-17       20\n", "All nodes are equally far"}, "20:"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(topology_view_free_p) TopologyView *view = NULL;
        _cleanup_free_ char *json = topology_of(18, cases[i].distance), *error = NULL, *string = NULL;
        Text text = {0};

        assert_int_equal(topology_view_new(json, &view, &error), 0);
        render_distance_matrix(&view->nodes, &in_pipe, 120, &text);
        assert_int_equal(text_take(&text, &string, NULL), 0);
        for (size_t k = 0; k < ARRAY_SIZE(cases[i].lines) && cases[i].lines[k]; k++)
            if (!strstr(string, cases[i].lines[k]))
                fail_msg("no '%s' in: %s", cases[i].lines[k], string);
        assert_null(strstr(string, cases[i].none));
    }
}

/* What asks for nothing comes last, and brief where there is more elsewhere. */
static void test_notes(void **state)
{
    static const char json[] =
        "{'format':'numad-xen-status/1','host':{'warnings':[{'code':'dom0-view-differs','text':'dom0 sees less: long'},"
        "{'code':'slit-flat','text':'flat: 10'},{'code':'cpu-node-conflict','text':'CPUs "
        "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47 are'}]}}";
    _cleanup_free_ char *status = with_quotes(json), *text = status_text(status, NULL, -1);

    assert_non_null(strstr(text, "\n\nwarning slit-flat: flat: 10\nwarning cpu-node-conflict: CPUs\n"));
    assert_non_null(strstr(text, "37,39..+4 are\nnote dom0-view-differs: dom0 sees less\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),      cmocka_unit_test(test_stale),         cmocka_unit_test(test_no_document),
        cmocka_unit_test(test_evil_status), cmocka_unit_test(test_evil_topology), cmocka_unit_test(test_sets),
        cmocka_unit_test(test_classes),     cmocka_unit_test(test_notes),
    };

    display_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
