/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/sim-host.h"
#include "tests/unit/hostdesc.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define PAGES_PER_MIB 256u

/* A simulated host of a description with ' for ". */
static inline SimHost *sim_of(const char *quoted)
{
    SimHost *sim = NULL;

    assert_int_equal(sim_host_new(rows_of(quoted), &sim), 0);
    return sim;
}

typedef struct Start {
    DomainType type;
    uint64_t mib, max_mib;
    const char *nodes; /* affinity; NULL: of its vCPUs */
    uint32_t vcpus;    /* 0: one */
} Start;

static inline int start(SimHost *sim, Start how, domid_t *ret_domid)
{
    _cleanup_bitmap_ Bitmap nodes = {0};
    const SimDomain domain = {
        .type = how.type,
        .pool = ROW_NO_POOL,
        .memory = how.mib * MIB,
        .max_memory = how.max_mib * MIB,
        .vcpus = how.vcpus ? how.vcpus : 1,
        .node_affinity = how.nodes ? &nodes : NULL,
    };

    assert_int_equal(bitmap_parse(&nodes, how.nodes ? how.nodes : "", NODES_MAX - 1), 0);
    return sim_host_create(sim, &domain, ret_domid);
}

static inline uint64_t free_mib(const SimHost *sim, nodeid_t node)
{
    return sim_host_rows(sim)->nodes[node].free / MIB;
}

static inline const DomainRow *row_of(const SimHost *sim, domid_t domid)
{
    const HostRows *rows = sim_host_rows(sim);

    for (size_t i = 0; i < rows->n_domains; i++)
        if (rows->domains[i].domid == domid)
            return &rows->domains[i];
    return NULL;
}
