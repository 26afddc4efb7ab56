/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/firmware-host.h"

/* A hypervisor that says something else than its firmware's tables: it is believed, and a person is told. */

#define TWO CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), RAM(1, 4 * GIB, 8 * GIB)

/* Where the hypervisor did not use the table, nothing is known, and a person is told what is going on. */
static void test_refused(void **state)
{
    static const Case cases[] = {
        {"numa=off",
         {TWO},
         {{12 * GIB, 2, NO, NO, 0}},
         1,
         0,
         "the firmware's SRAT describes 2 nodes, the hypervisor has 1: it was started with numa=off, or refused the "
         "table (then its boot messages, xl dmesg, say why); the hypervisor is believed, and which node is which PXM "
         "is not known"},
        {"numa=off where the hypervisor itself says what is present",
         {TWO},
         {{12 * GIB, 2, NO, 11 * GIB, 11 * GIB}},
         1,
         0,
         "numa=off"},
        {"numa=fake=4",
         {TWO},
         {{2 * GIB, 1, NO, NO, 0}, {2 * GIB, 1, NO, NO, 0}, {2 * GIB, 0, NO, NO, 0}, {6 * GIB, 0, NO, NO, 0}},
         4,
         0,
         "the firmware's SRAT describes 2 nodes, the hypervisor has 4; the hypervisor's nodes are equal slices of the "
         "memory, which is what its option numa=fake=4 would make; the hypervisor is believed"},
        {"numa=fake=2",
         {TWO},
         {{8 * GIB, 1, NO, NO, 0}, {8 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "which is what its option numa=fake=2 would make"},
        {"numa=fake=4 on a host of one node",
         {CPU(0, 0), RAM(0, 0, 4 * GIB)},
         {{GIB, 1, NO, NO, 0}, {GIB, 0, NO, NO, 0}, {GIB, 0, NO, NO, 0}, {GIB, 0, NO, NO, 0}},
         4,
         0,
         "the firmware's SRAT describes 1 node, the hypervisor has 4; the hypervisor's nodes are equal slices"},
        {"interleaved",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), RAM(1, 4 * GIB, 4 * GIB), RAM(0, 8 * GIB, 4 * GIB)},
         {{12 * GIB, 2, NO, NO, 0}},
         1,
         0,
         "the firmware's SRAT describes 2 nodes, the hypervisor has 1: Xen refuses a table in which memory of PXM 1 "
         "is in between that of PXM 0 (interleaved)"},
        {"overlapping",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), RAM(1, 3 * GIB, 4 * GIB)},
         {{7 * GIB, 2, NO, NO, 0}},
         1,
         0,
         "Xen refuses a table in which memory of PXM 0 and PXM 1 overlaps"},
        {"memory that is there and may be added",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), HOT(0, 2 * GIB, 4 * GIB), RAM(1, 8 * GIB, GIB)},
         {{9 * GIB, 2, NO, NO, 0}},
         1,
         0,
         "Xen refuses a table in which memory of PXM 0 overlaps itself and is hot-plug only once"},
        {"room for memory in between",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, GIB), HOT(1, 2 * GIB, GIB), RAM(0, 4 * GIB, GIB), RAM(1, 8 * GIB, GIB)},
         {{9 * GIB, 2, NO, NO, 0}},
         1,
         0,
         "memory of PXM 1 is in between that of PXM 0"},
        {"Arm",
         {CORE(0, 0), CORE(1, 1), RAM(0, 0, GIB), RAM(1, GIB, GIB)},
         {{2 * GIB, 2, NO, NO, 0}},
         1,
         0,
         "the hypervisor has 1: on Arm, Xen has one node whatever the table says"},
        {"more nodes than the table",
         {TWO},
         {{4 * GIB, 1, NO, NO, 0}, {7 * GIB, 1, NO, NO, 0}, {GIB, 0, NO, NO, 0}},
         3,
         0,
         "the firmware's SRAT describes 2 nodes, the hypervisor has 3; the hypervisor is believed"},
        {"a table without content",
         {{END, 0, 0, 0, 0}},
         {{GIB, 1, NO, NO, 0}, {3 * GIB, 1, NO, NO, 0}, {GIB, 1, NO, NO, 0}},
         3,
         0,
         "the firmware's SRAT describes 0 nodes, the hypervisor has 3"},
        {"other sizes",
         {TWO},
         {{4 * GIB, 1, NO, NO, 0}, {9 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "node 1 spans 9216 MiB in the hypervisor; by the firmware's SRAT it is PXM 1, which spans 8192 MiB"},
        {"the nodes the other way round",
         {TWO},
         {{8 * GIB, 1, NO, NO, 0}, {4 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "node 0 spans 8192 MiB in the hypervisor; by the firmware's SRAT it is PXM 0, which spans 4096 MiB"},
        {"nodes that are slices of the memory by the table too",
         {CPU(0, 0), CPU(0, 1), CPU(0, 2), CPU(1, 3), RAM(0, 0, 2 * GIB), RAM(1, 2 * GIB, 2 * GIB)},
         {{2 * GIB, 2, NO, NO, 0}, {2 * GIB, 2, NO, NO, 0}},
         2,
         0,
         "PXM 1, which has room for 1; the hypervisor is believed"},
        {"more CPUs than the table has room for",
         {CPU(0, 0), CPU(0, 1), CPU(0, 2), CPU(1, 3), RAM(0, 0, 3 * GIB), RAM(1, 3 * GIB, 2 * GIB)},
         {{3 * GIB, 2, NO, NO, 0}, {2 * GIB, 2, NO, NO, 0}},
         2,
         0,
         "node 1 has 2 CPUs online; by the firmware's SRAT it is PXM 1, which has room for 1"},
    };

    run_all(cases, ARRAY_SIZE(cases));
}

/* Several nodes, and a table of which no Xen makes several: its PXMs are not these nodes', whatever the sizes. */
static void test_overlapping(void **state)
{
    static const Case cases[] = {
        {"two PXMs share memory",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 5 * GIB), RAM(1, 4 * GIB, 5 * GIB)},
         {{5 * GIB, 1, NO, NO, 0}, {5 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "the hypervisor has 2 nodes, but not by the firmware's SRAT: Xen refuses a table in which memory of PXM 0 and "
         "PXM 1 overlaps; the hypervisor is believed, and which node is which PXM is not known"},
        {"one PXM within another",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 8 * GIB), RAM(1, 2 * GIB, 3 * GIB)},
         {{8 * GIB, 1, NO, 7 * GIB, 7 * GIB}, {3 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "memory of PXM 0 and PXM 1 overlaps"},
        {"an overlap behind ranges that are interleaved",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, GIB), RAM(1, GIB, GIB), RAM(0, 2 * GIB, 2 * GIB), RAM(1, 3 * GIB, 2 * GIB)},
         {{4 * GIB, 1, NO, NO, 0}, {4 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "memory of PXM 0 and PXM 1 overlaps"},
        {"room for memory of one PXM in memory of another",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), RAM(1, 4 * GIB, GIB), HOT(1, 3 * GIB, GIB)},
         {{4 * GIB, 1, NO, NO, 0}, {GIB, 1, NO, NO, 0}},
         2,
         0,
         "memory of PXM 0 and PXM 1 overlaps"},
        {"memory that is there and may be added",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), HOT(0, 2 * GIB, 4 * GIB), RAM(1, 8 * GIB, GIB)},
         {{4 * GIB, 1, NO, NO, 0}, {GIB, 1, NO, NO, 0}},
         2,
         0,
         "Xen refuses a table in which memory of PXM 0 overlaps itself and is hot-plug only once"},
        {"and sizes that only numa=fake makes",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 5 * GIB), RAM(1, 4 * GIB, 5 * GIB)},
         {{4 * GIB, 1, NO, NO, 0}, {5 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "memory of PXM 0 and PXM 1 overlaps; the hypervisor's nodes are equal slices of the memory, which is what its "
         "option numa=fake=2 would make"},
        {"interleaved, in an order that only an older Xen takes: every byte is one node's",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), RAM(1, 4 * GIB, 4 * GIB), RAM(0, 8 * GIB, 4 * GIB)},
         {{12 * GIB, 1, 0, 8 * GIB, 0}, {4 * GIB, 1, 1, 4 * GIB, 0}},
         2,
         0,
         NULL},
        {"one node, which has all memory there is",
         {CPU(0, 0), RAM(0, 0, 4 * GIB), HOT(0, 2 * GIB, 4 * GIB)},
         {{4 * GIB, 1, 0, 4 * GIB, 0}},
         1,
         0,
         NULL},
    };

    run_all(cases, ARRAY_SIZE(cases));
}

