/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/*
 * Contract, "Locality": how much of a domain's memory its vCPUs reach without leaving the node.
 *
 * Both want the snapshot's topology finished. attach fills Node.local of every node; measure fills Domain.locality
 * of every domain and Node.vcpus of every node. 0 or -ENOMEM.
 */
int locality_attach(Snapshot *snapshot);
int locality_measure(Snapshot *snapshot);
