/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/sim.h"
#include "lib/core/ledger.h"

#include <systemd/sd-bus.h>

/* What Create() is asked for: a domain, and what its texts and sets lie in. */
typedef struct SimStart {
    SimDomain domain;
    Bitmap all, hard, soft, nodes; /* owned */
    Bitmap *placed;                /* owned, n_placed: a token's sets */
    size_t n_placed;
    VcpuRow *vcpus; /* owned, domain.n_sets; their sets are some of these */
} SimStart;

void sim_start_done(SimStart *start);

#define SIM_START_E_INVALID 1
#define SIM_START_E_UNKNOWN_TOKEN 2
#define SIM_START_E_EXPIRED 3
#define SIM_START_E_LIMIT 4
/*
 * Reads the a{sv} under the message's cursor, which with the snapshot must live as long as the start. With a token,
 * what is not given is as was placed. 0; SIM_START_E_*, and *ret_why (owned) says why; or negative.
 */
int sim_start_read(sd_bus_message *call, const HostRows *rows, const Snapshot *snapshot, SimStart *ret_start,
                   char **ret_why);
