/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/fake-xen.h"
#include "tests/unit/unit.h"

#include <string.h>

/* Host, nodes, CPUs, pools, and `low` on a Xen that does not say it. */

#define GIB (1ull << 30)

static void test_host(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, true);

    assert_string_equal(rows->backend, "xen");
    assert_false(rows->simulated);
    assert_string_equal(rows->xen_version, "4.17.5");
    assert_int_equal(rows->total, 1000 * 4096);
    assert_int_equal(rows->free, 400 * 4096);
    assert_int_equal(rows->claimed, 7 * 4096);
    assert_true(rows->has_dom0_view);
    assert_int_equal(rows->dom0_nodes, 1);
    assert_int_equal(rows->dom0_cpus, 2);
    assert_int_equal(rows->warnings.n, 0);
    assert_int_equal(rows->n_nodes, 2);
    assert_int_equal(rows->nodes[1].size, 2 * GIB);
    assert_int_equal(rows->distances[1], 21);
    assert_int_equal(rows->distances[3], 10);
    assert_int_equal(rows->n_pools, 1);
    assert_int_equal(bitmap_weight(&rows->pools[0].cpus), 4); /* of the mask's 0xff.. nothing above max_cpu_id */
}

/* Arrays are as long as the highest id, not as the counts (hosts with SMT off have both far apart). */
static void test_ids_have_gaps(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->max_cpu_id = 127;
    fake->n_cpus = 5;
    fake->cpus[2] = (XenCpuTopo){ROW_INVALID, ROW_INVALID, ROW_INVALID}; /* not present */
    fake->cpus[4] = (XenCpuTopo){7, 1, ROW_INVALID};                     /* online on no node */
    fake->pool_cpus[0] = 0x1b;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->max_cpu_id, 127);
    assert_int_equal(rows->n_cpus, 128);
    assert_int_equal(rows->cpus[0].node, 0);
    assert_int_equal(rows->cpus[2].core, ROW_INVALID);
    assert_int_equal(rows->cpus[4].core, 7);
    assert_int_equal(rows->cpus[4].node, ROW_INVALID);
    for (size_t i = 5; i < rows->n_cpus; i++)
        assert_int_equal(rows->cpus[i].core & rows->cpus[i].socket & rows->cpus[i].node, ROW_INVALID);
    assert_true(bitmap_isset(&rows->pools[0].cpus, 4));
    assert_false(bitmap_isset(&rows->pools[0].cpus, 2));
}

/* Who is online is not to be told from cores: offline CPUs may keep theirs, online ones may have none. */
static void test_offline_cpus(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL, *unsure = NULL;

    fake->cpus[0] = (XenCpuTopo){ROW_INVALID, ROW_INVALID, 0}; /* alone in its package */
    fake->cpus[3] = (XenCpuTopo){ROW_INVALID, ROW_INVALID, 1}; /* offline, its node is remembered */
    fake->pool_cpus[0] = 0x01;                                 /* 1 is parked */
    fake->free_cpus = 0x04;                                    /* 2 is online in no pool */
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->cpus[0].node, 0);
    assert_int_equal(rows->cpus[1].core & rows->cpus[1].socket & rows->cpus[1].node, ROW_INVALID);
    assert_int_equal(rows->cpus[2].socket, 1);
    assert_int_equal(rows->cpus[3].node, ROW_INVALID);
    fake->free_cpus = 0; /* on its way to another pool */
    fake->nr_cpus = 2;
    unsure = fake_xen_collect(source, false);
    assert_memory_equal(rows->cpus, unsure->cpus, rows->n_cpus * sizeof(CpuRow));
    fake->nr_cpus = 1; /* no, it is offline */
    host_rows_free(unsure);
    unsure = fake_xen_collect(source, false);
    assert_int_equal(unsure->cpus[2].node, ROW_INVALID);
    assert_int_equal(unsure->cpus[0].node, 0);
}

/* Pools may not be asked for: what cputopoinfo says is all there is. */
static void test_offline_unknown(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->errors[FAKE_POOL] = fake->errors[FAKE_FREE_CPUS] = -EPERM;
    fake->cpus[1] = (XenCpuTopo){ROW_INVALID, ROW_INVALID, ROW_INVALID};
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->cpus[0].node, 0);
    assert_int_equal(rows->cpus[1].node, ROW_INVALID);
    assert_int_equal(rows->n_pools, 0);
}

