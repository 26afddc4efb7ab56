/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "ledger.h"

/*
 * The text of ledger.json, numad-xen-ledger/1. It is read back as untrusted input: any text gives a good ledger or a
 * refusal. `host` and `boot_id` say of which host and which boot it tells; another one's is of no use.
 */
#define LEDGER_FILE_MAX (64u << 20)
#define LEDGER_FILE_ENTRIES_MAX 65536u

typedef struct LedgerOrigin {
    const char *boot_id; /* as /proc/sys/kernel/random/boot_id */
    const char *host;    /* "xen", or the path of a host description */
} LedgerOrigin;

/* 0, -ENOMEM, or -EFBIG: it could not be read back. */
int ledger_write(const Ledger *ledger, const LedgerOrigin *origin, char **ret_text, size_t *ret_size);

#define LEDGER_FILE_E_REFUSED 1 /* damaged: *ret_why (owned) says where and why */
#define LEDGER_FILE_E_FOREIGN 2 /* of another boot or host: *ret_why says which */
int ledger_read(const char *text, size_t size, const LedgerOrigin *origin, Ledger **ret_ledger, char **ret_why);
