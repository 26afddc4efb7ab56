/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/*
 * The host as hwloc v2 XML, which hwloc's own tools read (`lstopo -i`): nodes with their memory, packages, cores, PUs
 * by Xen's CPU numbers, distances, PCI devices. hwloc has no call to build a given NUMA host, so it is written here,
 * and read back by hwloc in the tests. 0, -ENOMEM or HWLOC_XML_E_EMPTY; free *ret_xml with free().
 */
#define HWLOC_XML_E_EMPTY 1 /* nothing that hwloc would read: */
#define HWLOC_XML_EMPTY_TEXT "hwloc knows no host without nodes or without an online CPU"
int hwloc_xml_document(const Snapshot *snapshot, char **ret_xml);
