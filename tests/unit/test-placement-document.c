/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/placement-document.h"
#include "tests/unit/placing.h"

/* What is told of an answer: the document, its reason and candidates, and of a refusal its text. */

#define PV .type = DOMAIN_TYPE_PV
#define TWO                                                                   \
    "{'format':'numad-xen-host/1','nodes':["                                  \
    "{'size':4294967296,'free':1073741824,'cpus':'0-1','distances':[10,20]}," \
    "{'size':4294967296,'free':2147483648,'cpus':'2-3','distances':[20,10]}]}"

typedef struct Told {
    int result;
    Placement *placement;
    char *why;
} Told;

static void told_done(Told *told)
{
    placement_free(told->placement);
    free(told->why);
}
#define _cleanup_told_ _cleanup_(told_done)

static Told tell(const char *json, const Ask *ask, bool explain)
{
    const PlacementOptions options = {.policy = POLICY_BALANCE, .explain = explain};
    _cleanup_(snapshot_unref_p) Snapshot *s = quoted_host(json);
    _cleanup_(placement_request_done) PlacementRequest request;
    Told told;

    request_of(ask, &request);
    told.result = placement_evaluate(s, &request, &options, &told.placement, &told.why);
    return told;
}

static void test_document(void **state)
{
    const PlacementDocument more = {.token = "00112233445566778899aabbccddeeff", .expires_ms = 60000};
    _cleanup_told_ Told told = tell(TWO, &(const Ask){2, 1536 * MIB, PV}, false);
    _cleanup_free_ char *text = NULL;

    assert_int_equal(told.result, 0);
    assert_int_equal(placement_document(told.placement, &more, &text), 0);
    assert_string_equal(
        text, "{\"format\":\"numad-xen-placement/1\",\"token\":\"00112233445566778899aabbccddeeff\","
              "\"nodes\":[1],\"memory\":[{\"node\":1,\"bytes\":1610612736}],\"overhead\":2097152,\"vcpus\":["
              "{\"vcpu\":0,\"hard\":\"0-3\",\"soft\":\"2-3\"},{\"vcpu\":1,\"hard\":\"0-3\",\"soft\":\"2-3\"}],"
              "\"extent_order\":null,\"expected_locality\":1.0,\"reason\":\"node 1 has room for 1.5G and 2 "
              "vCPUs, then 510M left and 1.00 vCPUs per core\",\"expires_ms\":60000}");
}

/* Best first; those that are refused after those that fit. */
static void test_candidates(void **state)
{
    const PlacementDocument more = {.expires_ms = VALUE_UNKNOWN};
    _cleanup_told_ Told told = tell(TWO, &(const Ask){2, 1536 * MIB, PV}, true);
    _cleanup_free_ char *text = NULL;

    assert_int_equal(told.result, 0);
    assert_int_equal(placement_document(told.placement, &more, &text), 0);
    assert_non_null(strstr(text, "\"token\":null,"));
    assert_string_equal(strstr(text, "\"expires_ms\""),
                        "\"expires_ms\":null,\"candidates\":["
                        "{\"nodes\":[1],\"fits\":true,\"refused_by\":null,\"short_bytes\":0,\"worst_distance\":10,"
                        "\"mean_distance\":10.0,\"vcpus_per_core\":1.0,\"left\":534773760,\"rank\":1},"
                        "{\"nodes\":[0],\"fits\":false,\"refused_by\":\"memory\",\"short_bytes\":538968064,"
                        "\"worst_distance\":10,\"mean_distance\":10.0,\"vcpus_per_core\":1.0,\"left\":0,\"rank\":2}]}");
}

