/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>

/*
 * XENMEM_numa_heap: what the nodes' memory is made of, and where each domain's pages are. Records are found by the
 * sizes QUERY gave, since a later Xen may append fields; no record is trusted to lie inside the buffer, no count to
 * be what was asked for.
 */

#define FIXED_SIZE_MAX 4096u        /* of a record; far more than any Xen has reason for */
#define DOMAINS_BUFFER (256u << 10) /* of one DOMAINS call: bounds its time */
#define DOMAINS_MAX_RECORDS 256u

static const char call_name[] = "XENMEM_numa_heap";

/* The hypervisor of this host is not going to learn it: asked once. */
static bool is_missing(int error)
{
    return error == -ENOSYS || error == -EOPNOTSUPP;
}

bool xen_heap_is_denied(int error)
{
    return is_missing(error) || error == -EPERM || error == -EACCES;
}

/* The features that the call would have brought are not there, unless it failed for once. */
static int failed(XenSource *s, int error, unsigned features)
{
    if (xen_heap_is_denied(error))
        s->rows->features &= ~features;
    if (!is_missing(error))
        return xen_call_failed(s, ERROR_XEN, call_name, error);
    return warning_patch_missing(&s->rows->warnings);
}

static int make_room(XenHeap *heap, size_t size)
{
    uint8_t *buffer;

    if (size <= heap->buffer_size)
        return 0;
    buffer = realloc(heap->buffer, size);
    if (!buffer)
        return -ENOMEM;
    heap->buffer = buffer;
    heap->buffer_size = size;
    return 0;
}

/* --- QUERY --- */

static bool size_is_sane(uint32_t size, size_t least)
{
    return size >= least && size <= FIXED_SIZE_MAX;
}

static void take_query(XenHeap *heap, const struct xen_numa_heap *arg, const struct xen_numa_heap_query *query)
{
    if (arg->nr_records != 1 || !size_is_sane(query->node_size, sizeof(struct xen_numa_heap_node)) ||
        !size_is_sane(query->domain_size, sizeof(struct xen_numa_heap_domain)) || arg->nr_nodes > NODES_MAX ||
        arg->nr_orders > XEN_NUMA_HEAP_MAX_ENTRIES) {
        heap->state = XEN_HEAP_MISSING; /* not what the header describes */
        return;
    }
    heap->state = XEN_HEAP_PRESENT;
    heap->features = query->features;
    heap->node_size = query->node_size;
    heap->domain_size = query->domain_size;
    heap->n_nodes = arg->nr_nodes;
    heap->n_orders = arg->nr_orders;
}

static int query(XenSource *s)
{
    struct xen_numa_heap arg = {.version = XEN_NUMA_HEAP_VERSION, .op = XEN_NUMA_HEAP_QUERY, .nr_records = 1};
    struct xen_numa_heap_query record = {0};
    int r = s->calls->ops->numa_heap(s->calls, &arg, &record, sizeof(record));

    xen_spend(s, 1);
    if (r < 0 && !is_missing(r))
        return xen_call_failed(s, ERROR_XEN, call_name, r);
    s->heap.asked = true;
    if (r < 0)
        s->heap.state = XEN_HEAP_MISSING;
    else
        take_query(&s->heap, &arg, &record);
    return 0;
}

static void tell_features(XenSource *s)
{
    static const struct {
        uint32_t bit;
        Feature feature;
    } features[] = {
        {XEN_NUMA_HEAP_F_NODE_PAGES, FEATURE_NODE_PAGES},
        {XEN_NUMA_HEAP_F_NODE_MEMORY, FEATURE_NODE_MEMORY},
        {XEN_NUMA_HEAP_F_FREE_CHUNKS, FEATURE_FREE_CHUNKS},
        {XEN_NUMA_HEAP_F_CLAIMS, FEATURE_CLAIMS},
    };

    for (size_t i = 0; i < ARRAY_SIZE(features); i++)
        if (s->heap.features & features[i].bit)
            s->rows->features |= FEATURE_BIT(features[i].feature);
}

/* --- NODES --- */

