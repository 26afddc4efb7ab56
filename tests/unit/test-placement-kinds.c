/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/placing.h"

/* Hosts whose nodes are not all alike: without memory or CPUs, holes, pools, distances of any kind, many nodes. */

#define PV .type = DOMAIN_TYPE_PV
#define HOST "{'format':'numad-xen-host/1','nodes':["

/* Node 2 is CXL memory, near to node 1. */
static void test_memory_only(void **state)
{
    static const char json[] = HOST "{'size':4294967296,'free':1073741824,'cpus':'0-1','distances':[10,20,30]},"
                                    "{'size':4294967296,'free':1073741824,'cpus':'2-3','distances':[20,10,14]},"
                                    "{'size':8589934592,'free':8589934592,'distances':[30,14,10]}]}";
    static const Case cases[] = {
        {{1, 512 * MIB, PV}, "0=512M, 1x 0-3/0-1"},
        {{1, 1536 * MIB, PV}, "0=768M 1=768M, 1x 0-3/0-3"},
        {{1, 4 * GIB, PV}, "nofit"}, /* there is room, but nobody asked for that kind */
        {{1, 4 * GIB, PV, .nodes = "2"}, "2=4096M, 1x 0-3/2-3"},
        {{2, 4 * GIB, PV, .nodes = "2", .strict = true}, "2=4096M, 2x 2-3/2-3"},
        {{2, 4 * GIB, PV, .nodes = "2", .cpus = "0-1"}, "2=4096M, 2x 0-1/0-1"},
        {{2, 4 * GIB, PV, .nodes = "2", .cpus = "0-1", .strict = true}, "2=4096M, 2x 0-1/0-1"},
        {{2, 8704 * MIB, PV, .nodes = "2"}, "1=1024M 2=7680M, 2x 0-3/2-3"},
        {{4, 8704 * MIB, PV, .nodes = "2"}, "0=1024M 2=7680M, 4x 0-3/0-3"},
    };

    check_cases(json, cases, ARRAY_SIZE(cases));
}

/* Nodes 0 and 2 have CPUs alone; node 1 is nearest to both, and has CPUs of its own. */
static void test_cpu_only(void **state)
{
    static const char json[] = HOST "{'size':0,'free':0,'cpus':'0-1','distances':[10,12,22]},"
                                    "{'size':4294967296,'free':4294967296,'cpus':'2-3','distances':[12,10,12]},"
                                    "{'size':0,'free':0,'cpus':'4-5','distances':[22,12,10]}]}";
    static const Case cases[] = {
        {{2, 1 * GIB, PV}, "1=1024M, 2x 0-5/2-3"},                /* its own first */
        {{3, 1 * GIB, PV}, "1=1024M, 3x 0-5/0-5"},                /* then those that have no memory */
        {{2, 1 * GIB, PV, .cpus = "4-5"}, "1=1024M, 2x 4-5/4-5"}, /* none of its own allowed */
        {{6, 1 * GIB, PV, .strict = true}, "1=1024M, 6x 0-5/0-5"},
        {{1, 1 * GIB, PV, .nodes = "0"}, "invalid: nodes: node 0 has no memory"},
    };

    check_cases(json, cases, ARRAY_SIZE(cases));
}

/* No node has both: the nearest memory first, then whatever there is. */
static void test_none_has_both(void **state)
{
    static const char json[] = HOST "{'size':0,'free':0,'cpus':'0-3','distances':[10,14,30]},"
                                    "{'size':2147483648,'free':2147483648,'distances':[14,10,30]},"
                                    "{'size':4294967296,'free':4294967296,'distances':[30,30,10]}]}";
    static const Case cases[] = {
        {{1, 1 * GIB, PV}, "1=1024M, 1x 0-3/0-3"},
        {{1, 3 * GIB, PV}, "2=3072M, 1x 0-3/0-3"},
        {{1, 5 * GIB, PV}, "1=2048M 2=3072M, 1x 0-3/0-3"},
    };

    check_cases(json, cases, ARRAY_SIZE(cases));
}

