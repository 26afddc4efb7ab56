/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sim-alloc.h"
#include "sim-host.h"

/* What the files of the simulated host share. */

/* What the model knows of a domain beside its row. */
typedef struct SimRecord {
    SimHolding memory, overhead; /* no arrays: nothing was done to it yet */
    nodeid_t last;               /* that it got memory from; NODE_NONE: none yet */
    bool building;
    unsigned step;           /* of the builder */
    uint64_t left;           /* pages that it still lacks */
    uint64_t overhead_pages; /* it will get when it is built */
} SimRecord;

struct SimHost {
    HostRows *rows;
    SimNodes nodes;
    SimRecord *records; /* owned; of the row of the same index */
    size_t capacity;    /* of rows->domains and records */
    domid_t rover;      /* the last domid given */
    uint64_t claims;    /* pages of all outstanding claims */
    SimHolding taken;   /* by sim_host_take() */
};

#define SIM_DOMAIN_NONE SIZE_MAX
size_t sim_find(const SimHost *host, domid_t domid); /* index of its row; SIM_DOMAIN_NONE */

/* Adds a row and its record. 0, SIM_E_NO_MEMORY (no domid), SIM_E_NO_NODE or -ENOMEM. */
int sim_add_domain(SimHost *host, const SimDomain *domain, size_t *ret_index);
void sim_remove_domain(SimHost *host, size_t index);
/* What its arrays are for: a domain that was there before has its pages where its row says, or where its node affinity
 * does. 0 or -ENOMEM. */
int sim_know_holding(SimHost *host, size_t index);
/* The row says what the record and the nodes do. */
void sim_tell(SimHost *host, size_t index);
/* Nodes of the host's own, or of the set's that there are. */
int sim_affinity(const SimHost *host, const SimDomain *domain, const VcpuRows *vcpus, Bitmap *ret_nodes);
/* Pages that may be taken without a claim. */
uint64_t sim_unclaimed(const SimHost *host);
void sim_set_claim(SimHost *host, size_t index, uint64_t pages);
/* Brings the host's own total up to date; `before` is what sim_nodes_free() was. */
void sim_count_free(SimHost *host, uint64_t before);
