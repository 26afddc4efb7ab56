/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * What the host offers this request: whether it has what the request names, which nodes' memory counts, and how much of
 * it there is.
 */

static int invalid(char **ret_why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int invalid(char **ret_why, const char *format, ...)
{
    va_list arguments;
    int r;

    va_start(arguments, format);
    r = vasprintf(ret_why, format, arguments);
    va_end(arguments);
    return r < 0 ? -ENOMEM : PLACEMENT_E_INVALID;
}

static bool has_memory(const Node *node)
{
    return node->kind == NODE_CPU_MEMORY || node->kind == NODE_MEMORY;
}

static int check_nodes(const PlacementSearch *q, char **ret_why)
{
    const Snapshot *s = q->snapshot;

    if (!q->request.has_nodes)
        return 0;
    BITMAP_FOREACH (id, &q->request.nodes) {
        if (id >= s->n_nodes || !s->nodes[id].exists)
            return invalid(ret_why, "nodes: there is no node %u", id);
        if (!has_memory(&s->nodes[id]))
            return invalid(ret_why, "nodes: node %u has no memory", id);
    }
    return 0;
}

static int check_cpus(PlacementSearch *q, char **ret_why)
{
    const PlacementRequest *request = &q->request;
    uint32_t id = request->pool == ROW_NO_POOL ? 0 : request->pool;
    const Bitmap *pool = snapshot_pool_cpus(q->snapshot, id);
    unsigned above;
    int r;

    if (!pool)
        return invalid(ret_why, "pool: there is no pool %" PRIu32, id);
    r = bitmap_copy(&q->allowed, pool);
    if (r < 0 || !request->has_cpus)
        return r;
    above = bitmap_next(&request->cpus, (unsigned)q->snapshot->n_cpus);
    if (above != UINT32_MAX)
        return invalid(ret_why, "cpus: there is no CPU %u: the highest is %" PRIu32, above, q->snapshot->max_cpu_id);
    r = bitmap_and(&q->allowed, pool, &request->cpus);
    if (r == 0 && bitmap_isempty(&q->allowed))
        return invalid(ret_why, "cpus: none of them is online in pool %" PRIu32, id);
    return r;
}

static int compare_device(const void *key, const void *element)
{
    return strcmp(key, ((const DeviceRow *)element)->pci);
}

static int check_near(PlacementSearch *q, char **ret_why)
{
    const Snapshot *s = q->snapshot;
    char pci[PCI_TEXT_SIZE];
    const DeviceRow *device;

    q->near = NODE_NONE;
    if (!q->request.near)
        return 0;
    if (!placement_request_pci(q->request.near, pci))
        return invalid(ret_why, "near: \"%s\" is no PCI address", q->request.near);
    device = s->n_devices ? bsearch(pci, s->devices, s->n_devices, sizeof(*s->devices), compare_device) : NULL;
    if (!device)
        return invalid(ret_why, "near: there is no device %s", pci);
    q->near_unknown = device->node == ROW_INVALID;
    q->near = device->node;
    return 0;
}

int search_check(PlacementSearch *q, char **ret_why)
{
    int r = check_nodes(q, ret_why);

    if (r == 0)
        r = check_cpus(q, ret_why);
    q->n_allowed = bitmap_weight(&q->allowed);
    return r == 0 ? check_near(q, ret_why) : r;
}

/* --- distances --- */

/*
 * Distances that are all 10 or all missing tell nothing of which node is near. One distance of another kind is enough,
 * and mostly found at once.
 */
static bool distances_are_flat(const Snapshot *s)
{
    bool all_local = true, none = true;

    for (nodeid_t from = 0; from < s->n_nodes; from++)
        for (nodeid_t to = 0; s->nodes[from].exists && to < s->n_nodes; to++) {
            uint32_t distance = snapshot_distance(s, from, to);

            if (from == to || !s->nodes[to].exists)
                continue;
            all_local = all_local && distance == 10;
            none = none && distance == DISTANCE_NONE;
            if (!all_local && !none)
                return false;
        }
    return true;
}

/* --- which memory counts --- */

static bool host_has_kind(const Snapshot *s, NodeKind kind)
{
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (s->nodes[id].kind == kind)
            return true;
    return false;
}

/* Marks the memory that is nearest to some node with CPUs. */
static int mark_nearest(const PlacementSearch *q, Bitmap *nearest)
{
    const Snapshot *s = q->snapshot;
    int r = 0;

    for (nodeid_t cpu = 0; cpu < s->n_nodes; cpu++) {
        uint32_t best = DISTANCE_NONE;

        if (s->nodes[cpu].kind != NODE_CPU)
            continue;
        for (nodeid_t id = 0; id < s->n_nodes; id++)
            if (has_memory(&s->nodes[id]))
                best = MIN(best, search_distance(q, cpu, id));
        for (nodeid_t id = 0; best != DISTANCE_NONE && r == 0 && id < s->n_nodes; id++)
            if (has_memory(&s->nodes[id]) && search_distance(q, cpu, id) == best)
                r = bitmap_set(nearest, id);
        if (r < 0)
            return r;
    }
    return 0;
}

static void fill_site(PlacementSearch *q, Site *site, nodeid_t id)
{
    const Snapshot *s = q->snapshot;
    const Node *node = &s->nodes[id];

    site->id = id;
    site->asked = q->request.has_nodes && bitmap_isset(&q->request.nodes, id);
    site->available = node->available;
    site->withheld = sub_saturating(node->free, node->available);
    site->unusable = add_saturating(known_or_zero(node->low), known_or_zero(node->claimed));
    site->unusable = add_saturating(site->unusable, node->fragments);
    site->usable = sub_saturating(node->free, site->unusable);
    for (Step step = 0; step < _STEP_MAX; step++)
        site->chunks[step] = node->free_chunks ? placement_chunk_bytes(s, id, STEP_ORDER(step)) : UINT64_MAX;
    site->dirty = node->dirty == VALUE_UNKNOWN ? 0 : node->dirty;
    q->chunked = q->chunked || node->free_chunks;
}

/* The distance from the nearest CPU that the domain may use. */
static uint32_t find_cpu_distance(const PlacementSearch *q, nodeid_t id)
{
    uint32_t distance = DISTANCE_NONE;

    if (q->cpus[id].cpus)
        return 10;
    for (nodeid_t cpu = 0; cpu < q->snapshot->n_nodes; cpu++)
        if (q->cpus[cpu].cpus)
            distance = MIN(distance, search_distance(q, cpu, id));
    return distance;
}

static int add_attached(PlacementSearch *q, Site *site)
{
    const Snapshot *s = q->snapshot;
    const Node *node = &s->nodes[site->id];

    site->attached = q->n_attached;
    for (nodeid_t id = 0; node->tied && id < s->n_nodes; id++) {
        unsigned first = bitmap_next(&s->nodes[id].cpus, 0);

        if (id == site->id || first == UINT32_MAX || !bitmap_isset(&node->local, first))
            continue;
        if ((q->n_attached & (q->n_attached - 1)) == 0) { /* 0, 1, 2, 4...: it is full */
            nodeid_t *more = reallocarray(q->attached, q->n_attached ? 2 * q->n_attached : 1, sizeof(*more));

            if (!more)
                return -ENOMEM;
            q->attached = more;
        }
        q->attached[q->n_attached++] = id;
        site->n_attached++;
    }
    return 0;
}

static int compare_site(const void *key, const void *element)
{
    nodeid_t id = *(const nodeid_t *)key, other = ((const Site *)element)->id;

    return (id > other) - (id < other);
}

static void mark_devices(PlacementSearch *q)
{
    const Snapshot *s = q->snapshot;

    for (size_t i = 0; i < s->n_devices; i++) {
        Site *site = bsearch(&s->devices[i].node, q->sites, q->n_sites, sizeof(*q->sites), compare_site);

        if (site)
            site->device = true;
    }
}

/* Memory without CPUs is used when it is asked for, or when no node has both. */
static int add_sites(PlacementSearch *q, const Bitmap *nearest, bool has_both)
{
    const Snapshot *s = q->snapshot;
    int r = 0;

    for (nodeid_t id = 0; r == 0 && id < s->n_nodes; id++) {
        Site *site = &q->sites[q->n_sites];

        if (!has_memory(&s->nodes[id]))
            continue;
        fill_site(q, site, id);
        if (s->nodes[id].kind == NODE_MEMORY && !site->asked) {
            if (has_both)
                continue;
            site->wide = !bitmap_isset(nearest, id);
        }
        site->near = q->near == NODE_NONE ? 0 : search_distance(q, q->near, id);
        site->cpu_distance = find_cpu_distance(q, id);
        r = add_attached(q, site);
        q->n_sites++;
    }
    return r;
}

int search_find_sites(PlacementSearch *q)
{
    const Snapshot *s = q->snapshot;
    _cleanup_bitmap_ Bitmap nearest = {0};
    bool has_both = host_has_kind(s, NODE_CPU_MEMORY);
    int r = 0;

    q->flat = distances_are_flat(s);
    q->sites = new_array(s->n_nodes, sizeof(*q->sites));
    if (!q->sites)
        return -ENOMEM;
    if (!has_both)
        r = mark_nearest(q, &nearest);
    if (r == 0)
        r = add_sites(q, &nearest, has_both);
    mark_devices(q);
    return r;
}
