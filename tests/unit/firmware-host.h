/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/snapshot.h"
#include "tests/unit/tables.h"

/* Hosts with an SRAT: what the hypervisor says of its nodes, and what is expected of each. */

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

static inline void build_srat(const Case *c, Text *table)
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

static inline void add_cpus(HostRows *rows, const HostNode *nodes)
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
static inline Snapshot *seal_host(const HostNode *nodes, size_t n, const uint32_t *distances, const Text *srat,
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

static inline const char *text_of(const Snapshot *s, WarningCode code)
{
    for (size_t i = 0; i < s->warnings.n; i++)
        if (s->warnings.items[i].code == code)
            return s->warnings.items[i].text;
    return NULL;
}

static inline void assert_text(const char *name, const char *text, const char *part)
{
    if (!text != !part || (part && !strstr(text, part)))
        fail_msg("%s: '%s' instead of '%s'", name, text ? text : "nothing", part ? part : "nothing");
}

static inline void run(const Case *c)
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

static inline void run_all(const Case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run(&cases[i]);
}