static void test_more_cpus_than_max_id(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->max_cpu_id = 1;
    fake->n_cpus = 4;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->n_cpus, 2);
}

static void test_holes(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->n_nodes = 4;
    fake->nodes[2] = (XenMemInfo){ROW_HOLE, ROW_HOLE};
    fake->nodes[3] = (XenMemInfo){GIB, 5};
    for (unsigned i = 0; i < 4; i++)
        fake->distances[i][2] = fake->distances[2][i] = UINT32_MAX;
    fake->distances[3][0] = 255;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->n_nodes, 4);
    assert_int_equal(rows->nodes[2].size, ROW_HOLE);
    assert_int_equal(rows->nodes[2].present, VALUE_UNKNOWN); /* though Xen has a record of zeros for it */
    assert_int_equal(rows->nodes[3].present, 503 * 4096);
    assert_int_equal(rows->distances[2], UINT32_MAX); /* as read */
    assert_int_equal(rows->distances[12], 255);
}

static void test_pools(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->n_pools = 3;
    fake->pools[1] = 3;
    fake->pools[2] = 70;
    fake->pool_cpus[1] = 0x30;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->n_pools, 3);
    assert_int_equal(rows->pools[1].pool, 3);
    assert_true(bitmap_isset(&rows->pools[1].cpus, 5));
    assert_int_equal(rows->pools[2].pool, 70);
    assert_true(bitmap_isempty(&rows->pools[2].cpus));
}

/* What fails for once stays what it was; what never worked is not there. */
static void test_old_answers_stand_in(void **state)
{
    static const FakeCall calls[] = {FAKE_PHYSINFO,    FAKE_NUMACOUNT, FAKE_NUMAINFO,
                                     FAKE_CPUTOPOINFO, FAKE_POOL,      FAKE_FREE_CPUS};

    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *before = fake_xen_collect(source, true), *rows = NULL;

        fake->errors[calls[i]] = -EBUSY;
        rows = fake_xen_collect(source, false);
        assert_int_equal(rows->total, before->total);
        assert_int_equal(rows->n_nodes, before->n_nodes);
        assert_memory_equal(rows->distances, before->distances, 4 * sizeof(uint32_t));
        assert_int_equal(rows->n_cpus, before->n_cpus);
        assert_memory_equal(rows->cpus, before->cpus, rows->n_cpus * sizeof(CpuRow));
        assert_int_equal(rows->n_pools, before->n_pools);
        assert_true(warning_list_has(&rows->warnings, WARNING_SOURCE_FAILED));
        assert_int_equal(source->errors[ERROR_XEN], 1);
    }
}

static void test_without_physinfo(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->errors[FAKE_PHYSINFO] = -EPERM;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->total, VALUE_UNKNOWN);
    assert_int_equal(rows->n_cpus, 4); /* as many as cputopoinfo tells of */
    assert_int_equal(rows->max_cpu_id, 3);
    assert_int_equal(rows->n_nodes, 2);
    assert_true(warning_list_has(&rows->warnings, WARNING_NOT_PERMITTED));
}

/* --- low --- */

typedef struct LowCase {
    const char *commandline;
    uint64_t size[3], start[3], end[3]; /* node sizes, and where their free memory is */
    unsigned n_nodes;
    uint64_t low[3];
} LowCase;

#define MIB (1ull << 20)
#define UNKNOWN VALUE_UNKNOWN

