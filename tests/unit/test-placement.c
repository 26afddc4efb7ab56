/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/placing.h"

/* Which nodes, and which CPUs of them: policies, cores and threads, nodes asked for, strict. */

/* Two sockets of two nodes; two cores of two threads and 4 GiB each, of which 1, 2, 3 and 4 GiB are free. */
#define FOUR(rest)                                                                           \
    "{'format':'numad-xen-host/1','threads_per_core':2,'features':['node-memory'],'nodes':[" \
    "{'size':4294967296,'free':1073741824,'cpus':'0-3','distances':[10,16,22,22]},"          \
    "{'size':4294967296,'free':2147483648,'cpus':'4-7','distances':[16,10,22,22]},"          \
    "{'size':4294967296,'free':3221225472,'cpus':'8-11','distances':[22,22,10,16]},"         \
    "{'size':4294967296,'free':4294967296,'cpus':'12-15','distances':[22,22,16,10]}]" rest "}"
#define PV .type = DOMAIN_TYPE_PV

static void test_policies(void **state)
{
    static const Case cases[] = {
        /* no load anywhere: where the most is left */
        {{1, 512 * MIB, PV}, "3=512M, 1x 0-15/12-15"},
        /* best fit */
        {{1, 512 * MIB, PV, .policy = POLICY_PACK}, "0=512M, 1x 0-15/0-3"},
        {{1, 1536 * MIB, PV, .policy = POLICY_PACK}, "1=1536M, 1x 0-15/4-7"},
        /* equal shares of all that have them */
        {{4, 2 * GIB, PV, .policy = POLICY_INTERLEAVE}, "0=512M 1=512M 2=512M 3=512M, 4x 0-15/0-15"},
        {{4, 5 * GIB, PV, .policy = POLICY_INTERLEAVE}, "1=1708M 2=1706M 3=1706M, 4x 0-15/4-15"},
        /* 3 GiB less what Xen needs is less than half of this: not even any more, but there */
        {{4, 8 * GIB, PV, .policy = POLICY_INTERLEAVE}, "0=1024M 1=2048M 2=2560M 3=2560M, 4x 0-15/0-15"},
        {{4, 2 * GIB, PV, .policy = POLICY_ANY}, "0=512M 1=512M 2=512M 3=512M, 4x 0-15/0-15"},
        /* in turn, from the first, as Xen does */
        {{1, 6 * MIB, PV, .policy = POLICY_ANY}, "0=2M 1=2M 2=2M, 1x 0-15/0-15"},
        /* the nearest two; of both pairs the one with more left */
        {{2, 5 * GIB, PV}, "2=2560M 3=2560M, 2x 0-15/8-15"},
        /* a pair fits, but not the near ones, so three */
        {{2, 3 * GIB + 512 * MIB, PV}, "3=3584M, 2x 0-15/12-15"},
        {{2, 11 * GIB, PV}, "nofit"},
    };

    check_cases(FOUR(""), cases, ARRAY_SIZE(cases));
}

static void test_cores_before_threads(void **state)
{
    static const Case cases[] = {
        {{2, 512 * MIB, PV}, "3=512M, 2x 0-15/12-15"},
        /* more than a node's two cores: the next larger set, as four threads would be half as fast */
        {{3, 512 * MIB, PV}, "2=256M 3=256M, 3x 0-15/8-15"},
        {{4, 512 * MIB, PV, .strict = true}, "3=512M, 4x 12-15/12-15"}, /* one node: threads count */
        {{5, 512 * MIB, PV, .strict = true}, "nofit"},
        /* threads as asked for: siblings of a core, core by core */
        {{4, 512 * MIB, PV, .threads = 2}, "3=512M, 2x 0-15/12-13, 2x 0-15/14-15"},
        {{3, 512 * MIB, PV, .threads = 2}, "3=512M, 2x 0-15/12-13, 1x 0-15/14-15"},
        /* a host's core takes as many threads as it has */
        {{4, 512 * MIB, PV, .threads = 4}, "3=512M, 2x 0-15/12-13, 2x 0-15/14-15"},
        {{3, 512 * MIB, PV, .threads = 3}, "3=512M, 2x 0-15/12-13, 1x 0-15/14-15"},
        {{2, 512 * MIB, PV, .threads = 2, .cpus = "0,2"}, "0=512M, 1x 0,2/0, 1x 0,2/2"},
        /* more cores than there are: threads count */
        {{9, 512 * MIB, PV}, "1=172M 2=170M 3=170M, 9x 0-15/4-15"},
        /* more than the host has CPUs: not refused, and not pinned */
        {{17, 512 * MIB, PV}, "0=128M 1=128M 2=128M 3=128M, 17x 0-15/0-15"},
        {{17, 512 * MIB, PV, .strict = true}, "nofit"},
    };

    check_cases(FOUR(""), cases, ARRAY_SIZE(cases));
}

