/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "seal.h"

#include "locality.h"
#include "seal-topology.h"
#include "utf8.h"

/*
 * The topology is judged in one step: it is bounded by how many nodes and CPUs there may be. Then come the domains, as
 * many a step as make about SEAL_WORK numbers to look at: first each row is taken over, then, in order and with every
 * name in place, each domain's locality is measured.
 */

#define SEAL_WORK 100000u

typedef enum SealStage { SEAL_TOPOLOGY, SEAL_DOMAINS, SEAL_LOCALITY, SEAL_DONE } SealStage;

struct Seal {
    HostRows *rows;
    Snapshot *snapshot;
    LocalityMeter *meter;
    SealStage stage;
    size_t cursor; /* domain */
};

static Snapshot *new_snapshot(HostRows *rows, const SealOptions *options)
{
    Snapshot *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    *s = (Snapshot){
        .refs = 1,
        .generation = options->generation,
        .time_us = options->time_us,
        .backend = rows->backend,
        .simulated = rows->simulated,
        .xen_version = TAKE_PTR(rows->xen_version),
        .page_size = rows->page_size,
        .features = rows->features,
        .max_cpu_id = rows->max_cpu_id,
        .total = rows->total,
        .free = rows->free,
        .claimed = rows->claimed,
        .spare = VALUE_UNKNOWN,
        .has_dom0_view = rows->has_dom0_view,
        .dom0_nodes = rows->dom0_nodes,
        .dom0_cpus = rows->dom0_cpus,
        .warnings = rows->warnings,
    };
    rows->warnings = (WarningList){0};
    return s;
}

Seal *seal_free(Seal *seal)
{
    if (!seal)
        return NULL;
    host_rows_free(seal->rows);
    snapshot_unref(seal->snapshot);
    locality_meter_free(seal->meter);
    free(seal);
    return NULL;
}

int seal_new(HostRows *consumed, const SealOptions *options, Seal **ret_seal)
{
    _cleanup_(host_rows_free_p) HostRows *rows = consumed;
    _cleanup_(seal_free_p) Seal *seal = NULL;

    if (rows->n_nodes > NODES_MAX || rows->n_cpus > CPUS_MAX || rows->page_size == 0)
        return -EINVAL;
    seal = calloc(1, sizeof(*seal));
    if (!seal)
        return -ENOMEM;
    seal->snapshot = new_snapshot(rows, options);
    if (!seal->snapshot)
        return -ENOMEM;
    seal->rows = TAKE_PTR(rows);
    *ret_seal = TAKE_PTR(seal);
    return 0;
}

static int seal_host(Seal *seal)
{
    Snapshot *s = seal->snapshot;
    int r = utf8_replace(&s->xen_version);

    if (r == 0)
        r = seal_topology(s, seal->rows);
    if (r == 0)
        r = locality_meter_new(s, &seal->meter);
    if (r < 0)
        return r;
    s->domains = new_array(seal->rows->n_domains, sizeof(*s->domains));
    return s->domains ? 0 : -ENOMEM;
}

static int compare_domain(const void *a, const void *b)
{
    return (int)((const Domain *)a)->row.domid - (int)((const Domain *)b)->row.domid;
}

/* Takes the domain's row over. What it cost is added to *work. */
static int take_domain(Seal *seal, size_t *work)
{
    Snapshot *s = seal->snapshot;
    DomainRow *from = &seal->rows->domains[s->n_domains], *to = &s->domains[s->n_domains].row;

    *to = *from;
    *from = (DomainRow){0};
    s->n_domains++; /* what was taken over is freed with the snapshot */
    *work += 100;   /* about what looking at that many numbers costs */
    if (!(s->features & FEATURE_BIT(FEATURE_NODE_PAGES))) {
        free(to->node_pages);
        to->node_pages = NULL;
    }
    return utf8_replace(&to->name);
}

/* 1: there are more. 0: all are taken over. */
static int take_domains(Seal *seal)
{
    Snapshot *s = seal->snapshot;
    size_t work = 0;

    while (s->n_domains < seal->rows->n_domains) {
        int r = work < SEAL_WORK ? take_domain(seal, &work) : 1;

        if (r != 0)
            return r;
    }
    qsort(s->domains, s->n_domains, sizeof(*s->domains), compare_domain);
    return 0;
}

/* 1: there are more. 0: all are measured. */
static int measure_domains(Seal *seal)
{
    Snapshot *s = seal->snapshot;
    size_t work = 0;

    for (; seal->cursor < s->n_domains; seal->cursor++) {
        int r = work < SEAL_WORK ? locality_measure(seal->meter, &s->domains[seal->cursor], &work) : 1;

        if (r != 0)
            return r;
    }
    return 0;
}

int seal_step(Seal *seal, Snapshot **ret_snapshot)
{
    static int (*const stages[])(Seal *) = {
        [SEAL_TOPOLOGY] = seal_host,
        [SEAL_DOMAINS] = take_domains,
        [SEAL_LOCALITY] = measure_domains,
    };
    int r = stages[seal->stage](seal);

    if (r != 0)
        return r;
    if (++seal->stage != SEAL_DONE)
        return 1;
    *ret_snapshot = TAKE_PTR(seal->snapshot);
    return 0;
}

int snapshot_seal(HostRows *rows, uint64_t generation, int64_t time_us, Snapshot **ret_snapshot)
{
    const SealOptions options = {.generation = generation, .time_us = time_us};
    _cleanup_(seal_free_p) Seal *seal = NULL;
    int r = seal_new(rows, &options, &seal);

    if (r < 0)
        return r;
    do
        r = seal_step(seal, ret_snapshot);
    while (r > 0);
    return r;
}