static void test_refused_by(void **state)
{
    static const char json[] = "{'format':'numad-xen-host/1','nodes':["
                               "{'size':1073741824,'free':1073741824,'cpus':'0-3','distances':[10,20,20,20,-1]},"
                               "{'size':1073741824,'free':1048576,'cpus':'4-7','distances':[20,10,20,20,20]},"
                               "{'size':1073741824,'free':1073741824,'cpus':'8','distances':[20,20,10,20,20]},"
                               "{'size':1073741824,'free':1073741824,'distances':[20,20,20,10,20]},"
                               "{'size':1073741824,'free':1073741824,'cpus':'9-12','distances':[-1,20,20,20,10]}],"
                               "'pools':[{'pool':0,'cpus':'0-8'},{'pool':1,'cpus':'9-12'}]}";
    static const RefusedBy wanted[] = {REFUSED_NOT, REFUSED_MEMORY, REFUSED_CORES, REFUSED_KIND, REFUSED_POOL};
    _cleanup_told_ Told told = tell(json, &(const Ask){4, 512 * MIB, PV}, true);

    assert_int_equal(told.result, 0);
    assert_int_equal(told.placement->n_candidates, ARRAY_SIZE(wanted));
    for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
        const Candidate *candidate = &told.placement->candidates[i];

        assert_int_equal(candidate->rank, i + 1);
        assert_true(bitmap_isset(&candidate->nodes, i));
        assert_int_equal(candidate->refused_by, wanted[i]);
        assert_int_equal(candidate->short_bytes, i == 1 ? 515 * MIB : 0);
    }
}