static size_t node_stride(const XenHeap *heap)
{
    return heap->node_size + heap->n_orders * sizeof(uint64_t);
}

static int fill_chunks(const XenHeap *heap, NodeRow *node, const uint8_t *entries)
{
    if (!(heap->features & XEN_NUMA_HEAP_F_FREE_CHUNKS) || heap->n_orders == 0)
        return 0;
    node->free_chunks = new_array(heap->n_orders, sizeof(*node->free_chunks));
    if (!node->free_chunks)
        return -ENOMEM;
    node->n_free_chunks = heap->n_orders;
    memcpy(node->free_chunks, entries, heap->n_orders * sizeof(*node->free_chunks));
    return 0;
}

int xen_heap_fill_node(const XenHeap *heap, NodeRow *node, nodeid_t n)
{
    const uint8_t *record = heap->buffer + n * node_stride(heap);
    struct xen_numa_heap_node fixed;

    if (node->size == ROW_HOLE)
        return 0;
    memcpy(&fixed, record, sizeof(fixed));
    if (heap->features & XEN_NUMA_HEAP_F_NODE_MEMORY) {
        node->present = fixed.present * XEN_PAGE_SIZE;
        node->free = fixed.free * XEN_PAGE_SIZE; /* of the same moment as low and dirty */
        node->low = fixed.low * XEN_PAGE_SIZE;
        node->dirty = fixed.dirty * XEN_PAGE_SIZE;
    }
    if (heap->features & XEN_NUMA_HEAP_F_CLAIMS)
        node->claimed = fixed.claimed * XEN_PAGE_SIZE;
    return fill_chunks(heap, node, record + heap->node_size);
}

/* Takes the counts that Xen says it needs. Whether asking again makes sense. */
static bool take_counts(XenHeap *heap, const struct xen_numa_heap *arg, unsigned *retries)
{
    if (*retries == 0 || arg->nr_nodes == 0 || arg->nr_nodes > NODES_MAX || arg->nr_orders > XEN_NUMA_HEAP_MAX_ENTRIES)
        return false;
    (*retries)--;
    heap->n_nodes = arg->nr_nodes;
    heap->n_orders = arg->nr_orders;
    return true;
}

int xen_heap_fetch_nodes(XenSource *s, XenHeap *heap)
{
    struct xen_numa_heap arg;
    unsigned retries = XEN_HEAP_RETRIES;
    int r;

    do {
        size_t size = heap->n_nodes * node_stride(heap);

        arg = (struct xen_numa_heap){.version = XEN_NUMA_HEAP_VERSION,
                                     .op = XEN_NUMA_HEAP_NODES,
                                     .nr_orders = heap->n_orders,
                                     .nr_records = heap->n_nodes};
        r = make_room(heap, size);
        if (r == 0)
            r = s->calls->ops->numa_heap(s->calls, &arg, heap->buffer, size);
        xen_spend(s, 4);
    } while (r == -ERANGE && take_counts(heap, &arg, &retries));
    return r < 0 ? r : (int)MIN(arg.nr_records, heap->n_nodes);
}

static int read_heap_nodes(XenSource *s)
{
    int n = xen_heap_fetch_nodes(s, &s->heap);

    if (n < 0)
        return failed(s, n,
                      FEATURE_BIT(FEATURE_NODE_MEMORY) | FEATURE_BIT(FEATURE_FREE_CHUNKS) |
                          FEATURE_BIT(FEATURE_CLAIMS));
    for (nodeid_t i = 0; i < MIN((size_t)n, s->rows->n_nodes); i++) {
        int r = xen_heap_fill_node(&s->heap, &s->rows->nodes[i], i);

        if (r < 0)
            return r;
    }
    return 0;
}

int xen_read_nodes(XenSource *s)
{
    int r = 0;

    s->heap.retries = XEN_HEAP_RETRIES;
    if (!s->heap.asked)
        r = query(s);
    if (r == 0 && s->heap.state == XEN_HEAP_MISSING)
        r = warning_patch_missing(&s->rows->warnings);
    if (r == 0 && s->heap.state == XEN_HEAP_PRESENT) {
        tell_features(s);
        r = read_heap_nodes(s);
    }
    return r < 0 ? r : xen_read_low(s);
}

