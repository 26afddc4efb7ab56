/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/*
 * The host as hwloc v2 XML, which hwloc's own tools read (`lstopo -i`): nodes with their memory, packages, cores, PUs
 * by Xen's CPU numbers, distances, PCI devices. hwloc has no call to build a given NUMA host, so it is written here,
 * and read back by hwloc in the tests. hwloc refuses a host without CPUs, which only a description can be. 0 or
 * -ENOMEM; free *ret_xml with free().
 */
int hwloc_xml_document(const Snapshot *snapshot, char **ret_xml);
