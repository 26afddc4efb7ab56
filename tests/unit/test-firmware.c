/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/snapshot.h"
#include "tests/unit/tables.h"

/* Firmware tables held against what a hypervisor says: each node's PXM and `present`, and what is reported. */

#define KIB UINT64_C(1024)
#define MIB (KIB << 10)
#define GIB (KIB << 20)
#define NO VALUE_UNKNOWN
#define HOLE ROW_HOLE

enum { END, APIC, X2APIC, GICC, MEMORY, INITIATOR, SHORT };

typedef struct Entry {
    int type;
    uint32_t pxm;
    uint64_t base, length; /* of a CPU `base` is its id */
    uint32_t flags;
} Entry;

#define CPU(pxm, id)         \
    {                        \
        APIC, pxm, id, 0, ON \
    }
#define CPUX(pxm, id)          \
    {                          \
        X2APIC, pxm, id, 0, ON \
    }
#define CORE(pxm, id)        \
    {                        \
        GICC, pxm, id, 0, ON \
    }
#define RAM(pxm, base, length)        \
    {                                 \
        MEMORY, pxm, base, length, ON \
    }
#define SPAN(pxm, base, last)                      \
    {                                              \
        MEMORY, pxm, base, (last) - (base) + 1, ON \
    }
#define HOT(pxm, base, length)                  \
    {                                           \
        MEMORY, pxm, base, length, ON | HOTPLUG \
    }

typedef struct HostNode {
    uint64_t span;
    unsigned cpus;         /* online */
    uint64_t pxm, present; /* expected */
    uint64_t already;      /* present, as the hypervisor says it; 0: it does not */
} HostNode;

typedef struct Case {
    const char *name;
    Entry entries[24];
    HostNode nodes[9];
    size_t n_nodes;
    unsigned revision;    /* 0: 3 */
    const char *mismatch; /* a part of the srat-mismatch; NULL: none */
} Case;

static void build_srat(const Case *c, Text *table)
{
    srat_begin(table, c->revision ? c->revision : 3);
    for (const Entry *e = c->entries; e->type != END; e++) {
        if (e->type == APIC)
            put_apic(table, e->pxm, (uint32_t)e->base, e->flags);
        else if (e->type == X2APIC)
            put_x2apic(table, e->pxm, (uint32_t)e->base, e->flags);
        else if (e->type == GICC)
            put_gicc(table, e->pxm, (uint32_t)e->base, e->flags);
        else if (e->type == MEMORY)
            put_memory(table, e->pxm, e->base, e->length, e->flags);
        else if (e->type == INITIATOR)
            put_initiator(table, e->pxm, HANDLE_PCI, e->flags);
        else
            put_entry(table, 0, 4, 0);
    }
    table_end(table);
}

static void add_cpus(HostRows *rows, const HostNode *nodes)
{
    rows->cpus = new_array(CPUS_MAX, sizeof(*rows->cpus));
    assert_non_null(rows->cpus);
    for (nodeid_t id = 0; id < rows->n_nodes; id++)
        for (unsigned i = 0; i < nodes[id].cpus; i++) {
            rows->cpus[rows->n_cpus] = (CpuRow){.core = (uint32_t)rows->n_cpus, .socket = id, .node = id};
            rows->n_cpus++;
        }
    rows->max_cpu_id = rows->n_cpus ? (uint32_t)rows->n_cpus - 1 : 0;
}

/* distances: n x n, NULL for 10 and 20. */
static Snapshot *seal_host(const HostNode *nodes, size_t n, const uint32_t *distances, const Text *srat,
                           const Text *slit)
{
    HostRows *rows = host_rows_new();
    Snapshot *s = NULL;

    assert_non_null(rows);
    rows->nodes = new_array(n, sizeof(*rows->nodes));
    rows->distances = new_array(n * n, sizeof(*rows->distances));
    assert_true(rows->nodes && rows->distances);
    rows->n_nodes = n;
    for (size_t i = 0; i < n; i++) {
        node_row_init(&rows->nodes[i]);
        rows->nodes[i].size = nodes[i].span;
        rows->nodes[i].free = 0;
        if (nodes[i].already)
            rows->nodes[i].present = nodes[i].already;
    }
    for (size_t i = 0; i < n * n; i++)
        rows->distances[i] = distances ? distances[i] : i / n == i % n ? 10 : 20;
    add_cpus(rows, nodes);
    if (srat || slit)
        assert_int_equal(firmware_new(srat ? (const uint8_t *)srat->data : NULL, srat ? srat->size : 0,
                                      slit ? (const uint8_t *)slit->data : NULL, slit ? slit->size : 0,
                                      &rows->firmware),
                         0);
    assert_int_equal(snapshot_seal(rows, 1, -1, &s), 0);
    return s;
}

