/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim-parts.h"

#include <string.h>

static bool tells(const HostRows *rows, Feature feature)
{
    return rows->features & FEATURE_BIT(feature);
}

static int copy_counts(uint64_t **to, const uint64_t *from, size_t n)
{
    *to = new_array(n, sizeof(**to));
    if (!*to)
        return -ENOMEM;
    memcpy(*to, from, n * sizeof(**to));
    return 0;
}

static int fill_node(const HostRows *rows, const NodeRow *from, NodeRow *to)
{
    *to = *from;
    to->free_chunks = NULL;
    to->n_free_chunks = 0;
    if (!tells(rows, FEATURE_NODE_MEMORY))
        to->dirty = VALUE_UNKNOWN;
    if (!tells(rows, FEATURE_CLAIMS))
        to->claimed = VALUE_UNKNOWN;
    if (!tells(rows, FEATURE_FREE_CHUNKS) || !from->free_chunks)
        return 0;
    to->n_free_chunks = from->n_free_chunks;
    return copy_counts(&to->free_chunks, from->free_chunks, from->n_free_chunks);
}

static int fill_domain(const HostRows *rows, const DomainRow *from, DomainMemory *to)
{
    to->domid = from->domid;
    to->dying = from->state == DOMAIN_DYING;
    to->has_uuid = from->has_uuid;
    memcpy(to->uuid, from->uuid, sizeof(to->uuid));
    to->total_pages = from->total_pages;
    to->claimed_pages = from->claimed_pages;
    if (!tells(rows, FEATURE_NODE_PAGES) || !from->node_pages)
        return 0;
    return copy_counts(&to->node_pages, from->node_pages, rows->n_nodes);
}

static int compare_domids(const void *a, const void *b)
{
    return (int)((const DomainMemory *)a)->domid - (int)((const DomainMemory *)b)->domid;
}

HostMemory *sim_host_memory(const SimHost *host)
{
    const HostRows *rows = host->rows;
    _cleanup_(host_memory_free_p) HostMemory *memory = host_memory_new(rows->n_nodes, rows->n_domains);

    if (!memory)
        return NULL;
    memory->page_size = rows->page_size;
    memory->claimed = rows->claimed;
    memory->node_claims = tells(rows, FEATURE_CLAIMS);
    for (size_t i = 0; i < rows->n_nodes; i++)
        if (fill_node(rows, &rows->nodes[i], &memory->nodes[i]) < 0)
            return NULL;
    for (size_t i = 0; i < rows->n_domains; i++)
        if (fill_domain(rows, &rows->domains[i], &memory->domains[i]) < 0)
            return NULL;
    qsort(memory->domains, memory->n_domains, sizeof(*memory->domains), compare_domids);
    return TAKE_PTR(memory);
}
