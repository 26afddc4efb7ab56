/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

/* Affinities of domains and of their vCPUs, a few calls each: read when something changed, else in turn. */

/*
 * CPUs and nodes that came make masks longer. Xen lets a vCPU run anywhere whose CPUs have all gone offline, or whose
 * domain moves to another pool.
 */
static bool is_due(const XenSource *s, const KnownDomain *known, const DomainRow *row, const XenDomInfo *info)
{
    return s->full || !known->has_affinities || xen_turn_of(s, known->domid) || known->n_vcpus != row->n_vcpus ||
           known->n_online != info->nr_online_vcpus || known->pool != info->pool ||
           known->online_changes != s->topology.online_changes || known->n_cpus != s->rows->n_cpus ||
           known->n_nodes != s->rows->n_nodes;
}

/* 1: read; 0: not; negative: out of memory. A domain that is gone is marked so. */
static int read_node_affinity(XenSource *s, KnownDomain *known)
{
    uint8_t mask[NODES_MAX / 8] = {0};
    uint32_t n_nodes = (uint32_t)s->rows->n_nodes;
    int r;

    known->has_node_affinity = false;
    if (n_nodes == 0)
        return 0; /* a set of nobody knows what */
    r = s->calls->ops->node_affinity(s->calls, known->domid, mask, xen_mask_size(n_nodes));

    xen_spend(s, 1);
    if (xen_is_gone(r)) {
        known->gone = true;
        return 0;
    }
    if (r < 0)
        return xen_call_failed(s, ERROR_XEN, "getnodeaffinity", r);
    r = xen_mask_to_bitmap(&known->node_affinity, mask, n_nodes);
    known->has_node_affinity = r == 0;
    return r < 0 ? r : 1;
}

static int fill_vcpu(XenSource *s, VcpuRow *row, const XenVcpuInfo *info, const uint8_t *hard, const uint8_t *soft)
{
    uint32_t n_cpus = s->rows->max_cpu_id + 1;
    int r = xen_mask_to_bitmap(&row->hard, hard, n_cpus);

    if (r == 0)
        r = xen_mask_to_bitmap(&row->soft, soft, n_cpus);
    row->online = info->online;
    /* Xen names a CPU even before the vCPU has ever run. */
    row->cpu = info->online && info->cpu_time_ns && info->cpu < n_cpus ? info->cpu : CPU_NONE;
    return r;
}

/* 0 or the error of the call, which `*ret_call` names. */
static int read_vcpu(XenSource *s, domid_t domid, uint32_t vcpu, VcpuRow *row, const char **ret_call)
{
    uint8_t hard[CPUS_MAX / 8] = {0}, soft[CPUS_MAX / 8] = {0};
    size_t n_bytes = xen_mask_size(s->rows->max_cpu_id + 1);
    XenVcpuInfo info = {0};
    int r;

    xen_spend(s, 2);
    *ret_call = "getvcpuinfo";
    r = s->calls->ops->vcpu_info(s->calls, domid, vcpu, &info);
    if (r < 0)
        return r;
    *ret_call = "getvcpuaffinity";
    r = s->calls->ops->vcpu_affinity(s->calls, domid, vcpu, hard, soft, n_bytes);
    return r < 0 ? r : fill_vcpu(s, row, &info, hard, soft);
}

/* What failed is read again the next time. */
static void keep_vcpus(XenSource *s, KnownDomain *known)
{
    vcpu_rows_unref(known->vcpus);
    known->vcpus = TAKE_PTR(s->reading);
    known->has_affinities = known->vcpus && known->has_node_affinity;
}

/* Begins with a domain: 1 when there are vCPUs to read. */
static int begin_vcpus(XenSource *s, KnownDomain *known, const DomainRow *row)
{
    int r;

    if (!is_due(s, known, row, &s->infos[s->cursor]) || known->gone)
        return 0;
    s->has_fresh = true;
    known->has_affinities = false;
    known->n_vcpus = (uint32_t)row->n_vcpus;
    known->n_online = s->infos[s->cursor].nr_online_vcpus;
    known->pool = s->infos[s->cursor].pool;
    known->online_changes = s->topology.online_changes;
    known->n_cpus = s->rows->n_cpus;
    known->n_nodes = s->rows->n_nodes;
    r = read_node_affinity(s, known);
    if (r < 0 || known->gone)
        return r;
    if (known->n_cpus == 0) { /* sets of nobody knows what */
        keep_vcpus(s, known);
        return 0;
    }
    s->reading = vcpu_rows_new(row->n_vcpus);
    s->vcpu = 0;
    return s->reading ? 1 : -ENOMEM;
}

/* Reads on where the last step stopped; all vCPUs or none, since half a domain's affinities would mislead. */
static int read_vcpus(XenSource *s, KnownDomain *known)
{
    const char *call;
    int r = 0;

    for (; s->vcpu < s->reading->n && s->budget > 0; s->vcpu++) {
        r = read_vcpu(s, known->domid, s->vcpu, &s->reading->rows[s->vcpu], &call);
        if (r < 0)
            break;
    }
    if (r == 0 && s->vcpu < s->reading->n)
        return 1;
    if (r < 0) {
        vcpu_rows_unref(s->reading);
        s->reading = NULL;
    }
    keep_vcpus(s, known);
    if (xen_is_gone(r))
        known->gone = true;
    else if (r < 0)
        return xen_call_failed(s, ERROR_XEN, call, r);
    return 0;
}

int xen_read_affinities(XenSource *s)
{
    for (; s->cursor < s->rows->n_domains; s->cursor++) {
        KnownDomain *known = &s->known[s->cursor];
        int r = 1;

        if (s->budget <= 0)
            return 1;
        if (!s->reading)
            r = begin_vcpus(s, known, &s->rows->domains[s->cursor]);
        if (r > 0)
            r = read_vcpus(s, known);
        if (r != 0)
            return r;
    }
    s->cursor = 0; /* for the names */
    return 0;
}