static void test_refusal(void **state)
{
    static const struct {
        Ask ask;
        const char *why;
    } cases[] = {
        {{1, 4 * GIB, PV}, "node 0 has 1.0G available, 3.0G short; node 1 has 2.0G available, 2.0G short"},
        {{8, 512 * MIB, PV, .strict = true}, "node 0 has 2 cores for 8 vCPUs; node 1 has 2 cores for 8 vCPUs"},
        {{1, 1536 * MIB, PV, .strict = true, .nodes = "0"},
         "node 0 has 1.0G available, 513M short; node 1 is not among those asked for"},
        {{1, 1536 * MIB, PV, .strict = true, .cpus = "0"},
         "node 0 has 1.0G available, 513M short; node 1 has no CPU that it may use"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_told_ Told told = tell(TWO, &cases[i].ask, true), plain = tell(TWO, &cases[i].ask, false);

        assert_int_equal(told.result, PLACEMENT_E_NOFIT);
        assert_string_equal(told.why, cases[i].why);
        assert_int_equal(told.placement->n_memory, 0);
        assert_int_equal(plain.result, PLACEMENT_E_NOFIT);
        assert_null(plain.placement);
    }
}

/* At most 16 nodes are told of. */
static void test_refusal_of_many(void **state)
{
    _cleanup_text_ Text text = {0};
    _cleanup_told_ Told told;

    text_add(&text, "{'format':'numad-xen-host/1','nodes':[{'size':1048576,'free':1048576,'cpus':'0'}");
    for (unsigned i = 1; i < 20; i++)
        text_printf(&text, ",{'size':1048576,'free':1048576,'cpus':'%u'}", i);
    text_add(&text, "]}");
    assert_false(text.failed);
    told = tell(text.data, &(const Ask){1, 1 * GIB, PV}, true);
    assert_int_equal(told.result, PLACEMENT_E_NOFIT);
    assert_non_null(strstr(told.why, "; node 15 has 1M available, 1.0G short; and 4 more"));
    assert_null(strstr(told.why, "node 16"));
}

/* Claims that bind host-wide leave less than the nodes have; the nodes are told of too. */
static void test_spare(void **state)
{
    const PlacementOptions options = {.policy = POLICY_BALANCE};
    _cleanup_(snapshot_unref_p) Snapshot *s = quoted_host(TWO);
    _cleanup_(placement_free_p) Placement *placement = NULL;
    _cleanup_free_ char *why = NULL, *fits = NULL;
    PlacementRequest request = {.vcpus = 1, .memory = 512 * MIB, .type = DOMAIN_TYPE_PV, .pool = ROW_NO_POOL};

    s->spare = 513 * MIB;
    fits = answer_on(s, &(const Ask){1, 512 * MIB, PV});
    assert_string_equal(fits, "1=512M, 1x 0-3/2-3");
    s->spare--;
    assert_int_equal(placement_evaluate(s, &request, &options, &placement, &why), PLACEMENT_E_NOFIT);
    assert_string_equal(why, "it needs 513M, and the host has 513M that is not claimed or promised; "
                             "node 0 has 1.0G available; node 1 has 2.0G available");
    free(why);
    placement_free(placement);
    request.has_nodes = true;
    assert_int_equal(bitmap_set(&request.nodes, 1), 0);
    assert_int_equal(placement_evaluate(s, &request, &options, &placement, &why), PLACEMENT_E_NOFIT);
    assert_string_equal(why, "it needs 513M, and the host has 513M that is not claimed or promised; "
                             "node 1 has 2.0G available");
    bitmap_done(&request.nodes);
}

static void test_reasons(void **state)
{
    static const struct {
        Ask ask;
        const char *part;
    } cases[] = {
        {{1, 2560 * MIB, PV}, "no fewer nodes have it, and of 2 these are the nearest, at a distance of 20"},
        {{1, 1536 * MIB, PV, .nodes = "0"}, "the nodes asked for do not suffice, so others are added"},
        {{5, 512 * MIB, PV}, "it has more vCPUs than there are CPUs that it may use, so it may run on all 4"},
        {{1, 512 * MIB, PV, .policy = POLICY_INTERLEAVE}, "its memory is spread evenly"},
        {{1, 2560 * MIB, PV, .policy = POLICY_INTERLEAVE}, "its memory cannot be spread evenly"},
        {{1, 512 * MIB, PV, .policy = POLICY_ANY}, "no nodes are preferred"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_told_ Told told = tell(TWO, &cases[i].ask, false);

        assert_int_equal(told.result, 0);
        if (!strstr(told.placement->reason, cases[i].part))
            fail_msg("\"%s\", wanted \"%s\"", told.placement->reason, cases[i].part);
    }
}

/* Hosts that have what is asked for, but not as it would be best, and what a person is told of it. */
#define EVEN(features, free, rest)                                                                          \
    "{'format':'numad-xen-host/1','features':[" features "],'nodes':[{'size':8589934592,'free':8589934592," \
    "'cpus':'0-1'},{'size':8589934592,'free':" free ",'cpus':'2-3'},{'size':8589934592,'free':" free        \
    ",'cpus':'4-5'}]" rest "}"
#define DIRTY "'node_extra':[{},{'dirty':671088640},{}]"
#define DEVICE "'devices':[{'pci':'0000:af:00.0','node':2}]"

static void test_told(void **state)
{
    static const struct {
        const char *json;
        Ask ask;
        const char *part;
    } cases[] = {
        {EVEN("", "8589934592", ""),
         {1, 2 * GIB, .type = DOMAIN_TYPE_HVM, .policy = POLICY_INTERLEAVE},
         "its memory is spread as evenly as extents of 1 GiB can be"},
        {EVEN("", "734003200", "," DEVICE),
         {1, 1 * GIB, PV, .near = "0000:af:00.0"},
         "device 0000:af:00.0 is on node 2, which has no room"},
        {EVEN("", "734003200", "," DEVICE),
         {1, 512 * MIB, PV, .nodes = "0", .near = "0000:af:00.0"},
         "device 0000:af:00.0 is on node 2, which is not among those asked for"},
        {EVEN("", "8589934592", ""),
         {1, 512 * MIB, PV, .nodes = "0", .cpus = "2-3"},
         "its vCPUs go to the CPUs asked for, and these are not all near its memory"},
        {EVEN("", "734003200", ""),
         {4, 1280 * MIB, .type = DOMAIN_TYPE_PVH, .nodes = "1-2", .strict = true},
         "together they have enough, but not in extents of 1 GiB, which Xen would take elsewhere"},
        {EVEN("'node-memory'", "734003200", "," DIRTY),
         {1, 512 * MIB, PV, .nodes = "1", .strict = true},
         "node 1 has 700M available, of which 640M is still being scrubbed: ask again soon"},
        {EVEN("'node-memory'", "734003200", "," DIRTY),
         {2, 1 * GIB, PV, .nodes = "1-2", .strict = true},
         "together they have enough, but not all of it is scrubbed: ask again soon"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_told_ Told told = tell(cases[i].json, &cases[i].ask, false);
        const char *text = told.result == 0 ? told.placement->reason : told.why;

        if (!strstr(text, cases[i].part))
            fail_msg("\"%s\", wanted \"%s\"", text, cases[i].part);
    }
}

/* Sets that were grown may not be the best there are: that is not said of them. */
static void test_told_of_many(void **state)
{
    const Ask ask = {1, 4500 * MIB, PV};
    _cleanup_text_ Text text = {0};
    _cleanup_told_ Told told;

    text_add(&text, "{'format':'numad-xen-host/1','nodes':[");
    for (unsigned i = 0; i < 64; i++)
        text_printf(&text, "%s{'size':1073741824,'free':1073741824,'cpus':'%u'}", i ? "," : "", i);
    text_add(&text, "]}");
    assert_false(text.failed);
    told = tell(text.data, &ask, false);
    assert_int_equal(told.result, 0);
    assert_int_equal(told.placement->n_memory, 5);
    assert_null(strstr(told.placement->reason, "no fewer"));
    assert_non_null(
        strstr(told.placement->reason, "; found by growing sets of near nodes, which are at a distance of 20"));
}

/* Nobody knows where the CPUs are. */
static void test_told_of_cpus(void **state)
{
    static const char json[] = "{'format':'numad-xen-host/1','topology':["
                               "{'cpu':0,'core':0,'socket':0,'node':4294967295},"
                               "{'cpu':1,'core':1,'socket':0,'node':4294967295}],"
                               "'nodes':[{'size':8589934592,'free':4294967296}]}";
    _cleanup_told_ Told told = tell(json, &(const Ask){1, 1 * GIB, PV}, false);

    assert_int_equal(told.result, 0);
    assert_non_null(strstr(told.placement->reason, "it is not known on which nodes the CPUs are that it may use"));
}

static void test_extent_order(void **state)
{
#define CHUNKED(orders)                                                                                      \
    "{'format':'numad-xen-host/1','features':['free-chunks'],'nodes':[{'size':8589934592,'free':4294967296," \
    "'cpus':'0'}],'node_extra':[{'free_chunks':[" orders "]}]}"
    static const struct {
        const char *json;
        uint64_t memory;
        uint32_t order;
    } cases[] = {
        {CHUNKED("0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4"), 2 * GIB, 18},
        {CHUNKED("0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4"), 512 * MIB, 9},
        {CHUNKED("0,0,0,0,0,0,0,0,0,2048"), 2 * GIB, 9},
        {CHUNKED("1048576"), 2 * GIB, 0},
        {TWO, 512 * MIB, UINT32_MAX},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_told_ Told told = tell(cases[i].json, &(const Ask){1, cases[i].memory, PV}, false);

        assert_int_equal(told.result, 0);
        assert_int_equal(told.placement->extent_order, cases[i].order);
    }
}

/* In steps, the same as at once. */
static void test_steps(void **state)
{
    const PlacementOptions options = {.policy = POLICY_BALANCE, .explain = true};
    const PlacementRequest request = {.vcpus = 1, .memory = 600 * MIB, .type = DOMAIN_TYPE_PV, .pool = ROW_NO_POOL};
    _cleanup_(placement_free_p) Placement *stepped = NULL, *whole = NULL;
    _cleanup_(placement_search_free_p) PlacementSearch *search = NULL;
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;
    _cleanup_free_ char *why = NULL, *text = NULL, *other = NULL;
    _cleanup_text_ Text host_text = {0};
    unsigned steps = 1;
    int r;

    text_add(&host_text, "{'format':'numad-xen-host/1','nodes':[{'size':1048576,'free':1048576,'cpus':'0'}");
    for (unsigned i = 1; i < 1024; i++)
        text_printf(&host_text, ",{'size':2097152,'free':%u,'cpus':'%u'}", 1048576 + 4096 * (i % 100), i);
    text_add(&host_text, "]}");
    assert_false(host_text.failed);
    s = quoted_host(host_text.data);
    assert_int_equal(placement_search_new(s, &request, &options, &search), 0);
    while ((r = placement_search_step(search, &stepped, &why)) == -EAGAIN)
        steps++;
    assert_int_equal(r, 0);
    assert_true(steps > 1);
    assert_int_equal(placement_evaluate(s, &request, &options, &whole, &why), 0);
    assert_int_equal(placement_document(stepped, &(const PlacementDocument){0}, &text), 0);
    assert_int_equal(placement_document(whole, &(const PlacementDocument){0}, &other), 0);
    assert_string_equal(text, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document), cmocka_unit_test(test_candidates),      cmocka_unit_test(test_refused_by),
        cmocka_unit_test(test_refusal),  cmocka_unit_test(test_refusal_of_many), cmocka_unit_test(test_spare),
        cmocka_unit_test(test_told),     cmocka_unit_test(test_told_of_many),    cmocka_unit_test(test_told_of_cpus),
        cmocka_unit_test(test_reasons),  cmocka_unit_test(test_extent_order),    cmocka_unit_test(test_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
