/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "srat.h"

/* The nodes a Xen hypervisor makes of an SRAT that it uses. */

typedef struct SratNode {
    uint32_t pxm;
    uint32_t n_cpus;     /* entries: a CPU may have one as APIC and one as x2APIC */
    bool has_memory;     /* also memory of length 0; without memory and CPUs the node is a hole */
    uint64_t start, end; /* spanned, holes included; equal: no memory */
} SratNode;

/* RAM that is there, of one node. */
typedef struct SratExtent {
    uint64_t start, end;
    nodeid_t node;
} SratExtent;

typedef struct SratNodes {
    SratNode *nodes; /* owned; index = node id; the last one is no hole */
    size_t n;
    size_t n_existing; /* that are no holes */
    size_t n_cpus;     /* entries of all nodes */
    bool arm;
    SratExtent *extents; /* owned; by address, each byte once */
    size_t n_extents;
    char *refused; /* owned; for what Xen refuses to use the table; NULL: no reason is known */
    bool overlaps; /* memory does, and that is why: no Xen makes several nodes of such a table */
} SratNodes;

/* 0 or -ENOMEM. */
int srat_nodes_make(const Srat *srat, SratNodes *ret_nodes);
void srat_nodes_done(SratNodes *nodes);

static inline bool srat_node_exists(const SratNode *node)
{
    return node->n_cpus > 0 || node->has_memory;
}
