/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/*
 * Holds the firmware's tables against what the hypervisor says, which is believed. The snapshot's nodes, CPUs and
 * distances are finished. Fills each node's PXM and, where the hypervisor did not say it, `present`. Both stay unknown
 * when the hypervisor's nodes are not what it makes of the table; `present` also where a node has holes by what can be
 * read of a broken table. Adds the warnings srat-invalid, srat-mismatch, slit-invalid and slit-mismatch; of a broken
 * table that leaves nothing to read srat-invalid alone. Without firmware there is nothing to say. 0 or -ENOMEM.
 */
int firmware_match(Snapshot *snapshot, const Firmware *firmware);
