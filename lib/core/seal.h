/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/*
 * Judges a source's rows and makes a snapshot of them, in steps of bounded work: the daemon's loop is not to be held
 * by a host with thousands of domains. snapshot_seal() does all of it at once.
 */
typedef struct Seal Seal;

/* Takes the rows over, also on failure. As snapshot_seal(). */
int seal_new(HostRows *rows, const SealOptions *options, Seal **ret_seal);
Seal *seal_free(Seal *seal); /* takes NULL, returns NULL */
DEFINE_CLEANUP(Seal *, seal_free)

/* 1: call again. 0: done, and the caller has *ret_snapshot with one reference. Negative: as snapshot_seal(). */
int seal_step(Seal *seal, Snapshot **ret_snapshot);
