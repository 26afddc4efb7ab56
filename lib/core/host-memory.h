/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rows.h"

/*
 * The numbers of a host that change while domains are built: each node's memory, and what each domain holds. A source
 * reads them in one go for a decision (SourceOps.read_memory), domains first and nodes after: what a domain gets in
 * between is then missing twice, never promised twice.
 */

typedef struct DomainMemory {
    domid_t domid;
    bool dying;
    bool has_uuid;
    uint8_t uuid[16];
    char *name;             /* owned; NULL: not known (yet) */
    uint64_t total_pages;   /* VALUE_UNKNOWN */
    uint64_t claimed_pages; /* its outstanding claim; VALUE_UNKNOWN */
    uint64_t *node_pages;   /* owned; n_nodes entries, NULL when unknown */
} DomainMemory;

typedef struct HostMemory {
    uint32_t page_size;
    uint64_t claimed; /* bytes of all outstanding claims; VALUE_UNKNOWN: what the domains have */
    bool node_claims; /* claims name a node; else NodeRow.claimed says nothing and claims are host-wide */
    size_t n_nodes;
    NodeRow *nodes; /* owned; index = node id, as in HostRows */
    size_t n_domains;
    DomainMemory *domains; /* owned, by domid */
} HostMemory;

HostMemory *host_memory_new(size_t n_nodes, size_t n_domains); /* rows of unknowns; NULL when memory is short */
HostMemory *host_memory_free(HostMemory *memory);              /* takes NULL, returns NULL */
DEFINE_CLEANUP(HostMemory *, host_memory_free)

const DomainMemory *host_memory_find(const HostMemory *memory, domid_t domid); /* NULL: no such domain */