/* --- DOMAINS --- */

static int compare_domid(const void *key, const void *element)
{
    return (int)*(const domid_t *)key - (int)((const DomainRow *)element)->domid;
}

int xen_heap_copy_pages(const XenHeap *heap, const XenHeapDomain *from, size_t n_nodes, uint64_t **ret_pages)
{
    if (!(heap->features & XEN_NUMA_HEAP_F_NODE_PAGES) || n_nodes == 0)
        return 0;
    *ret_pages = new_array(n_nodes, sizeof(**ret_pages));
    if (!*ret_pages)
        return -ENOMEM;
    memcpy(*ret_pages, from->pages, MIN(heap->n_nodes, n_nodes) * sizeof(uint64_t));
    return 0;
}

static size_t domain_stride(const XenHeap *heap)
{
    return heap->domain_size + heap->n_nodes * sizeof(uint64_t);
}

XenHeapDomain xen_heap_domain(const XenHeap *heap, unsigned i)
{
    const uint8_t *record = heap->buffer + i * domain_stride(heap);
    XenHeapDomain domain = {.pages = record + heap->domain_size};

    memcpy(&domain.fixed, record, sizeof(domain.fixed));
    return domain;
}

static int fill_domain(XenSource *s, const XenHeapDomain *from)
{
    domid_t domid = (domid_t)from->fixed.domid;
    DomainRow *row = from->fixed.domid < DOMAINS_MAX
                         ? bsearch(&domid, s->rows->domains, s->rows->n_domains, sizeof(*row), compare_domid)
                         : NULL;

    if (!row)
        return 0; /* created since the list was read */
    if (memcmp(s->known[row - s->rows->domains].handle, from->fixed.handle, sizeof(from->fixed.handle)) != 0) {
        s->known[row - s->rows->domains].gone = true; /* another domain with its domid */
        return 0;
    }
    if (from->fixed.flags & XEN_NUMA_HEAP_DOMAIN_DYING)
        row->state = DOMAIN_DYING;
    row->total_pages = from->fixed.total; /* of the same moment as the pages */
    row->claimed_pages = from->fixed.claimed;
    return row->node_pages ? 0 : xen_heap_copy_pages(&s->heap, from, s->rows->n_nodes, &row->node_pages);
}

int xen_heap_fetch_domains(XenSource *s, XenHeap *heap)
{
    uint32_t room = (uint32_t)MIN(DOMAINS_MAX_RECORDS, DOMAINS_BUFFER / domain_stride(heap));
    size_t size = room * domain_stride(heap);
    struct xen_numa_heap arg = {.version = XEN_NUMA_HEAP_VERSION,
                                .op = XEN_NUMA_HEAP_DOMAINS,
                                .nr_nodes = heap->n_nodes,
                                .first_domid = heap->first,
                                .nr_records = room};
    int r = make_room(heap, size);

    if (r == 0)
        r = s->calls->ops->numa_heap(s->calls, &arg, heap->buffer, size);
    xen_spend(s, 8 + (int)MIN(arg.nr_records, room) / 4);
    if (r == -ERANGE && take_counts(heap, &arg, &heap->retries))
        return 0;
    if (r < 0)
        return r;
    if (arg.first_domid > heap->first)
        heap->first = arg.first_domid;
    else if (heap->retries == 0)
        return -ELOOP;
    else
        heap->retries--;
    return (int)MIN(arg.nr_records, room);
}

int xen_read_pages(XenSource *s)
{
    XenHeap *heap = &s->heap;
    int n;

    if (heap->state != XEN_HEAP_PRESENT)
        return 0;
    n = xen_heap_fetch_domains(s, heap);
    if (n < 0)
        return failed(s, n, FEATURE_BIT(FEATURE_NODE_PAGES));
    for (int i = 0; i < n; i++) {
        XenHeapDomain domain = xen_heap_domain(heap, (unsigned)i);
        int r = fill_domain(s, &domain);

        if (r < 0)
            return r;
    }
    return heap->first < XEN_NUMA_HEAP_END;
}