/* A broken table is said to be so; what came before the fault is still held against the hypervisor. */
static void test_broken(void **state)
{
    static const Case good = {"",  {TWO, {SHORT, 0, 0, 0, 0}}, {{4 * GIB, 1, 0, 0, 0}, {8 * GIB, 1, 1, 0, 0}}, 2, 0,
                              NULL};
    static const Case bad = {"", {CPU(0, 0), {SHORT, 0, 0, 0, 0}, TWO}, {{12 * GIB, 2, 0, 0, 0}}, 1, 0, NULL};
    _cleanup_text_ Text srat = {0}, none = {0}, slit = {0};
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL, *t = NULL, *u = NULL;

    build_srat(&good, &srat);
    slit_begin(&slit, 2);
    put(&slit, 10, 1);
    table_end(&slit);
    s = seal_host(good.nodes, 2, NULL, &srat, &slit);
    assert_string_equal(text_of(s, WARNING_SRAT_INVALID),
                        "the firmware's SRAT is broken: entry 4 of type 0 is 4 bytes long, which is too short");
    assert_string_equal(text_of(s, WARNING_SLIT_INVALID),
                        "the firmware's SLIT is broken: 2 localities need 4 distances, and it has room for 1");
    assert_null(text_of(s, WARNING_SRAT_MISMATCH));
    assert_null(text_of(s, WARNING_SLIT_MISMATCH));
    assert_int_equal(s->nodes[1].pxm, 1);
    assert_int_equal(s->nodes[1].present, 8 * GIB);
    build_srat(&bad, &none);
    none.data[9]++; /* the checksum too */
    t = seal_host(bad.nodes, 1, NULL, &none, NULL);
    assert_string_equal(text_of(t, WARNING_SRAT_INVALID),
                        "the firmware's SRAT is broken: its checksum is wrong; entry 1 of type 0 is 4 bytes long, "
                        "which is too short");
    assert_text(
        "broken", text_of(t, WARNING_SRAT_MISMATCH),
        "node 0 spans 12288 MiB in the hypervisor; by the firmware's SRAT it is PXM 0, which spans 0 MiB; the table is "
        "broken, and may describe more than can be read; the hypervisor is believed");
    assert_int_equal(t->nodes[0].pxm, NO);
    assert_int_equal(t->nodes[0].present, NO);
    u = seal_host(bad.nodes, 1, NULL, NULL, NULL); /* no tables: nothing to say */
    assert_null(text_of(u, WARNING_SRAT_INVALID));
    assert_null(text_of(u, WARNING_SRAT_MISMATCH));
    assert_int_equal(u->nodes[0].pxm, NO);
    assert_int_equal(u->nodes[0].present, NO);
}