static const char *text_of(const Snapshot *s, WarningCode code)
{
    for (size_t i = 0; i < s->warnings.n; i++)
        if (s->warnings.items[i].code == code)
            return s->warnings.items[i].text;
    return NULL;
}

static void assert_text(const char *name, const char *text, const char *part)
{
    if (!text != !part || (part && !strstr(text, part)))
        fail_msg("%s: '%s' instead of '%s'", name, text ? text : "nothing", part ? part : "nothing");
}

static void run(const Case *c)
{
    _cleanup_text_ Text table = {0};
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

    build_srat(c, &table);
    s = seal_host(c->nodes, c->n_nodes, NULL, &table, NULL);
    assert_text(c->name, text_of(s, WARNING_SRAT_MISMATCH), c->mismatch);
    for (size_t i = 0; i < c->n_nodes; i++) {
        const Node *node = &s->nodes[i];

        if (node->exists && (node->pxm != c->nodes[i].pxm || node->present != c->nodes[i].present))
            fail_msg("%s: node %zu has pxm %" PRIu64 " and present %" PRIu64, c->name, i, node->pxm, node->present);
    }
}

static void run_all(const Case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run(&cases[i]);
}

/* Node ids go by the order in which Xen comes across the PXMs: x2APIC, APIC, memory. */
static void test_numbers(void **state)
{
    static const Case cases[] = {
        {"as they come",
         {CPU(0, 0), CPU(0, 1), CPU(1, 2), CPU(1, 3), RAM(0, 0, 2 * GIB), RAM(1, 2 * GIB, 2 * GIB)},
         {{2 * GIB, 2, 0, 2 * GIB, 0}, {2 * GIB, 2, 1, 2 * GIB, 0}},
         2,
         0,
         NULL},
        {"PXM 1 to 4", /* where dom0_nodes=1 means node 0 */
         {CPU(1, 0), CPU(2, 1), CPU(3, 2), CPU(4, 3), RAM(1, 0, GIB), RAM(2, GIB, GIB), RAM(3, 2 * GIB, GIB),
          RAM(4, 3 * GIB, GIB)},
         {{GIB, 1, 1, GIB, 0}, {GIB, 1, 2, GIB, 0}, {GIB, 1, 3, GIB, 0}, {GIB, 1, 4, GIB, 0}},
         4,
         0,
         NULL},
        {"backward, and large",
         {CPU(0xfffffffe, 0), CPU(3, 1), RAM(3, 0, GIB), RAM(0xfffffffe, GIB, 3 * GIB)},
         {{3 * GIB, 1, 0xfffffffe, 3 * GIB, 0}, {GIB, 1, 3, GIB, 0}},
         2,
         0,
         NULL},
        {"x2APIC before APIC, though later in the table",
         {CPU(0, 0), RAM(0, 0, GIB), CPUX(1, 300), RAM(1, GIB, 2 * GIB)},
         {{2 * GIB, 1, 1, 2 * GIB, 0}, {GIB, 1, 0, GIB, 0}},
         2,
         0,
         NULL},
        {"memory last: a PXM without CPUs comes behind those with",
         {RAM(0, 0, GIB), RAM(1, GIB, 2 * GIB), CPU(1, 0)},
         {{2 * GIB, 1, 1, 2 * GIB, 0}, {GIB, 0, 0, GIB, 0}},
         2,
         0,
         NULL},
        {"an x2APIC id that no Xen has room for gives no node",
         {CPUX(7, 0xffffffff), CPUX(7, 0x10000), CPUX(0, 0), CPUX(1, 1), RAM(0, 0, GIB), RAM(1, GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}, {GIB, 1, 1, GIB, 0}},
         2,
         0,
         NULL},
        {"revision 1 with garbage in the reserved bits of a PXM",
         {CPU(0x5a5a5a00, 0), CPU(0xffffff01, 1), RAM(0xffffff00, 0, GIB), RAM(0x12345601, GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}, {GIB, 1, 1, GIB, 0}},
         2,
         1,
         NULL},
        {"entries that are not enabled", /* of PXM 5 and 6 */
         {{APIC, 5, 9, 0, 0}, CPU(0, 0), {MEMORY, 6, 0, GIB, HOTPLUG}, RAM(0, 0, GIB)},
         {{GIB, 1, 0, GIB, 0}},
         1,
         0,
         NULL},
        {"a PXM of generic initiators alone is no node",
         {{INITIATOR, 9, 0, 0, ON}, CPU(0, 0), RAM(0, 0, GIB), CPU(1, 1), RAM(1, GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}, {GIB, 1, 1, GIB, 0}},
         2,
         0,
         NULL},
        {"more CPUs in the table than are online",
         {CPU(0, 0), CPU(0, 1), CPUX(0, 0), CPU(1, 2), CPU(1, 3), RAM(0, 0, GIB), RAM(1, GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}, {GIB, 0, 1, GIB, 0}},
         2,
         0,
         NULL},
        {"CPUs that the table leaves out are on node 0",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, GIB), RAM(1, GIB, GIB)},
         {{GIB, 5, 0, GIB, 0}, {GIB, 1, 1, GIB, 0}},
         2,
         0,
         NULL},
        {"AArch64",
         {CORE(2, 0), CORE(2, 1), CORE(0, 0x100), RAM(0, GIB, GIB), RAM(2, 2 * GIB, GIB)},
         {{GIB, 2, 2, GIB, 0}, {GIB, 1, 0, GIB, 0}},
         2,
         0,
         NULL},
        {"one node is the usual case",
         {CPU(0, 0), CPU(0, 1), RAM(0, 0, 640 * KIB), RAM(0, MIB, 2 * GIB - MIB)},
         {{2 * GIB, 2, 0, 2 * GIB - 384 * KIB, 0}},
         1,
         0,
         NULL},
        {"a table without content on a host of one node", {{END, 0, 0, 0, 0}}, {{GIB, 1, NO, NO, 0}}, 1, 0, NULL},
    };

    run_all(cases, ARRAY_SIZE(cases));
}

