/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/source.h"
#include "xen-calls.h"

typedef int (*HardwareView)(uint32_t *ret_nodes, uint32_t *ret_cpus);

/*
 * A Xen source on any calls, which it takes over on success. view: hwloc_view(), or NULL for none. 0 or -errno. Nothing
 * is read before the first collection.
 */
int xen_source_new_on(XenCalls *calls, HardwareView view, Source **ret_source);

/* Whether this is a domain that may control the host; if not, *ret_error says why and what to do. 0 or -errno. */
int xen_dom0_check(const char *root, char **ret_error);