/* Where a fault leaves nothing to read, it is the one thing to say: no node is missing from what is not there. */
static void test_unreadable(void **state)
{
    static const struct {
        const char *name, *fault;
        size_t at, size; /* size: of what is handed over; 0: all */
        int value;
    } cases[] = {
        {"no bytes", "the firmware's SRAT is broken: it has 0 bytes, which is too few", 0, 0, 'S'},
        {"a header alone", "it has 40 bytes, which is too few", 0, 40, 'S'},
        {"another table", "it does not begin with SRAT", 0, SIZE_MAX, 'X'},
        {"the first entry", "entry 0 of type 0 is 2 bytes long, which is too short", 49, SIZE_MAX, 2},
    };
    static const Case host = {"", {TWO}, {{4 * GIB, 1, NO, NO, 0}, {8 * GIB, 1, NO, NO, 0}}, 2, 0, NULL};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t n = 1; n <= host.n_nodes; n++) {
            _cleanup_text_ Text srat = {0};
            _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

            build_srat(&host, &srat);
            srat.data[cases[i].at] = (char)cases[i].value;
            srat.size = MIN(srat.size, cases[i].size);
            s = seal_host(host.nodes, n, NULL, &srat, NULL);
            assert_text(cases[i].name, text_of(s, WARNING_SRAT_INVALID), cases[i].fault);
            assert_text(cases[i].name, text_of(s, WARNING_SRAT_MISMATCH), NULL);
            assert_int_equal(s->nodes[0].pxm, NO);
            assert_int_equal(s->nodes[0].present, NO);
        }
}