/* `present` is the sum of what is there; the span has holes in it. */
static void test_present(void **state)
{
    static const Case cases[] = {
        {"a hole below 4 GiB", /* 67584 MiB spanned, 65536 present */
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 2 * GIB), RAM(0, 4 * GIB, 62 * GIB), RAM(1, 66 * GIB, 64 * GIB)},
         {{67584 * MIB, 1, 0, 65536 * MIB, 0}, {65536 * MIB, 1, 1, 65536 * MIB, 0}},
         2,
         0,
         NULL},
        {"many ranges a node",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 640 * KIB), RAM(0, MIB, GIB - MIB), RAM(0, 4 * GIB, GIB),
          RAM(0, 5 * GIB, GIB), RAM(0, 7 * GIB, GIB), RAM(1, 8 * GIB, GIB), RAM(1, 10 * GIB, GIB)},
         {{8 * GIB, 1, 0, 4 * GIB - 384 * KIB, 0}, {3 * GIB, 1, 1, 2 * GIB, 0}},
         2,
         0,
         NULL},
        {"ranges of an Arm server that lie far apart, and two nodes without CPUs",
         {CORE(0, 0), CORE(1, 0x10000), SPAN(2, 0x88300000, 0x883fffff), SPAN(2, 0x90000000, 0xbfffffff),
          SPAN(0, 0x80000000000, 0x8007fffffff), SPAN(0, 0x800c0000000, 0x83fffffffff), SPAN(3, 0xc2000000, 0xffffffff),
          SPAN(1, 0x400000000000, 0x4000bfffffff)},
         {{0x4000000000, 1, 0, 0x3fc0000000, 0},
          {0xc0000000, 1, 1, 0xc0000000, 0},
          {0x37d00000, 0, 2, 0x30100000, 0},
          {0x3e000000, 0, 3, 0x3e000000, 0}},
         4,
         0,
         NULL},
        {"AMD Turin",
         {CPU(0, 0), CPU(1, 1), SPAN(0, 0, 0x9ffff), SPAN(0, 0xc0000, 0xafffffff), SPAN(0, 0x100000000, 0xc04fffffff),
          SPAN(1, 0xc050000000, 0xfc4fffffff), SPAN(1, 0x10000000000, 0x183ffffffff)},
         {{0xc050000000, 1, 0, 0xa0000 + 0xaff40000 + 0xbf50000000, 0},
          {0xc3b0000000, 1, 1, 0x3c00000000 + 0x8400000000, 0}},
         2,
         0,
         NULL},
        {"AMD, not yet for sale",
         {CPU(0, 0), CPU(1, 1), SPAN(0, 0, 0xafffffff), SPAN(0, 0x100000000, 0xfc4fffffff),
          SPAN(0, 0x10000000000, 0x103ffffffff), SPAN(1, 0x10400000000, 0x203ffffffff)},
         {{0x10400000000, 1, 0, 0xb0000000 + 0xfb50000000 + 0x400000000, 0}, {0x10000000000, 1, 1, 0x10000000000, 0}},
         2,
         0,
         NULL},
        {"the least case of ranges that are not aligned",
         {CPU(0, 0), CPU(1, 1), SPAN(0, 0, 0xfff), SPAN(0, 0x1000, 0x4fff), SPAN(1, 0x14000, 0x14fff)},
         {{0x5000, 1, 0, 0x5000, 0}, {0x1000, 1, 1, 0x1000, 0}},
         2,
         0,
         NULL},
        {"room for memory above the top is not memory",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 2 * GIB), RAM(1, 2 * GIB, 2 * GIB), HOT(0, 1024 * GIB, 1024 * GIB),
          HOT(1, 2048 * GIB, 1024 * GIB)},
         {{2 * GIB, 1, 0, 2 * GIB, 0}, {2 * GIB, 1, 1, 2 * GIB, 0}},
         2,
         0,
         NULL},
        {"memory that is not RAM is spanned, not present",
         {CPU(0, 0),
          CPU(1, 1),
          RAM(0, 0, 2 * GIB),
          {MEMORY, 0, 2 * GIB, 2 * GIB, ON | NONVOLATILE},
          RAM(1, 4 * GIB, GIB)},
         {{4 * GIB, 1, 0, 2 * GIB, 0}, {GIB, 1, 1, GIB, 0}},
         2,
         0,
         NULL},
        {"what a table says twice counts once",
         {CPU(0, 0), RAM(0, 0, 2 * GIB), RAM(0, GIB, 2 * GIB), RAM(0, GIB, GIB)},
         {{3 * GIB, 1, 0, 3 * GIB, 0}},
         1,
         0,
         NULL},
        {"mem=5G cuts the host",
         {CPU(0, 0), CPU(1, 1), CPU(2, 2), RAM(0, 0, 2 * GIB), RAM(0, 3 * GIB, GIB), RAM(1, 4 * GIB, 4 * GIB),
          RAM(2, 8 * GIB, 4 * GIB)},
         {{4 * GIB, 1, 0, 3 * GIB, 0}, {GIB, 1, 1, GIB, 0}, {0, 1, 2, 0, 0}},
         3,
         0,
         NULL},
        {"the hypervisor's own word stays",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 2 * GIB), RAM(1, 2 * GIB, 2 * GIB)},
         {{2 * GIB, 1, 0, 1999 * MIB, 1999 * MIB}, {2 * GIB, 1, 1, 2 * GIB, 0}},
         2,
         0,
         NULL},
        {"never more than the hypervisor spans",
         {CPU(0, 0), RAM(0, 0, 2 * GIB)},
         {{2 * GIB - MIB, 1, 0, 2 * GIB - MIB, 0}},
         1,
         0,
         NULL},
    };

    run_all(cases, ARRAY_SIZE(cases));
}

