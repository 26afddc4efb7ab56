/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/host.h"

#include <math.h>

#define NODES                                                                                \
    "{\"format\":\"numad-xen-host/1\",\"features\":[\"node-pages\"],\"nodes\":["             \
    "{\"size\":100,\"free\":0,\"cpus\":\"0-1\"},{\"size\":100,\"free\":0,\"cpus\":\"2-3\"}," \
    "{\"size\":100,\"free\":0,\"cpus\":\"4-5\"},{\"size\":100,\"free\":0,\"cpus\":\"6-7\"}],"
#define FOUR NODES "\"domains\":[{\"domid\":1,"
#define POOLS NODES "\"pools\":[{\"pool\":0,\"cpus\":\"0-5\"},{\"pool\":1,\"cpus\":\"6-7\"}],\"domains\":[{\"domid\":1,"

static void assert_locality(const char *json, double wanted)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host(json);
    double got = s->domains[0].locality;

    if (isnan(wanted) ? !isnan(got) : !(fabs(got - wanted) < 1e-9))
        fail_msg("locality %f, wanted %f: %s", got, wanted, json);
}

static void test_contract(void **state)
{
    static const struct {
        const char *json;
        double locality;
    } cases[] = {
        /* all memory on the one node the vCPUs prefer */
        {FOUR "\"node_pages\":[0,9,0,0],\"vcpus\":[{\"soft\":\"2-3\"},{\"soft\":\"2-3\"}]}]}", 1},
        /* not pinned, four equal nodes */
        {FOUR "\"node_pages\":[5,5,5,5],\"vcpus\":[{}]}]}", 0.25},
        {FOUR "\"node_pages\":[20,0,0,0],\"vcpus\":[{}]}]}", 0.25},
        /* half of the memory elsewhere */
        {FOUR "\"node_pages\":[5,5,0,0],\"vcpus\":[{\"soft\":\"0-1\"}]}]}", 0.5},
        /* offline vCPUs do not count */
        {FOUR "\"node_pages\":[4,0,0,0],\"vcpus\":[{\"hard\":\"0\"},{\"hard\":\"7\",\"online\":false}]}]}", 1},
        {FOUR "\"node_pages\":[4,0,0,0],\"vcpus\":[{\"hard\":\"0\"},{\"hard\":\"7\"}]}]}", 0.5},
        /* a soft set outside the hard set is no preference */
        {FOUR "\"node_pages\":[4,0,0,0],\"vcpus\":[{\"hard\":\"0-3\",\"soft\":\"6-7\"}]}]}", 0.5},
        /* the pool limits; a hard set outside it is ignored */
        {POOLS "\"node_pages\":[0,0,0,4],\"pool\":1,\"vcpus\":[{}]}]}", 1},
        {POOLS "\"node_pages\":[4,0,0,0],\"pool\":1,\"vcpus\":[{\"hard\":\"0-1\"}]}]}", 0},
        /* cannot be known */
        {"{\"format\":\"numad-xen-host/"
         "1\",\"features\":[\"node-pages\"],\"nodes\":[{\"size\":9,\"free\":0,\"cpus\":\"0\"}],"
         "\"pools\":[{\"pool\":0,\"cpus\":\"\"}],\"domains\":[{\"domid\":1,\"node_pages\":[4],\"vcpus\":[{}]}]}",
         NAN},
        {FOUR "\"vcpus\":[{}]}]}", NAN},
        {FOUR "\"node_pages\":[0,0,0,0],\"vcpus\":[{}]}]}", NAN},
        {FOUR "\"node_pages\":[4,0,0,0],\"vcpus\":[{\"online\":false}]}]}", NAN},
        {FOUR "\"node_pages\":[4,0,0,0],\"vcpus\":[]}]}", NAN},
        {FOUR "\"node_pages\":[4,0,0,0]}]}", NAN},
        {FOUR "\"node_pages\":[4,0,0,0],\"state\":\"dying\",\"vcpus\":[{}]}]}", NAN},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_locality(cases[i].json, cases[i].locality);
}

/* Two CPU nodes equally far from two memory-only nodes: each takes one. */
static void test_memory_nodes_are_shared_out(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host("{\"format\":\"numad-xen-host/1\",\"nodes\":["
                                                   "{\"size\":1,\"free\":0,\"cpus\":\"0\",\"distances\":[10,11,21,21]},"
                                                   "{\"size\":1,\"free\":0,\"cpus\":\"1\",\"distances\":[11,10,21,21]},"
                                                   "{\"size\":1,\"free\":0,\"distances\":[21,21,10,11]},"
                                                   "{\"size\":1,\"free\":0,\"distances\":[21,21,11,10]}]}");

    assert_true(bitmap_isset(&s->nodes[2].local, 0));
    assert_false(bitmap_isset(&s->nodes[2].local, 1));
    assert_true(bitmap_isset(&s->nodes[3].local, 1));
    assert_false(bitmap_isset(&s->nodes[3].local, 0));
}

/* Nodes 0 and 3 have CPUs and no memory (NPS4, half populated): their CPUs are local to the nearest memory. */
static void test_memoryless_nodes(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host("{\"format\":\"numad-xen-host/1\",\"features\":[\"node-pages\"],\"nodes\":["
             "{\"size\":0,\"free\":0,\"cpus\":\"0-1\",\"distances\":[10,12,14,14]},"
             "{\"size\":9,\"free\":0,\"cpus\":\"2-3\",\"distances\":[12,10,12,12]},"
             "{\"size\":9,\"free\":0,\"cpus\":\"4-5\",\"distances\":[12,12,10,12]},"
             "{\"size\":0,\"free\":0,\"cpus\":\"6-7\",\"distances\":[14,14,12,10]}],"
             "\"domains\":[{\"domid\":1,\"node_pages\":[0,8,0,0],\"vcpus\":[{\"soft\":\"0-3\"}]},"
             "{\"domid\":2,\"node_pages\":[0,8,0,0],\"vcpus\":[{\"soft\":\"6-7\"}]}]}");

    assert_int_equal(s->nodes[0].kind, NODE_CPU);
    assert_true(s->domains[0].locality == 1);
    assert_true(s->domains[1].locality == 0);
}

static void test_unreachable_is_not_tied(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host("{\"format\":\"numad-xen-host/1\",\"nodes\":[{\"size\":9,\"free\":0,\"cpus\":\"0\",\"distances\":[10,-1]},"
             "{\"size\":9,\"free\":0,\"distances\":[20,10]}]}");

    assert_true(bitmap_isempty(&s->nodes[1].local)); /* the row that counts is that of the node with the CPUs */
}

static void test_load(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host(POOLS "\"vcpus\":[{},{\"hard\":\"0-2\"},{\"online\":false}]},"
                                                         "{\"domid\":2,\"pool\":1,\"vcpus\":[{}]}]}");

    assert_true(fabs(s->nodes[0].vcpus - (1.0 / 3 + 2.0 / 3)) < 1e-9);
    assert_true(fabs(s->nodes[1].vcpus - (1.0 / 3 + 1.0 / 3)) < 1e-9);
    assert_true(fabs(s->nodes[2].vcpus - 1.0 / 3) < 1e-9);
    assert_true(fabs(s->nodes[3].vcpus - 1) < 1e-9);
}

/* Which CPUs it may use is not known: neither is how near they are, and no node gets its load. */
static void test_no_pool(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host("{\"format\":\"numad-xen-host/"
             "1\",\"features\":[\"node-pages\"],\"nodes\":[{\"size\":9,\"free\":0,\"cpus\":\"0\"}],"
             "\"domains\":[{\"domid\":1,\"pool\":4294967295,\"node_pages\":[8],\"vcpus\":[{}]}]}");

    assert_true(isnan(s->domains[0].locality));
    assert_true(s->nodes[0].vcpus == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contract),
        cmocka_unit_test(test_memory_nodes_are_shared_out),
        cmocka_unit_test(test_memoryless_nodes),
        cmocka_unit_test(test_unreachable_is_not_tied),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_no_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
