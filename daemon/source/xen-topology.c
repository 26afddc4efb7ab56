/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>

/*
 * The host, its nodes and CPUs. The counts of CPUs and nodes in physinfo are of those online, while ids have
 * gaps, so every array is sized by the highest id, or by what the call itself asks for.
 */

static int read_version(XenSource *s)
{
    int r = 0;

    if (!s->version) {
        r = s->calls->ops->version(s->calls, &s->version);
        if (r < 0)
            return xen_call_failed(s, ERROR_XEN, "xen_version", r);
    }
    s->rows->xen_version = strdup(s->version);
    return s->rows->xen_version ? 0 : -ENOMEM;
}

static int read_physinfo(XenSource *s)
{
    XenTopology *t = &s->topology;
    XenPhysInfo info = {0};
    int r = s->calls->ops->physinfo(s->calls, &info);

    t->is_phys_old = r < 0;
    if (r < 0)
        r = xen_call_failed(s, ERROR_XEN, "physinfo", r);
    else {
        t->phys = info;
        t->has_phys = true;
        if (info.max_cpu_id >= CPUS_MAX) {
            t->phys.max_cpu_id = CPUS_MAX - 1;
            r = xen_answer_refused(s, "physinfo", "there are more CPUs than numad-xen can show");
        }
    }
    if (t->has_phys) {
        s->rows->max_cpu_id = t->phys.max_cpu_id;
        s->rows->total = t->phys.total_pages * XEN_PAGE_SIZE;
        s->rows->free = t->phys.free_pages * XEN_PAGE_SIZE;
        s->rows->claimed = t->phys.outstanding_pages * XEN_PAGE_SIZE;
    }
    return r;
}

/* --- nodes --- */

static int count_nodes(XenSource *s, uint32_t *ret_n)
{
    int r = s->calls->ops->numacount(s->calls, ret_n);

    if (r < 0)
        return xen_call_failed(s, ERROR_XEN, "numainfo", r);
    if (*ret_n > NODES_MAX) {
        *ret_n = NODES_MAX;
        return xen_answer_refused(s, "numainfo", "there are more nodes than numad-xen can show");
    }
    return 0;
}

static int fetch_nodes(XenSource *s, uint32_t n)
{
    _cleanup_free_ char *nodes = NULL, *distances = NULL;
    XenTopology *t = &s->topology;
    int r;

    nodes = new_array(n, sizeof(*t->nodes));
    distances = new_array((size_t)n * n, sizeof(*t->distances));
    if (!nodes || !distances)
        return -ENOMEM;
    r = s->calls->ops->numainfo(s->calls, &n, (XenMemInfo *)(void *)nodes, (uint32_t *)(void *)distances);
    if (r < 0)
        return xen_call_failed(s, ERROR_XEN, "numainfo", r);
    if (n == 0)
        return xen_answer_refused(s, "numainfo", "it tells of no node");
    free(t->nodes);
    free(t->distances);
    t->nodes = (XenMemInfo *)(void *)TAKE_PTR(nodes);
    t->distances = (uint32_t *)(void *)TAKE_PTR(distances);
    t->n_nodes = n;
    return 0;
}

static int fill_nodes(XenSource *s)
{
    const XenTopology *t = &s->topology;
    HostRows *rows = s->rows;

    rows->nodes = new_array(t->n_nodes, sizeof(*rows->nodes));
    rows->distances = new_array((size_t)t->n_nodes * t->n_nodes, sizeof(*rows->distances));
    if (!rows->nodes || !rows->distances)
        return -ENOMEM;
    for (; rows->n_nodes < t->n_nodes; rows->n_nodes++) {
        NodeRow *node = &rows->nodes[rows->n_nodes];

        node_row_init(node);
        node->size = t->nodes[rows->n_nodes].size;
        node->free = t->nodes[rows->n_nodes].free;
    }
    if (t->n_nodes)
        memcpy(rows->distances, t->distances, (size_t)t->n_nodes * t->n_nodes * sizeof(*rows->distances));
    return 0;
}

static int read_numainfo(XenSource *s)
{
    uint32_t n = 0;
    int r = count_nodes(s, &n);

    if (r == 0 && n)
        r = fetch_nodes(s, n);
    return r < 0 ? r : fill_nodes(s);
}

/* --- CPUs --- */

/*
 * Core and socket do not tell whether a CPU is online: one that is parked (smt=0, or put offline, on Intel) keeps
 * them, and one that is alone in its package may never have had any. The node is kept in any case.
 */
static CpuRow cpu_row(const XenTopology *t, cpuid_t cpu)
{
    if (cpu >= t->n_cpus || (t->has_online && !bitmap_isset(&t->online, cpu)))
        return (CpuRow){ROW_INVALID, ROW_INVALID, ROW_INVALID};
    return (CpuRow){t->cpus[cpu].core, t->cpus[cpu].socket, t->cpus[cpu].node};
}

static int fetch_cpus(XenSource *s)
{
    XenTopology *t = &s->topology;
    uint32_t room = xen_n_cpus(s), n = room;
    _cleanup_free_ char *buffer = new_array(room, sizeof(*t->cpus));
    XenCpuTopo *cpus = (XenCpuTopo *)(void *)buffer;
    int r;

    if (!cpus)
        return -ENOMEM;
    r = s->calls->ops->cputopoinfo(s->calls, &n, cpus);
    if (r < 0)
        return xen_call_failed(s, ERROR_XEN, "cputopoinfo", r);
    n = MIN(n, room);
    free(t->cpus);
    t->cpus = cpus;
    buffer = NULL;
    t->n_cpus = n;
    return 0;
}

static int read_cputopoinfo(XenSource *s)
{
    const XenTopology *t = &s->topology;
    HostRows *rows = s->rows;
    int r = fetch_cpus(s);
    size_t n;

    if (r < 0)
        return r;
    n = t->has_phys ? t->phys.max_cpu_id + 1 : t->n_cpus;
    rows->cpus = new_array(n, sizeof(*rows->cpus));
    if (!rows->cpus)
        return -ENOMEM;
    for (; rows->n_cpus < n; rows->n_cpus++)
        rows->cpus[rows->n_cpus] = cpu_row(t, (cpuid_t)rows->n_cpus);
    if (t->has_phys || n == 0)
        return 0;
    rows->max_cpu_id = (uint32_t)n - 1;
    for (size_t i = 0; i < rows->n_pools; i++)
        bitmap_cut(&rows->pools[i].cpus, (unsigned)n);
    return 0;
}

int xen_read_host(XenSource *s)
{
    static int (*const parts[])(XenSource *) = {read_version,   read_physinfo,    read_numainfo,
                                                xen_read_pools, read_cputopoinfo, xen_read_firmware};

    for (; s->cursor < ARRAY_SIZE(parts); s->cursor++) {
        int r;

        if (s->budget <= 0)
            return 1;
        r = parts[s->cursor](s);
        if (r < 0)
            return r;
        xen_spend(s, 8);
    }
    s->cursor = 0; /* for the devices */
    return 0;
}
