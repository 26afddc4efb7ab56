/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/snapshot.h"
#include "tests/unit/unit.h"
#include "tests/unit/xen-host.h"
#include "tests/unit/xen-oracle.h"

#include <string.h>

/* The host changes while it is looked at: the next generation is right, and nothing is as long as a count. */

#define GIB (1ull << 30)
#define NOWHERE                               \
    (XenCpuTopo)                              \
    {                                         \
        ROW_INVALID, ROW_INVALID, ROW_INVALID \
    }

static bool is_online(const HostRows *rows, cpuid_t cpu)
{
    const CpuRow *row = &rows->cpus[cpu];

    return (row->core & row->socket & row->node) != ROW_INVALID;
}

static HostRows *collect(Source *source)
{
    HostRows *rows = fake_xen_collect(source, false);

    assert_non_null(rows);
    oracle_check_rows(rows);
    assert_int_equal(rows->warnings.n, 0);
    return rows;
}

/* xen-hptool cpu-offline: out of its pool, parked with its numbers, or gone with them. */
static void test_cpu_offline_and_online(void **state)
{
    for (int parked = 0; parked < 2; parked++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *before = collect(source), *offline = NULL, *online = NULL;
        XenCpuTopo topo = fake->cpus[3];

        fake->pool_cpus[0] = 0x07;
        if (!parked)
            fake->cpus[3] = NOWHERE;
        offline = collect(source);
        assert_true(is_online(before, 3));
        assert_false(is_online(offline, 3));
        assert_true(is_online(offline, 2));
        assert_int_equal(offline->n_cpus, before->n_cpus);
        assert_false(bitmap_isset(&offline->pools[0].cpus, 3));
        fake->cpus[3] = topo;
        fake->free_cpus = 0x08; /* it comes back into no pool */
        online = collect(source);
        assert_true(is_online(online, 3));
        assert_int_equal(online->cpus[3].node, 1);
        assert_false(bitmap_isset(&online->pools[0].cpus, 3));
    }
}

/* The only CPU a domain may use goes offline: Xen lets it run anywhere. */
static void test_affinity_breaks(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *before = NULL, *after = NULL;

    fake_xen_add(fake, 1);
    fake->domains[1].hard = 0x08;
    before = collect(source);
    assert_int_equal(bitmap_weight(&fake_xen_row(before, 1)->vcpus->rows[0].hard), 1);
    fake->pool_cpus[0] = 0x07;
    fake->domains[1].hard = 0xff;
    after = collect(source);
    assert_int_equal(bitmap_weight(&fake_xen_row(after, 1)->vcpus->rows[0].hard), 8);
}

/* All of a node's CPUs go offline: the node stays, with its memory. */
static void test_node_without_cpus(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *before = collect(source), *rows = NULL;
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;

    fake->pool_cpus[0] = 0x03;
    rows = collect(source);
    assert_int_equal(rows->n_nodes, 2);
    assert_int_equal(snapshot_seal(TAKE_PTR(rows), 1, 0, &snapshot), 0);
    assert_int_equal(snapshot->nodes[1].kind, NODE_MEMORY);
    assert_int_equal(bitmap_weight(&snapshot->online), 2);
}

/* xl cpupool-numa-split, a domain moved, and all back together. */
static void test_pools(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *one = NULL, *two = NULL, *merged = NULL;

    fake_xen_add(fake, 1);
    fake->domains[1].hard = 0x01;
    one = collect(source);
    assert_int_equal(one->n_pools, 1);
    assert_int_equal(bitmap_weight(&fake_xen_row(one, 1)->vcpus->rows[0].hard), 1);
    fake->n_pools = 2;
    fake->pools[1] = 1;
    fake->pool_cpus[0] = 0x03;
    fake->pool_cpus[1] = 0x0c;
    fake->domains[1].info.pool = 1;
    fake->domains[1].hard = 0xff; /* Xen forgets it */
    two = collect(source);
    assert_int_equal(bitmap_weight(&fake_xen_row(two, 1)->vcpus->rows[0].hard), 8);
    assert_int_equal(two->n_pools, 2);
    assert_int_equal(bitmap_next(&two->pools[1].cpus, 0), 2);
    assert_int_equal(bitmap_weight(&two->pools[0].cpus), 2);
    assert_int_equal(fake_xen_row(two, 1)->pool, 1);
    assert_int_equal(fake_xen_row(two, 0)->pool, 0);
    fake->n_pools = 1;
    fake->pool_cpus[0] = 0x0f;
    fake->domains[1].info.pool = 0;
    merged = collect(source);
    assert_int_equal(merged->n_pools, 1);
    assert_int_equal(bitmap_weight(&merged->pools[0].cpus), 4);
    assert_int_equal(fake_xen_row(merged, 1)->pool, 0);
    assert_int_equal(two->n_pools, 2); /* the old generation is what it was */
}

