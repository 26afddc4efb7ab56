/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view.h"

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_cpu(const void *a, const void *b)
{
    const CpuView *x = a, *y = b;
    int r = compare_u64(x->node, y->node);

    r = r ? r : compare_u64(x->socket, y->socket);
    r = r ? r : compare_u64(x->core, y->core);
    return r ? r : compare_u64(x->cpu, y->cpu);
}

static int read_cpus(TopologyView *view)
{
    struct json_object *rows = value_array(view->document, "cpus");
    size_t n = value_count(rows);

    view->cpus = new_array(n, sizeof(*view->cpus));
    if (!view->cpus)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct json_object *row = value_at(rows, i);
        CpuView cpu = {
            .cpu = value_u64(row, "cpu"),
            .core = value_u64(row, "core"),
            .socket = value_u64(row, "socket"),
            .node = value_u64(row, "node"),
            .online = value_true(row, "online"),
            .siblings = value_bytes(row, "siblings"),
        };

        if (cpu.cpu < CPUS_MAX)
            view->cpus[view->n_cpus++] = cpu;
    }
    qsort(view->cpus, view->n_cpus, sizeof(*view->cpus), compare_cpu);
    return 0;
}

TopologyView *topology_view_free(TopologyView *view)
{
    if (!view)
        return NULL;
    pool_views_free(view->pools, view->n_pools);
    node_views_done(&view->nodes);
    free(view->cpus);
    json_object_put(view->document);
    free(view);
    return NULL;
}

int topology_view_new(const char *topology, TopologyView **ret_view, char **ret_error)
{
    _cleanup_(topology_view_free_p) TopologyView *view = calloc(1, sizeof(*view));
    struct json_object *dom0;
    int r;

    *ret_error = NULL;
    if (!view)
        return -ENOMEM;
    view->document = value_parse(topology, "numad-xen-topology/1", ret_error);
    if (!view->document)
        return -EBADMSG;
    dom0 = value_get(view->document, "dom0");
    view->host = host_view_read(view->document);
    view->devices = value_array(view->document, "devices");
    view->dom0_nodes = value_u64(dom0, "nodes");
    view->dom0_cpus = value_u64(dom0, "cpus");
    r = node_views_read(view->document, &view->nodes);
    if (r == 0)
        r = pool_views_read(view->document, &view->pools, &view->n_pools);
    if (r == 0)
        r = read_cpus(view);
    if (r < 0)
        return r;
    *ret_view = TAKE_PTR(view);
    return 0;
}
