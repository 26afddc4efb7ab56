/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/*
 * Contract, "Locality": how much of a domain's memory its vCPUs reach without leaving the node. Wants the snapshot's
 * topology finished.
 */

/* Fills Node.local of every node. 0 or -ENOMEM. */
int locality_attach(Snapshot *snapshot);

/* What measuring the domains of one snapshot, one after the other, keeps between them. */
typedef struct LocalityMeter LocalityMeter;
int locality_meter_new(Snapshot *snapshot, LocalityMeter **ret_meter); /* borrows the snapshot. 0 or -ENOMEM */
LocalityMeter *locality_meter_free(LocalityMeter *meter);              /* takes NULL, returns NULL */

/*
 * Fills Domain.locality and adds the domain's vCPUs to Node.vcpus. *work grows by about how many numbers were looked
 * at. 0 or -ENOMEM.
 */
int locality_measure(LocalityMeter *meter, Domain *domain, size_t *work);

/*
 * The CPUs a vCPU runs on: its hard set within the pool, narrowed to its soft set where that leaves any. 0 or -ENOMEM.
 */
int locality_effective_set(const Bitmap *pool, const VcpuRow *vcpu, Bitmap *set);
