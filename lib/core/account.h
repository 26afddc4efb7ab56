/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "ledger.h"

/*
 * Snapshots that tell what is promised. The collected snapshot has what the host said; what is shown and decided on is
 * derived from it: with the ledger, with what is reserved on each node, and, for a decision, with younger numbers of
 * memory than the last collection's. It shares all else with the snapshot it is derived from.
 */
typedef struct AccountOptions {
    uint64_t generation;
    int64_t time_us;      /* as Snapshot.time_us */
    uint64_t boottime_us; /* CLOCK_BOOTTIME, now: what TTLs are held against */
    uint64_t headroom;    /* bytes of each node that are not to be promised */
    const char *ledger_lost; /* text of a warning ledger-lost; NULL: there is none */
} AccountOptions;

/* The numbers that the snapshot itself has. NULL when memory is short. */
HostMemory *account_memory(const Snapshot *snapshot);
/* Domains that `memory` has no name of get the one that the snapshot knows. 0 or -ENOMEM. */
int account_name_domains(HostMemory *memory, const Snapshot *snapshot);
/* 0, -ENOMEM, or -ESTALE: the memory has other nodes than the snapshot. `memory` NULL: the snapshot's own. */
int account_snapshot(Snapshot *base, const HostMemory *memory, Ledger *ledger, const AccountOptions *options,
                     Snapshot **ret_snapshot);