static void test_nodes(void **state)
{
    static const Case cases[] = {
        {{1, 512 * MIB, PV, .nodes = "0"}, "0=512M, 1x 0-15/0-3"},
        {{1, 512 * MIB, PV, .nodes = "0-1"}, "1=512M, 1x 0-15/4-7"}, /* the fewest of them */
        {{1, 512 * MIB, PV, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=256M 1=256M, 1x 0-15/0-7"},
        /* a preference: the nearest is added */
        {{1, 1536 * MIB, PV, .nodes = "0"}, "0=768M 1=768M, 1x 0-15/0-7"},
        {{1, 1536 * MIB, PV, .nodes = "0", .strict = true}, "nofit"},
        /* asked for CPUs by number does not say where memory comes from, nor the other way round */
        {{2, 512 * MIB, PV, .nodes = "1", .cpus = "4-5"}, "1=512M, 2x 4-5/4-5"},
        {{1, 512 * MIB, PV, .nodes = "1", .cpus = "0-3"}, "1=512M, 1x 0-3/0-3"},
        {{1, 512 * MIB, PV, .nodes = "1", .cpus = "0-3", .strict = true}, "1=512M, 1x 0-3/0-3"},
        {{4, 5 * GIB, PV, .nodes = "2-3", .cpus = "0-7", .strict = true}, "2=2560M 3=2560M, 4x 0-7/0-7"},
        {{5, 512 * MIB, PV, .nodes = "1", .cpus = "0-3", .strict = true}, "nofit"},
        {{2, 512 * MIB, PV, .nodes = "0-1", .cpus = "0-3"}, "0=512M, 2x 0-3/0-3"}, /* near, where both do */
        {{2, 512 * MIB, PV, .nodes = "1", .cpus = "0-7"}, "1=512M, 2x 0-7/4-7"},
        {{3, 512 * MIB, PV, .nodes = "1", .cpus = "0-7"}, "1=512M, 3x 0-7/0-7"}, /* four cores, here and there */
        {{4, 512 * MIB, PV, .nodes = "1", .cpus = "8-11", .threads = 2}, "1=512M, 2x 8-11/8-9, 2x 8-11/10-11"},
        {{1, 512 * MIB, PV, .cpus = "0-7"}, "1=512M, 1x 0-7/4-7"}, /* inside the mask */
        {{1, 512 * MIB, PV, .nodes = "9"}, "invalid: nodes: there is no node 9"},
        {{1, 512 * MIB, PV, .cpus = "15-16"}, "invalid: cpus: there is no CPU 16: the highest is 15"},
        {{1, 512 * MIB, PV, .pool = 5}, "invalid: pool: there is no pool 4"},
    };

    check_cases(FOUR(""), cases, ARRAY_SIZE(cases));
}

/* Hard, and divided over the nodes in proportion to their cores. */
static void test_strict(void **state)
{
    static const Case cases[] = {
        {{1, 512 * MIB, PV, .strict = true}, "3=512M, 1x 12-15/12-15"},
        {{4, 5 * GIB, PV, .strict = true, .nodes = "2-3"}, "2=2560M 3=2560M, 2x 8-11/8-11, 2x 12-15/12-15"},
        {{3, 5 * GIB, PV, .strict = true, .nodes = "2-3"}, "2=2560M 3=2560M, 2x 8-11/8-11, 1x 12-15/12-15"},
        {{4, 5 * GIB, PV, .strict = true, .nodes = "2-3", .threads = 2},
         "2=2560M 3=2560M, 2x 8-11/8-9, 2x 12-15/12-13"},
        {{4, 2560 * MIB, PV, .strict = true, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "nofit"},
        {{4, 1 * GIB, PV, .strict = true, .nodes = "0-1", .policy = POLICY_INTERLEAVE},
         "0=512M 1=512M, 2x 0-3/0-3, 2x 4-7/4-7"},
    };

    check_cases(FOUR(""), cases, ARRAY_SIZE(cases));
}

/* Two vCPUs prefer node 3, one node 2. */
#define LOADED FOUR(",'domains':[{'domid':1,'vcpus':[{'soft':'12-15'},{'soft':'12-13'},{'soft':'8-11'}]}]")

static void test_load(void **state)
{
    static const Case cases[] = {
        {{1, 512 * MIB, PV}, "1=512M, 1x 0-15/4-7"},
        {{1, 1536 * MIB, PV}, "1=1536M, 1x 0-15/4-7"},
        {{1, 2560 * MIB, PV}, "2=2560M, 1x 0-15/8-11"},
        /* of node 3 the core 14-15 has less to do */
        {{2, 3584 * MIB, PV, .threads = 2}, "3=3584M, 2x 0-15/14-15"},
    };

    check_cases(LOADED, cases, ARRAY_SIZE(cases));
}

/* The device's node is left to those that want it; plain ones fill the others first. */
static void test_devices(void **state)
{
    static const char devices[] =
        FOUR(",'devices':[{'pci':'0000:03:00.0','node':1},{'pci':'0000:04:00.0','node':null}]");
    static const Case cases[] = {
        {{1, 512 * MIB, PV, .near = "0000:03:00.0"}, "1=512M, 1x 0-15/4-7"},
        {{1, 512 * MIB, PV, .near = "03:00.0", .policy = POLICY_PACK}, "1=512M, 1x 0-15/4-7"},
        {{1, 2560 * MIB, PV, .near = "0000:03:00.0"}, "3=2560M, 1x 0-15/12-15"}, /* one node before near */
        {{1, 512 * MIB, PV, .near = "0000:04:00.0"}, "3=512M, 1x 0-15/12-15"},   /* nobody knows its node */
        {{1, 512 * MIB, PV, .near = "0000:05:00.0"}, "invalid: near: there is no device 0000:05:00.0"},
    };

    check_cases(devices, cases, ARRAY_SIZE(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies), cmocka_unit_test(test_cores_before_threads),
        cmocka_unit_test(test_nodes),    cmocka_unit_test(test_strict),
        cmocka_unit_test(test_load),     cmocka_unit_test(test_devices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