/* A CPU is in no set for a moment while it moves: nobody takes it for offline. */
static void test_cpu_moves(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *before = collect(source), *rows = NULL;

    fake->n_pools = 2;
    fake->pools[1] = 5;
    fake->pool_cpus[0] = 0x07;
    fake->nr_cpus = 4;
    rows = collect(source);
    assert_true(is_online(rows, 3));
    assert_false(bitmap_isset(&rows->pools[0].cpus, 3));
    assert_true(bitmap_isset(&before->pools[0].cpus, 3));
}

/* --- nodes --- */

static void set_nodes(FakeXen *fake, uint32_t n)
{
    for (uint32_t i = fake->n_nodes; i < n; i++) {
        fake->nodes[i] = (XenMemInfo){.size = GIB, .free = GIB / 2};
        for (uint32_t j = 0; j <= i; j++)
            fake->distances[i][j] = fake->distances[j][i] = i == j ? 10 : i < 2 ? 21 : 31;
    }
    fake->n_nodes = n;
}

static void check_nodes(const HostRows *rows, uint32_t n)
{
    assert_int_equal(rows->n_nodes, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            assert_int_equal(rows->distances[i * n + j], i == j ? 10 : MAX(i, j) < 2 ? 21 : 31);
    assert_int_equal(fake_xen_row(rows, 0)->node_pages[1], 20);
}

/* Masks of nodes become longer, too: a domain's affinity is read again though it is not its turn. */
static void test_nodes_come_and_go(void **state)
{
    static const uint32_t counts[] = {2, 4, 3, 7, 1, 8, 2};
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);

    fake->domains[0].nodes = 0xff;
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        fake->domains[0].pages[0] = counts[i] == 1 ? 30 : 10;
        fake->domains[0].pages[1] = counts[i] == 1 ? 0 : 20;
        fake->cpus[2].node = fake->cpus[3].node = counts[i] == 1 ? 0 : 1;
        set_nodes(fake, counts[i]);
        rows = collect(source);
        if (counts[i] > 1)
            check_nodes(rows, counts[i]);
        assert_int_equal(rows->n_nodes, counts[i]);
        assert_int_equal(rows->nodes[counts[i] - 1].present, (500 + counts[i] - 1) * 4096ull);
        assert_int_equal(bitmap_weight(&fake_xen_row(rows, 0)->node_affinity), counts[i]);
    }
}

static void grow(FakeXen *fake, FakeCall call)
{
    if (call == (FakeCall)fake->seed)
        set_nodes(fake, 4);
}

static void shrink(FakeXen *fake, FakeCall call)
{
    if (call == (FakeCall)fake->seed) {
        fake->cpus[2].node = fake->cpus[3].node = 0;
        set_nodes(fake, 1);
    }
}

/* The number of nodes changes in the midst: this generation has the nodes it asked for, the next has all. */
static void test_nodes_change_meanwhile(void **state)
{
    static const FakeCall calls[] = {FAKE_NUMACOUNT,  FAKE_NUMAINFO,     FAKE_CPUTOPOINFO,  FAKE_HEAP_QUERY,
                                     FAKE_HEAP_NODES, FAKE_HEAP_DOMAINS, FAKE_NODE_AFFINITY};

    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        for (int growing = 0; growing < 2; growing++) {
            FakeXen *fake = fake_xen_new();
            _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
            _cleanup_(host_rows_free_p) HostRows *during = NULL, *after = NULL;

            fake->seed = calls[i];
            fake->before = growing ? grow : shrink;
            during = fake_xen_collect(source, true);
            assert_non_null(during);
            oracle_check_rows(during);
            assert_true(fake->n_nodes != 2);
            fake->before = NULL;
            after = collect(source);
            assert_int_equal(after->n_nodes, growing ? 4 : 1);
            if (growing)
                check_nodes(after, 4);
        }
}

