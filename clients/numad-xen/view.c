/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view.h"

#include <math.h>

HostView host_view_read(struct json_object *document)
{
    struct json_object *host = value_get(document, "host"), *memory = value_get(host, "memory");

    return (HostView){
        .backend = value_bytes(host, "backend"),
        .xen_version = value_bytes(host, "xen_version"),
        .simulated = value_true(host, "simulated"),
        .page_size = value_u64(host, "page_size"),
        .max_cpu_id = value_u64(host, "max_cpu_id"),
        .online_cpus = value_u64(host, "online_cpus"),
        .total = value_u64(memory, "total"),
        .free = value_u64(memory, "free"),
        .claimed = value_u64(memory, "claimed"),
        .features = value_array(host, "features"),
        .warnings = value_array(host, "warnings"),
    };
}

bool host_view_warns(const HostView *host, const char *code)
{
    for (size_t i = 0; i < value_count(host->warnings); i++)
        if (bytes_equal(value_bytes(value_at(host->warnings, i), "code"), code))
            return true;
    return false;
}

static NodeView read_node(struct json_object *row, nodeid_t id)
{
    struct json_object *memory = value_get(row, "memory");
    NodeView node = {
        .id = id,
        .kind = value_bytes(row, "kind"),
        .pxm = value_u64(row, "pxm"),
        .cores = value_u64(row, "cores"),
        .span = value_u64(memory, "span"),
        .present = value_u64(memory, "present"),
        .free = value_u64(memory, "free"),
        .low = value_u64(memory, "low"),
        .dirty = value_u64(memory, "dirty"),
        .claimed = value_u64(memory, "claimed"),
        .reserved = value_u64(memory, "reserved"),
        .available = value_u64(memory, "available"),
        .vcpus = value_ratio(row, "vcpus"),
        .distances = value_array(row, "distances"),
    };

    if (value_set(row, "cpus", CPUS_MAX - 1, &node.cpus))
        node.cpus_text = value_bytes(row, "cpus");
    return node;
}

static int compare_node(const void *a, const void *b)
{
    const NodeView *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

int node_views_read(struct json_object *document, NodeViews *ret_nodes)
{
    struct json_object *rows = value_array(document, "nodes");
    size_t n = value_count(rows);
    NodeViews nodes = {.items = new_array(n, sizeof(*nodes.items))};

    if (!nodes.items)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct json_object *row = value_at(rows, i);
        uint64_t id = value_u64(row, "node");

        if (id < NODES_MAX)
            nodes.items[nodes.n++] = read_node(row, (nodeid_t)id);
    }
    qsort(nodes.items, nodes.n, sizeof(*nodes.items), compare_node);
    *ret_nodes = nodes;
    return 0;
}

void node_views_done(NodeViews *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        bitmap_done(&nodes->items[i].cpus);
    free(nodes->items);
    *nodes = (NodeViews){0};
}

const NodeView *node_views_find(const NodeViews *nodes, nodeid_t id)
{
    NodeView key = {.id = id};

    return nodes->n ? bsearch(&key, nodes->items, nodes->n, sizeof(key), compare_node) : NULL;
}

uint64_t node_view_total(const NodeView *node)
{
    return node->present != VALUE_UNKNOWN ? node->present : node->span;
}

uint64_t node_view_distance(const NodeView *node, nodeid_t to)
{
    return to < value_count(node->distances) ? value_u64_of(value_at(node->distances, to)) : VALUE_UNKNOWN;
}

static int compare_pool(const void *a, const void *b)
{
    const PoolView *x = a, *y = b;

    return (x->pool > y->pool) - (x->pool < y->pool);
}

int pool_views_read(struct json_object *document, PoolView **ret_pools, size_t *ret_n)
{
    struct json_object *rows = value_array(document, "pools");
    size_t n = value_count(rows), kept = 0;
    PoolView *pools = new_array(n, sizeof(*pools));

    if (!pools)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct json_object *row = value_at(rows, i);
        PoolView pool = {.pool = value_u64(row, "pool")};

        if (pool.pool == VALUE_UNKNOWN || !value_set(row, "cpus", CPUS_MAX - 1, &pool.cpus))
            continue;
        pool.cpus_text = value_bytes(row, "cpus");
        pools[kept++] = pool;
    }
    qsort(pools, kept, sizeof(*pools), compare_pool);
    *ret_pools = pools;
    *ret_n = kept;
    return 0;
}

PoolView *pool_views_free(PoolView *pools, size_t n)
{
    for (size_t i = 0; pools && i < n; i++)
        bitmap_done(&pools[i].cpus);
    free(pools);
    return NULL;
}

StatusView *status_view_free(StatusView *view)
{
    if (!view)
        return NULL;
    domain_views_free(view->domains, view->n_domains);
    node_views_done(&view->nodes);
    json_object_put(view->topology);
    json_object_put(view->document);
    free(view);
    return NULL;
}

static int read_status(StatusView *view)
{
    PoolView *pools = NULL;
    size_t n_pools = 0;
    int r;

    view->time = value_bytes(view->document, "time");
    view->host = host_view_read(view->document);
    view->reservations = value_array(view->document, "reservations");
    r = node_views_read(view->document, &view->nodes);
    if (r == 0)
        r = pool_views_read(view->topology, &pools, &n_pools);
    if (r == 0)
        r = domain_views_read(view->document, &view->nodes, pools, n_pools, &view->domains, &view->n_domains);
    pool_views_free(pools, n_pools);
    return r;
}

int status_view_new(const char *status, const char *topology, StatusView **ret_view, char **ret_error)
{
    _cleanup_(status_view_free_p) StatusView *view = calloc(1, sizeof(*view));
    int r;

    *ret_error = NULL;
    if (!view)
        return -ENOMEM;
    view->document = value_parse(status, "numad-xen-status/1", ret_error);
    if (view->document && topology)
        view->topology = value_parse(topology, "numad-xen-topology/1", ret_error);
    if (!view->document || (topology && !view->topology))
        return -EBADMSG;
    r = read_status(view);
    if (r < 0)
        return r;
    *ret_view = TAKE_PTR(view);
    return 0;
}