static void test_lacking(void **state)
{
    static const Case nofit[] = {{{1, 1 * MIB, PV}, "nofit"}, {{1, 1 * MIB, PV, .strict = true}, "nofit"}};
    static const Case pools[] = {
        {{1, 1 * MIB, PV}, "0=1M, 1x 0-1/0-1"},
        {{1, 1 * MIB, PV, .pool = 2}, "1=1M, 1x 2-3/2-3"},
        {{1, 1 * MIB, PV, .pool = 3}, "nofit"},
        {{1, 1 * MIB, PV, .cpus = "2"}, "invalid: cpus: none of them is online in pool 0"},
        /* its memory may be away from its CPUs, not the CPUs from the pool */
        {{1, 1 * MIB, PV, .nodes = "1"}, "0=512K 1=512K, 1x 0-1/0-1"},
        {{1, 1 * MIB, PV, .nodes = "1", .strict = true}, "nofit"},
        {{3, 1 * MIB, PV}, "0=1M, 3x 0-1/0-1"},
    };

    check_cases(HOST "{'size':1073741824,'free':1073741824}]}", nofit, ARRAY_SIZE(nofit)); /* no CPU */
    check_cases(HOST "{'size':0,'free':0,'cpus':'0-3'}]}", nofit, ARRAY_SIZE(nofit));      /* no memory */
    check_cases(HOST "{'size':1073741824,'free':1073741824,'cpus':'0-1'},"
                     "{'size':1073741824,'free':1073741824,'cpus':'2-3'}],"
                     "'pools':[{'pool':0,'cpus':'0-1'},{'pool':1,'cpus':'2-3'},{'pool':2,'cpus':''}]}",
                pools, ARRAY_SIZE(pools));
}

/* Node 1 is a hole; nodes 0 and 2 do not reach each other. */
static void test_holes_and_unreachable(void **state)
{
    static const char json[] = HOST "{'size':4294967296,'free':1073741824,'cpus':'0-1','distances':[10,-1,-1,20]},"
                                    "{'size':4294967295,'free':0,'distances':[10,10,10,10]},"
                                    "{'size':4294967296,'free':1073741824,'cpus':'2-3','distances':[15,-1,10,40]},"
                                    "{'size':4294967296,'free':1073741824,'cpus':'4-5','distances':[20,-1,40,10]}]}";
    static const Case cases[] = {
        {{1, 1536 * MIB, PV}, "0=768M 3=768M, 1x 0-5/0-1,4-5"},
        {{1, 2560 * MIB, PV}, "nofit"}, /* all three have it, but not together */
        {{1, 1536 * MIB, PV, .nodes = "2"}, "2=768M 3=768M, 1x 0-5/2-5"},
        {{1, 512 * MIB, PV, .nodes = "1"}, "invalid: nodes: there is no node 1"},
        {{1, 2560 * MIB, PV, .policy = POLICY_ANY}, "0=854M 2=854M 3=852M, 1x 0-5/0-5"},
    };

    check_cases(json, cases, ARRAY_SIZE(cases));
}