static void test_shapes(void **state)
{
    static const Case cases[] = {
        {"nodes without memory, without CPUs",
         {CPU(0, 0), CPU(1, 1), CPU(3, 3), RAM(0, 0, GIB), RAM(3, GIB, GIB), RAM(2, 2 * GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}, {0, 1, 1, 0, 0}, {GIB, 1, 3, GIB, 0}, {GIB, 0, 2, GIB, 0}},
         4,
         0,
         NULL},
        {"a PXM of room for memory alone is a hole",
         {CPU(0, 0), RAM(0, 0, GIB), HOT(5, 1024 * GIB, GIB), RAM(1, GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}, {HOLE, 0, NO, NO, 0}, {GIB, 0, 1, GIB, 0}},
         3,
         0,
         NULL},
        {"and behind the last node nothing",
         {CPU(0, 0), RAM(0, 0, GIB), HOT(5, 1024 * GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}},
         1,
         0,
         NULL},
        {"a PXM of no bytes at all is a node",
         {CPU(0, 0), RAM(0, 0, GIB), RAM(4, 0, 0), RAM(1, GIB, GIB)},
         {{GIB, 1, 0, GIB, 0}, {0, 0, 4, 0, 0}, {GIB, 0, 1, GIB, 0}},
         3,
         0,
         NULL},
        {"holes are elsewhere",
         {CPU(0, 0), RAM(0, 0, GIB), HOT(5, 1024 * GIB, GIB), RAM(1, GIB, GIB), RAM(2, 2 * GIB, GIB)},
         {{GIB, 1, NO, NO, 0}, {GIB, 0, NO, NO, 0}, {HOLE, 0, NO, NO, 0}, {GIB, 0, NO, NO, 0}},
         4,
         0,
         "the firmware's SRAT makes nodes 0,2-3, the hypervisor has nodes 0-1,3"},
        {"ids go further than the table's",
         {CPU(0, 0), RAM(0, 0, GIB), RAM(1, GIB, GIB)},
         {{GIB, 1, NO, NO, 0}, {HOLE, 0, NO, NO, 0}, {GIB, 0, NO, NO, 0}},
         3,
         0,
         "the highest node of the firmware's SRAT is 1, of the hypervisor 2"},
        {"ranges of one node around those of another, in the order in which Xen takes them",
         {CPU(0, 0), CPU(1, 1), RAM(0, 0, 4 * GIB), RAM(0, 8 * GIB, 4 * GIB), RAM(1, 4 * GIB, 4 * GIB)},
         {{12 * GIB, 1, 0, 8 * GIB, 0}, {4 * GIB, 1, 1, 4 * GIB, 0}},
         2,
         0,
         NULL},
    };

    run_all(cases, ARRAY_SIZE(cases));
}

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
         "memory, as its option numa=fake=4 makes them"},
        {"numa=fake=2",
         {TWO},
         {{8 * GIB, 1, NO, NO, 0}, {8 * GIB, 1, NO, NO, 0}},
         2,
         0,
         "as its option numa=fake=2 makes them"},
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
        {"more CPUs than the table has room for",
         {CPU(0, 0), CPU(0, 1), CPU(0, 2), CPU(1, 3), RAM(0, 0, 3 * GIB), RAM(1, 3 * GIB, 2 * GIB)},
         {{3 * GIB, 2, NO, NO, 0}, {2 * GIB, 2, NO, NO, 0}},
         2,
         0,
         "node 1 has 2 CPU(s) online; by the firmware's SRAT it is PXM 1, which has room for 1"},
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
    assert_int_equal(t->nodes[0].pxm, NO);
    assert_int_equal(t->nodes[0].present, NO);
    u = seal_host(bad.nodes, 1, NULL, NULL, NULL); /* no tables: nothing to say */
    assert_null(text_of(u, WARNING_SRAT_INVALID));
    assert_null(text_of(u, WARNING_SRAT_MISMATCH));
    assert_int_equal(u->nodes[0].pxm, NO);
    assert_int_equal(u->nodes[0].present, NO);
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
         "the firmware's SLIT says other distances than the hypervisor in 2 place(s), first from node 0 to node 1: 22, "
         "the hypervisor 21"},
        {"one way only",
         4,
         {[13] = 21, [7] = 254},
         {10, 21, UINT32_MAX, 10},
         "in 1 place(s), first from node 1 to node 0: 254, the hypervisor nothing"},
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
         "nothing, the hypervisor 20; the table has 2 localities, too few for these nodes"},
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
                "in 1 place(s), first from node 1018 to node 1014: 77, the hypervisor 20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_present), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_broken),  cmocka_unit_test(test_slit),
        cmocka_unit_test(test_slit_alone), cmocka_unit_test(test_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
