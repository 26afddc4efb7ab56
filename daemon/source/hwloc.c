/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/hwloc.h"

#include <hwloc.h>

static void free_topology(hwloc_topology_t *topology)
{
    if (*topology)
        hwloc_topology_destroy(*topology);
}

static int failed(void)
{
    return errno > 0 ? -errno : -EIO;
}

/*
 * Nothing but what is counted, to keep it small; no CPUID, for which hwloc would move this process over all CPUs; also
 * what a control group keeps this process from: dom0 is looked at, not the daemon.
 */
static int load(hwloc_topology_t topology)
{
    errno = 0;
    if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
        hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) < 0 ||
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86") < 0 ||
        hwloc_topology_load(topology) < 0)
        return failed();
    return 0;
}

int hwloc_view(uint32_t *ret_nodes, uint32_t *ret_cpus)
{
    _cleanup_(free_topology) hwloc_topology_t topology = NULL;
    int nodes, cpus, r;

    errno = 0;
    if (hwloc_topology_init(&topology) < 0)
        return failed();
    r = load(topology);
    if (r < 0)
        return r;
    nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    cpus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    if (nodes <= 0 || cpus <= 0)
        return -ENODATA;
    if (ret_nodes)
        *ret_nodes = (uint32_t)nodes;
    if (ret_cpus)
        *ret_cpus = (uint32_t)cpus;
    return 0;
}
