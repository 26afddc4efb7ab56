/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

/*
 * How many NUMA nodes and processing units hwloc finds from inside this system. In a Xen dom0 that is the flat view
 * of its own vCPUs, which says nothing about the host; it is shown beside the hypervisor's. Either pointer may be
 * NULL. 0 or -errno.
 */
int hwloc_view(uint32_t *ret_nodes, uint32_t *ret_cpus);