/* A hole in a node is no hole where the rest of the table may fill it; a node without holes has all its memory. */
static void test_cut_present(void **state)
{
    static const Case host = {"",
                              {CPU(0, 0),
                               CPU(1, 1),
                               RAM(0, 0, 2 * GIB),
                               RAM(0, 6 * GIB, 2 * GIB),
                               RAM(1, 8 * GIB, GIB),
                               {SHORT, 0, 0, 0, 0},
                               RAM(0, 3 * GIB, GIB)},
                              {{8 * GIB, 1, 0, NO, 0}, {GIB, 1, 1, GIB, 0}},
                              2,
                              0,
                              NULL};

    run(&host);
}

/* A table that is whole but for its checksum was read to its end. */
static void test_checksum(void **state)
{
    static const HostNode slices[] = {{2 * GIB, 1, NO, NO, 0}, {2 * GIB, 1, NO, NO, 0}, {8 * GIB, 0, NO, NO, 0}};
    static const Case host = {"", {TWO}, {{4 * GIB, 1, 0, 0, 0}, {8 * GIB, 1, 1, 0, 0}}, 2, 0, NULL};
    _cleanup_text_ Text srat = {0};
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL, *t = NULL;

    build_srat(&host, &srat);
    srat.data[9]++;
    s = seal_host(host.nodes, 2, NULL, &srat, NULL);
    t = seal_host(slices, 3, NULL, &srat, NULL);
    assert_non_null(text_of(s, WARNING_SRAT_INVALID));
    assert_null(text_of(s, WARNING_SRAT_MISMATCH));
    assert_int_equal(s->nodes[1].pxm, 1);
    assert_int_equal(s->nodes[1].present, 8 * GIB);
    assert_text("slices", text_of(t, WARNING_SRAT_MISMATCH),
                "describes 2 nodes, the hypervisor has 3; the table is broken; the hypervisor is believed");
}

/* Distances go by PXM in the table, by node id in the hypervisor. */
static void test_slit(void **state)
{
    static const struct {
        const char *name;
        uint64_t localities;
        uint8_t slit[16];
        uint32_t hypervisor[4]; /* node 0 is PXM 3, node 1 PXM 1 */
        const char *mismatch;
    } cases[] = {
        {"the same", 4, {[0] = 10, [13] = 21, [7] = 17}, {10, 21, 17, 10}, NULL},
        {"both unknown", 4, {[13] = 255, [7] = 5}, {10, 255, UINT32_MAX, 10}, NULL},
        {"unknown in another way", 4, {[13] = 255, [7] = 0}, {10, 3, UINT32_MAX, 10}, NULL},
        {"other values",
         4,
         {[13] = 22, [7] = 17},
         {10, 21, 16, 10},
         "the firmware's SLIT says 2 other distances than the hypervisor, first from node 0 to node 1: 22, "
         "the hypervisor 21"},
        {"one way only",
         4,
         {[13] = 21, [7] = 254},
         {10, 21, UINT32_MAX, 10},
         "says 1 other distance than the hypervisor, first from node 1 to node 0: 254, the hypervisor nothing"},
        {"Xen does not use a flat table",
         4,
         {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
         {10, 20, 20, 10},
         "10, the hypervisor 20; Xen does not use a SLIT in which a node is 10 or nearer to another, or not 10 to "
         "itself; the hypervisor is believed"},
        {"a table that Xen uses, and other distances",
         2,
         {10, 21, 21, 10},
         {10, 20, 20, 10},
         "node 0 to node 1: no such locality, the hypervisor 20; the table has 2 localities, too few for these nodes"},
        {"a table for one node",
         1,
         {10},
         {10, 20, 20, 10},
         "node 0 to node 1: no such locality, the hypervisor 20; the table has 1 locality, too few for these nodes"},
        {"unreachable in the table alone",
         4,
         {[13] = 255, [7] = 17},
         {10, 21, 17, 10},
         "node 0 to node 1: unreachable, the hypervisor 21"},
        {"what no table may say",
         4,
         {[13] = 3, [7] = 17},
         {10, 21, 17, 10},
         "node 0 to node 1: 3, which no SLIT may say, the hypervisor 21"},
        {"the least that a table may say",
         4,
         {[13] = 10, [7] = 17},
         {10, 21, 17, 10},
         "node 0 to node 1: 10, the hypervisor 21"},
    };
    static const Case host = {
        "",  {CPU(3, 0), CPU(1, 1), RAM(3, 0, GIB), RAM(1, GIB, GIB)}, {{GIB, 1, 3, 0, 0}, {GIB, 1, 1, 0, 0}}, 2, 0,
        NULL};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text srat = {0}, slit = {0};
        _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

        build_srat(&host, &srat);
        slit_begin(&slit, cases[i].localities);
        text_add_bytes(&slit, (const char *)cases[i].slit, cases[i].localities * cases[i].localities);
        table_end(&slit);
        s = seal_host(host.nodes, 2, cases[i].hypervisor, &srat, &slit);
        assert_text(cases[i].name, text_of(s, WARNING_SLIT_MISMATCH), cases[i].mismatch);
        assert_null(text_of(s, WARNING_SRAT_MISMATCH));
    }
}

