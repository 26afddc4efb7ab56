/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/*
 * A Xen host.
 *
 * A collection goes through stages: the host and its topology, the nodes' memory, PCI devices, the list of domains,
 * their pages on each node, their vCPUs, their names. Each stage spends from the step's budget and gives the loop back
 * when it is used up, or when the calls were slower than the budget supposes. Most are a handful of calls for the
 * whole host and are done every time. Devices, affinities and names cost calls for each of them, under Xen's locks, so
 * they are kept and read again when a collection is full, and else in turn: devices once in ten generations, vCPUs and
 * names of a tenth of the domains a generation, and of a domain that is new. vCPUs also when their number or their
 * domain's pool is another, or when CPUs go offline or come: Xen changes affinities then.
 *
 * A domain is its domid and its handle together, so a domid that is used again is a new domain. Only the list and
 * XENMEM_numa_heap tell the handle. So when anything else was read, the list is looked at again in the end: what ended
 * meanwhile is left out, and so is what may be another domain's.
 *
 * No failing call ends a collection. What it would have brought is unknown, or stays what it was for things that
 * hardly change, and the rows' warnings say so. The hypervisor is believed, but no number of it is used as an index
 * or a size unchecked.
 */

static XenSource *xen_source(Source *source)
{
    return (XenSource *)source;
}

#define CLOCK_UNITS 16 /* spent between looks at the clock, which is a system call in some dom0 */

static uint64_t now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

void xen_spend(XenSource *s, int units)
{
    s->budget -= units;
    if (s->budget <= 0 || s->checked - s->budget < CLOCK_UNITS)
        return;
    s->checked = s->budget;
    if (now_us() - s->step_us > XEN_STEP_US)
        s->budget = 0;
}

static void begin_step(XenSource *s)
{
    s->budget = s->checked = XEN_STEP_BUDGET;
    s->step_us = now_us();
}

static void drop_collection(XenSource *s)
{
    s->rows = host_rows_free(s->rows);
    vcpu_rows_unref(s->reading);
    s->reading = NULL;
    s->devices.due |= s->devices.next != NULL;
    free(s->devices.next);
    s->devices.next = NULL;
    free(s->listing.infos);
    s->listing = (XenList){0};
}

static int xen_begin(Source *source, bool full)
{
    XenSource *s = xen_source(source);

    drop_collection(s);
    s->rows = host_rows_new();
    if (!s->rows)
        return -ENOMEM;
    s->rows->backend = "xen";
    s->generation++;
    s->stage = XEN_STAGE_HOST;
    s->first = s->heap.first = 0;
    s->cursor = s->vcpu = 0;
    s->has_fresh = false;
    s->full |= full;
    s->names_all |= full || s->names_stale;
    s->names_stale = false;
    return 0;
}

static int finish(XenSource *s, HostRows **ret_rows)
{
    int r = xen_complete_domains(s);

    if (r < 0)
        return r;
    *ret_rows = TAKE_PTR(s->rows);
    s->full = s->names_all = false;
    drop_collection(s);
    return 0;
}

static int xen_step(Source *source, HostRows **ret_rows)
{
    static int (*const stages[_XEN_STAGE_MAX])(XenSource *) = {
        [XEN_STAGE_HOST] = xen_read_host,       [XEN_STAGE_NODES] = xen_read_nodes,
        [XEN_STAGE_DEVICES] = xen_read_devices, [XEN_STAGE_LIST] = xen_read_domains,
        [XEN_STAGE_PAGES] = xen_read_pages,     [XEN_STAGE_VCPUS] = xen_read_affinities,
        [XEN_STAGE_NAMES] = xen_read_names,     [XEN_STAGE_CHECK] = xen_check_domains,
    };
    XenSource *s = xen_source(source);
    int r = -EINVAL; /* without a begin */

    if (!s->rows)
        return r;
    begin_step(s);
    while (s->budget > 0) {
        r = stages[s->stage](s);
        if (r == 0 && s->stage + 1 == _XEN_STAGE_MAX)
            r = finish(s, ret_rows);
        else if (r == 0) {
            s->stage++;
            continue;
        }
        if (r <= 0)
            break;
    }
    if (r < 0)
        drop_collection(s);
    else if (s->rows)
        return 1;
    return r;
}

static int xen_event_fd(const Source *source)
{
    return ((const XenSource *)source)->epoll_fd;
}

static int xen_dispatch(Source *source)
{
    return xen_store_dispatch(xen_source(source));
}

/* There is no configuration; all that is kept is read again. What cannot be read then is what it was. */
static int xen_reload(Source *source, char **ret_error)
{
    XenSource *s = xen_source(source);

    s->tables_due = true;
    s->view_due = s->view != NULL;
    s->heap.asked = false;
    s->dma.due = true;
    s->full = s->names_all = true;
    return 0;
}

static void xen_free(Source *source)
{
    XenSource *s = xen_source(source);

    drop_collection(s);
    for (size_t i = 0; i < s->n_domains; i++)
        known_domain_done(&s->known[i]);
    for (size_t i = 0; i < s->topology.n_pools; i++)
        bitmap_done(&s->topology.pools[i].cpus);
    free(s->known);
    free(s->infos);
    free(s->topology.nodes);
    free(s->topology.distances);
    free(s->topology.cpus);
    free(s->topology.pools);
    bitmap_done(&s->topology.online);
    free(s->devices.list);
    firmware_unref(s->firmware);
    free(s->heap.buffer);
    free(s->heap_now.buffer);
    free(s->version);
    xen_calls_free(s->calls);
    if (s->epoll_fd >= 0)
        close(s->epoll_fd);
    free(s);
}

static const SourceOps xen_ops = {
    .begin = xen_begin,
    .step = xen_step,
    .event_fd = xen_event_fd,
    .dispatch = xen_dispatch,
    .read_memory = xen_read_memory,
    .reload = xen_reload,
    .free = xen_free,
};

int xen_source_new_on(XenCalls *calls, HardwareView view, Source **ret_source)
{
    XenSource *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->source.ops = &xen_ops;
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll_fd < 0) {
        int r = -errno;

        free(s);
        return r;
    }
    s->calls = calls;
    s->view = view;
    s->tables_due = true;
    s->view_due = view != NULL;
    s->dma.due = s->devices.due = true;
    *ret_source = &s->source;
    return 0;
}
