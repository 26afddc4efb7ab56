/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/state.h"
#include "lib/core/ledger-file.h"

/*
 * The ledger on the disk. It logs what it sets aside: a file that is damaged or of another boot or host never keeps the
 * daemon from starting.
 */
typedef struct LedgerStore LedgerStore;

/*
 * `directory` NULL: $RUNTIME_DIRECTORY, else STATE_DIRECTORY. `host`: as LedgerOrigin.host. *ret_ledger is what the disk
 * had, or an empty one. 0 or negative; it has logged why.
 */
int ledger_store_open(const char *directory, const char *host, LedgerStore **ret_store, Ledger **ret_ledger);
/* Why the reservations of before are not known, for a person: the file was of no use. NULL: nothing was lost. */
const char *ledger_store_lost(const LedgerStore *store);
const char *ledger_store_directory(const LedgerStore *store);
LedgerStore *ledger_store_free(LedgerStore *store); /* takes NULL, returns NULL */
/* On the disk when it returns 0; negative: the old one still is there. */
int ledger_store_save(LedgerStore *store, const Ledger *ledger);