/* Without the PXMs of the nodes a SLIT says nothing about them. */
static void test_slit_alone(void **state)
{
    static const HostNode nodes[] = {{GIB, 1, NO, NO, 0}, {3 * GIB, 1, NO, NO, 0}};
    static const Case off = {"", {TWO, CPU(2, 2)}, {{0, 0, 0, 0, 0}}, 0, 0, NULL};
    _cleanup_text_ Text srat = {0}, slit = {0};
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL, *t = NULL;

    build_srat(&off, &srat);
    slit_begin(&slit, 2);
    put(&slit, 0x0a63630a, 4);
    table_end(&slit);
    s = seal_host(nodes, 2, NULL, NULL, &slit);
    t = seal_host(nodes, 2, NULL, &srat, &slit);
    assert_null(text_of(s, WARNING_SLIT_MISMATCH));
    assert_null(text_of(s, WARNING_SRAT_MISMATCH));
    assert_null(text_of(t, WARNING_SLIT_MISMATCH));
    assert_non_null(text_of(t, WARNING_SRAT_MISMATCH));
}

/* 1023 nodes of 8 CPUs in an order that is not theirs, and all of their distances. */
static void test_largest(void **state)
{
    enum { N = 1023 };
    _cleanup_text_ Text srat = {0}, slit = {0};
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;
    HostNode *nodes = new_array(N, sizeof(*nodes));

    assert_non_null(nodes);
    srat_begin(&srat, 3);
    for (uint32_t cpu = 0; cpu < 8 * N; cpu++)
        put_x2apic(&srat, N - cpu / 8, cpu, ON);
    for (uint32_t i = 0; i < N; i++) {
        put_memory(&srat, N - i, i * 64 * GIB, 32 * GIB, ON);
        put_memory(&srat, N - i, i * 64 * GIB + 33 * GIB, 31 * GIB, ON);
        nodes[i] = (HostNode){.span = 64 * GIB, .cpus = 8};
    }
    table_end(&srat);
    slit_begin(&slit, 1024);
    for (uint32_t i = 0; i < 1024 * 1024; i++)
        put(&slit, i / 1024 == i % 1024 ? 10 : i == 1024 * 5 + 9 ? 77 : 20, 1);
    table_end(&slit);
    s = seal_host(nodes, N, NULL, &srat, &slit);
    free(nodes);
    assert_null(text_of(s, WARNING_SRAT_MISMATCH));
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(s->nodes[i].pxm, N - i);
        assert_int_equal(s->nodes[i].present, 63 * GIB);
    }
    assert_text("largest", text_of(s, WARNING_SLIT_MISMATCH),
                "says 1 other distance than the hypervisor, first from node 1018 to node 1014: 77, the hypervisor 20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_overlapping), cmocka_unit_test(test_broken),
        cmocka_unit_test(test_unreadable), cmocka_unit_test(test_cut_present), cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_slit),       cmocka_unit_test(test_slit_alone),  cmocka_unit_test(test_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
