/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/* All of a snapshot but its domains; takes over from the rows what it needs. 0 or -ENOMEM. */
int seal_topology(Snapshot *snapshot, HostRows *rows);