/* --- counts that are not ids --- */

typedef struct Shape {
    uint32_t max_cpu_id, n_cpus, nr_cpus, online, cores;
    XenCpuTopo cpus[8];
    uint8_t pool;
} Shape;

static const Shape shapes[] = {
    /* two online, the highest of four */
    {3, 4, 2, 2, 2, {{0, 0, 0}, NOWHERE, NOWHERE, {1, 0, 1}}, 0x09},
    /* smt=0: 0 and 2 of two cores with two threads, the siblings parked, with their numbers or not */
    {3, 4, 2, 2, 2, {{0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {1, 0, 1}}, 0x05},
    {3, 3, 2, 2, 2, {{0, 0, 0}, NOWHERE, {1, 0, 1}}, 0x05},
    /* fewer told of than the highest id, by far */
    {127, 2, 2, 2, 2, {{0, 0, 0}, {1, 0, 0}}, 0x03},
    {8191, 1, 1, 1, 1, {{0, 0, 0}}, 0x01},
    /* core numbers repeat on each socket */
    {3, 4, 4, 4, 4, {{0, 0, 0}, {1, 0, 0}, {0, 1, 1}, {1, 1, 1}}, 0x0f},
    /* threads share theirs */
    {3, 4, 4, 4, 2, {{0, 0, 0}, {0, 0, 0}, {0, 1, 1}, {0, 1, 1}}, 0x0f},
    /* one socket holds two nodes */
    {3, 4, 4, 4, 4, {{0, 0, 0}, {1, 0, 0}, {2, 0, 1}, {3, 0, 1}}, 0x0f},
};

static void test_shapes(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        const Shape *shape = &shapes[i];
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
        HostRows *rows;

        fake->max_cpu_id = shape->max_cpu_id;
        fake->n_cpus = shape->n_cpus;
        fake->nr_cpus = shape->nr_cpus;
        memcpy(fake->cpus, shape->cpus, sizeof(shape->cpus));
        fake->pool_cpus[0] = shape->pool;
        rows = collect(source);
        assert_int_equal(rows->n_cpus, shape->max_cpu_id + 1);
        assert_int_equal(snapshot_seal(rows, 1, 0, &snapshot), 0);
        assert_int_equal(bitmap_weight(&snapshot->online), shape->online);
        assert_int_equal(snapshot->nodes[0].cores + snapshot->nodes[1].cores, shape->cores);
    }
}

/* physinfo fails in the first collection only: what was cut by its count is read again. */
static void test_physinfo_fails_first(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *first = NULL, *second = NULL;

    fake->domains[0].hard = 0xff;
    fake_xen_fail(fake, FAKE_PHYSINFO, 0, -EAGAIN, 1);
    first = fake_xen_collect(source, true);
    oracle_check_rows(first);
    assert_int_equal(first->n_cpus, 4);
    assert_int_equal(bitmap_weight(&first->pools[0].cpus), 4);
    assert_int_equal(bitmap_weight(&first->domains[0].vcpus->rows[0].hard), 4);
    second = collect(source);
    assert_int_equal(second->n_cpus, 8);
    assert_int_equal(bitmap_weight(&second->domains[0].vcpus->rows[0].hard), 8);
    assert_int_equal(second->total, 1000 * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_offline_and_online),
        cmocka_unit_test(test_node_without_cpus),
        cmocka_unit_test(test_affinity_breaks),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_cpu_moves),
        cmocka_unit_test(test_nodes_come_and_go),
        cmocka_unit_test(test_nodes_change_meanwhile),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_physinfo_fails_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
