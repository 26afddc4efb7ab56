/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host-memory.h"

HostMemory *host_memory_new(size_t n_nodes, size_t n_domains)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    memory->page_size = 4096;
    memory->claimed = VALUE_UNKNOWN;
    memory->nodes = new_array(n_nodes, sizeof(*memory->nodes));
    memory->domains = new_array(n_domains, sizeof(*memory->domains));
    if (!memory->nodes || !memory->domains)
        return NULL;
    for (; memory->n_nodes < n_nodes; memory->n_nodes++)
        node_row_init(&memory->nodes[memory->n_nodes]);
    for (; memory->n_domains < n_domains; memory->n_domains++)
        memory->domains[memory->n_domains] =
            (DomainMemory){.total_pages = VALUE_UNKNOWN, .claimed_pages = VALUE_UNKNOWN};
    return TAKE_PTR(memory);
}

HostMemory *host_memory_free(HostMemory *memory)
{
    if (!memory)
        return NULL;
    for (size_t i = 0; i < memory->n_nodes; i++)
        free(memory->nodes[i].free_chunks);
    for (size_t i = 0; i < memory->n_domains; i++) {
        free(memory->domains[i].name);
        free(memory->domains[i].node_pages);
    }
    free(memory->nodes);
    free(memory->domains);
    free(memory);
    return NULL;
}

static int compare_domid(const void *key, const void *element)
{
    return (int)*(const domid_t *)key - (int)((const DomainMemory *)element)->domid;
}

const DomainMemory *host_memory_find(const HostMemory *memory, domid_t domid)
{
    return bsearch(&domid, memory->domains, memory->n_domains, sizeof(*memory->domains), compare_domid);
}
