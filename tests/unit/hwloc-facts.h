/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/host.h"

#include <hwloc.h>

/*
 * Loads XML as strictly as hwloc can, with I/O objects: it checks itself and may not say a word. What fails
 * here fails the test.
 */
hwloc_topology_t facts_load(const char *xml);
/* Holds every fact of the snapshot against what hwloc understood. */
void facts_assert(hwloc_topology_t topology, const Snapshot *s);
/* The CPUs that hwloc calls local to the node, as "0-3,8"; free with free(). */
char *facts_node_cpus(hwloc_topology_t topology, nodeid_t node);