static const LowCase low_cases[] = {
    /* one node sets nothing aside */
    {"", {4 * GIB}, {MIB}, {3 * GIB}, 1, {0}},
    {"dma_bits=30", {4 * GIB}, {MIB}, {3 * GIB}, 1, {0}},
    /* node 0 from 0 with 2 GiB: 29 bits */
    {"", {2 * GIB, 2 * GIB}, {MIB, 2 * GIB}, {GIB, 3 * GIB}, 2, {511 * MIB, 0}},
    {"", {3 * GIB, 2 * GIB}, {MIB, 4 * GIB}, {2 * GIB, 5 * GIB}, 2, {1023 * MIB, 0}},
    {"dma_bits=32", {2 * GIB, 2 * GIB}, {MIB, 2 * GIB}, {GIB, 3 * GIB}, 2, {1023 * MIB, GIB}},
    {"dma_bits=52", {2 * GIB, 2 * GIB}, {MIB, 2 * GIB}, {GIB, 3 * GIB}, 2, {0, 0}},
    /* the lowest is taken, but what is lowest of the rest is here */
    {"", {2 * GIB, 2 * GIB}, {256 * MIB, 2 * GIB}, {GIB, 3 * GIB}, 2, {256 * MIB, 0}},
    /* the first node does not hold the lowest memory: who knows where it starts */
    {"", {2 * GIB, 2 * GIB}, {2 * GIB, MIB}, {3 * GIB, GIB}, 2, {UNKNOWN, UNKNOWN}},
    {"dma_bits=29", {2 * GIB, 2 * GIB}, {2 * GIB, MIB}, {3 * GIB, GIB}, 2, {0, 511 * MIB}},
    /* nothing free below 4 GiB */
    {"", {8 * GIB, 8 * GIB}, {5 * GIB, 8 * GIB}, {6 * GIB, 9 * GIB}, 2, {UNKNOWN, UNKNOWN}},
    /* CPUs only, and a hole, before the first with memory */
    {"", {0, 2 * GIB, 2 * GIB}, {0, MIB, 2 * GIB}, {0, GIB, 3 * GIB}, 3, {0, 511 * MIB, 0}},
    {"", {ROW_HOLE, 2 * GIB, 2 * GIB}, {0, MIB, 2 * GIB}, {0, GIB, 3 * GIB}, 3, {UNKNOWN, 511 * MIB, 0}},
    /* a hole and one node are one node */
    {"", {ROW_HOLE, 2 * GIB}, {0, MIB}, {0, GIB}, 2, {UNKNOWN, 0}},
};

static void set_low_case(FakeXen *fake, const LowCase *c)
{
    fake->errors[FAKE_HEAP_QUERY] = -ENOSYS;
    fake->commandline = c->commandline;
    fake->n_nodes = c->n_nodes;
    for (unsigned i = 0; i < c->n_nodes; i++) {
        fake->nodes[i] = (XenMemInfo){c->size[i], c->end[i] - c->start[i]};
        fake->ranges[i].start = c->start[i];
        fake->ranges[i].end = c->end[i];
    }
}

static void test_low(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(low_cases); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);

        set_low_case(fake, &low_cases[i]);
        for (int generation = 0; generation < 2; generation++) {
            _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, false);

            for (unsigned node = 0; node < low_cases[i].n_nodes; node++)
                assert_int_equal(rows->nodes[node].low, low_cases[i].low[node]);
        }
        assert_in_range(fake->counts[FAKE_AVAILHEAP], 0, 24);
    }
}

/* The width does not change while Xen runs, so it is looked for once. */
static void test_low_is_cheap(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);

    fake->errors[FAKE_HEAP_QUERY] = -ENOSYS;
    for (int generation = 0; generation < 10; generation++)
        host_rows_free(fake_xen_collect(source, false));
    assert_int_equal(fake->counts[FAKE_COMMANDLINE], 1);
    assert_int_equal(fake->counts[FAKE_AVAILHEAP], 2 + 10 * 2);
    assert_int_equal(fake->counts[FAKE_HEAP_QUERY], 1);
}

static void test_low_of_the_hypervisor(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, true);

    assert_int_equal(rows->nodes[1].low, 21 * 4096);
    assert_int_equal(rows->nodes[1].free, 201 * 4096);
    assert_int_equal(rows->nodes[1].dirty, 11 * 4096);
    assert_int_equal(rows->nodes[1].claimed, VALUE_UNKNOWN);
    assert_null(rows->nodes[1].free_chunks);
    assert_int_equal(fake->counts[FAKE_AVAILHEAP], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_ids_have_gaps),
        cmocka_unit_test(test_offline_cpus),
        cmocka_unit_test(test_offline_unknown),
        cmocka_unit_test(test_more_cpus_than_max_id),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_old_answers_stand_in),
        cmocka_unit_test(test_without_physinfo),
        cmocka_unit_test(test_low),
        cmocka_unit_test(test_low_is_cheap),
        cmocka_unit_test(test_low_of_the_hypervisor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
