/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>

/*
 * What a decision needs, read at once: the list of domains, their pages, and last the nodes' free memory. It has
 * buffers and places in the list of its own, so that a collection under way goes on as if nothing had been. What does
 * not change from one second to the next (how many nodes there are, what they span, Xen's DMA width) is the last
 * collection's.
 *
 * Which domain has a domid is believed of the list alone. Where XENMEM_numa_heap, a moment later, tells of another
 * handle, the pages are another's and so not known.
 *
 * Without the domains or the nodes' numbers there is nothing to decide on, so that ends it; pages that cannot be read
 * are unknown.
 */

#define CALLS_MAX 4096u /* of DOMAINS: more than any host needs, fewer than one that gets on by single domids */

static int failed(XenSource *s, int r)
{
    s->source.errors[ERROR_XEN]++;
    return r;
}

/* --- domains --- */

static int fetch_list(XenSource *s, XenList *list)
{
    int r;

    do {
        r = xen_list_make_room(list);
        if (r < 0)
            return r;
        r = xen_list_fetch(s, list);
    } while (r > 0);
    return r < 0 ? failed(s, r) : 0;
}

static void fill_domain(DomainMemory *domain, const XenDomInfo *info)
{
    domain->domid = info->domid;
    domain->dying = info->flags & XEN_DOMAIN_DYING;
    domain->has_uuid = xen_has_uuid(info);
    memcpy(domain->uuid, info->handle, sizeof(domain->uuid));
    domain->total_pages = info->tot_pages;
    domain->claimed_pages = info->outstanding_pages;
}

static void fill_domains(HostMemory *memory, const XenList *list)
{
    for (size_t i = 0; i < list->n; i++)
        fill_domain(&memory->domains[i], &list->infos[i]);
}

/* --- their pages --- */

/* All records of a call; `list` and the records are in order of domids, *i is where in the list to look on. */
static int take_records(const XenHeap *heap, int n, const XenList *list, size_t *i, HostMemory *memory)
{
    for (int j = 0; j < n; j++) {
        XenHeapDomain record = xen_heap_domain(heap, (unsigned)j);
        DomainMemory *domain;
        int r;

        while (*i < list->n && list->infos[*i].domid < record.fixed.domid)
            (*i)++;
        if (*i == list->n)
            return 0;
        domain = &memory->domains[*i];
        if (domain->domid != record.fixed.domid || domain->node_pages ||
            memcmp(list->infos[*i].handle, record.fixed.handle, sizeof(record.fixed.handle)) != 0)
            continue;
        domain->dying |= record.fixed.flags & XEN_NUMA_HEAP_DOMAIN_DYING;
        domain->total_pages = record.fixed.total; /* of the same moment as the pages */
        domain->claimed_pages = record.fixed.claimed;
        r = xen_heap_copy_pages(heap, &record, memory->n_nodes, &domain->node_pages);
        if (r < 0)
            return r;
    }
    return 0;
}

/* 0 or -ENOMEM. What could not be read is unknown. */
static int read_pages(XenSource *s, const XenList *list, HostMemory *memory)
{
    XenHeap *heap = &s->heap_now;
    unsigned calls = 0;
    size_t i = 0;

    heap->first = 0;
    heap->retries = XEN_HEAP_RETRIES;
    while (heap->first < XEN_NUMA_HEAP_END && calls++ < CALLS_MAX) {
        int n = xen_heap_fetch_domains(s, heap);
        int r = n < 0 ? 0 : take_records(heap, n, list, &i, memory);

        if (r < 0)
            return r;
        if (n < 0) {
            failed(s, n);
            return 0;
        }
    }
    return 0;
}

/* --- nodes --- */

/* Free memory as every Xen tells it. */
static int read_numainfo(XenSource *s, HostMemory *memory)
{
    uint32_t n = (uint32_t)memory->n_nodes;
    _cleanup_free_ char *buffer = new_array(n, sizeof(XenMemInfo)), *distances = NULL;
    const XenMemInfo *nodes = (XenMemInfo *)(void *)buffer;
    int r;

    distances = new_array((size_t)n * n, sizeof(uint32_t));
    if (!nodes || !distances)
        return -ENOMEM;
    r = s->calls->ops->numainfo(s->calls, &n, (XenMemInfo *)(void *)buffer, (uint32_t *)(void *)distances);
    if (r == 0 && n != memory->n_nodes)
        r = -ESTALE;
    for (nodeid_t i = 0; r == 0 && i < memory->n_nodes; i++) {
        NodeRow *row = &memory->nodes[i];

        row->size = nodes[i].size;
        row->free = nodes[i].free;
        if (s->dma.known && row->size != ROW_HOLE)
            r = xen_fetch_low(s, row, i);
    }
    return r < 0 ? failed(s, r) : 0;
}

static int read_heap(XenSource *s, HostMemory *memory)
{
    XenHeap *heap = &s->heap_now;
    int n = xen_heap_fetch_nodes(s, heap);

    if (n < 0)
        return failed(s, n);
    if ((size_t)n < memory->n_nodes)
        return failed(s, -ESTALE);
    for (nodeid_t i = 0; i < memory->n_nodes; i++) {
        int r;

        memory->nodes[i].size = s->topology.nodes[i].size;
        r = xen_heap_fill_node(heap, &memory->nodes[i], i);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_nodes(XenSource *s, HostMemory *memory)
{
    const XenHeap *heap = &s->heap_now;
    int r = -ENOSYS;

    if (heap->state == XEN_HEAP_PRESENT && heap->features & XEN_NUMA_HEAP_F_NODE_MEMORY)
        r = read_heap(s, memory);
    if (xen_heap_is_denied(r))
        r = read_numainfo(s, memory);
    return r;
}

/* What the collections learned of the hypercall; the buffer stays. */
static void begin_heap(XenSource *s)
{
    XenHeap *now = &s->heap_now;
    uint8_t *buffer = now->buffer;
    size_t size = now->buffer_size;

    *now = s->heap;
    now->buffer = buffer;
    now->buffer_size = size;
}

static int read_memory(XenSource *s, XenList *list, HostMemory **ret_memory)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    int r = fetch_list(s, list);

    if (r < 0)
        return r;
    memory = host_memory_new(s->topology.n_nodes, list->n);
    if (!memory)
        return -ENOMEM;
    memory->page_size = XEN_PAGE_SIZE;
    begin_heap(s);
    memory->node_claims = s->heap_now.features & XEN_NUMA_HEAP_F_CLAIMS;
    fill_domains(memory, list);
    if (s->heap_now.state == XEN_HEAP_PRESENT)
        r = read_pages(s, list, memory);
    if (r == 0)
        r = read_nodes(s, memory);
    if (r == 0)
        *ret_memory = TAKE_PTR(memory);
    return r;
}

int xen_read_memory(Source *source, HostMemory **ret_memory)
{
    XenSource *s = (XenSource *)source;
    XenList list = {0};
    int r = s->topology.n_nodes ? read_memory(s, &list, ret_memory) : -ENODATA; /* no collection has been yet */

    free(list.infos);
    return r;
}