/* Three sub-NUMA clusters on each of two sockets; there and back are not equally far. */
static void test_asymmetric(void **state)
{
#define CLUSTER(cpus, row) "{'size':1073741824,'free':1073741824,'cpus':'" cpus "','distances':" row "}"
    static const char json[] =
        HOST CLUSTER("0", "[10,15,17,21,28,26]") "," CLUSTER("1", "[15,10,15,23,26,23]") "," CLUSTER(
            "2",
            "[17,15,10,26,23,"
            "21]") "," CLUSTER("3",
                               "[21,28,26,10,15,17]") "," CLUSTER("4",
                                                                  "[23,26,23,15,10,15]") "," CLUSTER("5",
                                                                                                     "[26,23,21,17,15,"
                                                                                                     "10]") "]}";
    static const Case cases[] = {
        {{1, 1536 * MIB, PV}, "0=768M 1=768M, 1x 0-5/0-1"},
        {{3, 512 * MIB, PV}, "0=172M 1=170M 2=170M, 3x 0-5/0-2"},
        {{1, 1536 * MIB, PV, .nodes = "5"}, "4=768M 5=768M, 1x 0-5/4-5"},
        {{4, 512 * MIB, PV}, "0=128M 1=128M 2=128M 5=128M, 4x 0-5/0-2,5"}, /* worst 26, there and back */
    };

    check_cases(json, cases, ARRAY_SIZE(cases));
}

/* Nothing is known of distances, or nothing that can be: any two are equally far. */
static void test_no_slit(void **state)
{
    static const char flat[] = HOST "{'size':1073741824,'free':1073741824,'cpus':'0','distances':[10,10]},"
                                    "{'size':1073741824,'free':1073741824,'cpus':'1','distances':[10,10]}]}";
    static const char none[] = HOST "{'size':1073741824,'free':1073741824,'cpus':'0','distances':[10,-1]},"
                                    "{'size':1073741824,'free':1073741824,'cpus':'1','distances':[-1,10]}]}";
    static const Case cases[] = {{{1, 1536 * MIB, PV}, "0=768M 1=768M, 1x 0-1/0-1"}};

    check_cases(flat, cases, ARRAY_SIZE(cases));
    check_cases(none, cases, ARRAY_SIZE(cases));
}

/* n nodes of 1 GiB and two CPUs on a line. */
static Snapshot *line_of(unsigned n)
{
    _cleanup_text_ Text text = {0};

    text_add(&text, "{\"format\":\"numad-xen-host/1\",\"nodes\":[");
    for (unsigned i = 0; i < n; i++) {
        text_printf(&text, "%s{\"size\":1073741824,\"free\":1073741824,\"cpus\":\"%u-%u\",\"distances\":[",
                    i ? "," : "", 2 * i, 2 * i + 1);
        for (unsigned k = 0; k < n; k++)
            text_printf(&text, "%s%u", k ? "," : "", i == k ? 10 : 11 + (i > k ? i - k : k - i));
        text_add(&text, "]}");
    }
    text_add(&text, "]}");
    assert_false(text.failed);
    return host(text.data);
}

/* More nodes than can all be looked at: the answer still has as many as it needs, beside each other. */
static void test_many_nodes(void **state)
{
    static const unsigned sizes[] = {12, 13, 16, 17, 34, 64, 256, 1024};

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        _cleanup_(snapshot_unref_p) Snapshot *s = line_of(sizes[i]);
        const Ask asks[] = {{.vcpus = 5, .memory = 2560 * MIB, PV},
                            {.vcpus = 11, .memory = 1 * GIB, PV},
                            {.vcpus = 2, .memory = 2560 * MIB, PV, .nodes = "7"}};
        const char *answers[] = {"0=854M 1=854M 2=852M, 5x ", "0=172M 1=172M 2=170M 3=170M 4=170M 5=170M, 11x ",
                                 "5=854M 6=854M 7=852M, 2x "};

        for (size_t k = 0; k < ARRAY_SIZE(asks); k++) {
            _cleanup_free_ char *answer = answer_on(s, &asks[k]);

            if (strncmp(answer, answers[k], strlen(answers[k])) != 0)
                fail_msg("%u nodes: \"%s\", wanted \"%s\"", sizes[i], answer, answers[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_only),
        cmocka_unit_test(test_cpu_only),
        cmocka_unit_test(test_none_has_both),
        cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_holes_and_unreachable),
        cmocka_unit_test(test_asymmetric),
        cmocka_unit_test(test_no_slit),
        cmocka_unit_test(test_many_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
