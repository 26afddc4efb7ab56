/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "host-memory.h"
#include "reservation.h"

/*
 * All that is promised. A ledger is immutable and reference-counted as a snapshot is: whoever wants a change makes a
 * new ledger, writes it to the disk, and only then lets it take the old one's place. So there is nothing to undo when
 * the disk refuses, and a document that is half written goes on showing one moment.
 */

#define LEDGER_EXPIRED_MAX 256u /* tokens whose end is remembered, to answer Expired instead of UnknownToken */

typedef struct Ledger {
    unsigned refs;
    size_t n;
    Reservation **items; /* oldest first */
    size_t n_placed;
    Reservation **placed; /* of these, those that have a domain, by domid */
    size_t n_expired;
    char (*expired)[TOKEN_SIZE]; /* oldest first */
} Ledger;

Ledger *ledger_new(void); /* empty; NULL when memory is short */
Ledger *ledger_ref(Ledger *ledger);
Ledger *ledger_unref(Ledger *ledger); /* takes NULL, returns NULL */
DEFINE_CLEANUP(Ledger *, ledger_unref)

const Reservation *ledger_find(const Ledger *ledger, const char *token);
const Reservation *ledger_find_domain(const Ledger *ledger, domid_t domid); /* building or committed */
size_t ledger_count_open(const Ledger *ledger);
size_t ledger_count_open_of(const Ledger *ledger, uid_t uid);
/* When the next pending one expires, CLOCK_BOOTTIME; UINT64_MAX: none does. */
uint64_t ledger_next_expiry(const Ledger *ledger);

#define LEDGER_E_UNKNOWN_TOKEN 1
#define LEDGER_E_EXPIRED 2
#define LEDGER_E_UNKNOWN_DOMAIN 3
#define LEDGER_E_OTHER_DOMAIN 4 /* the domain's UUID is another, it has a placement, or the token another domain */

/*
 * Changes: *ret_ledger is the new one. 0, -ENOMEM, or LEDGER_E_*. `memory` says which domains there are. A change that
 * changes nothing (Commit of the same domain again) gives a reference of the old ledger.
 */
/* Takes a reference of a new reservation, in which it notes a domain that is not meant. -EEXIST: of a known token. */
int ledger_add(Ledger *ledger, Reservation *reservation, const HostMemory *memory, Ledger **ret_ledger);
int ledger_commit(Ledger *ledger, const char *token, domid_t domid, const HostMemory *memory, Ledger **ret_ledger);
int ledger_release(Ledger *ledger, const char *token, Ledger **ret_ledger);

/* What became of a token by itself; strings belong to the old ledger, which must live as long. */
typedef struct LedgerEnd {
    const Reservation *reservation;
} LedgerEnd;

/*
 * Holds the ledger against the domains there are: a pending one whose domain has come (by UUID; without one, by name)
 * is building, one whose TTL is over ends, one whose domain is gone (or is another, or dies) ends. *ret_ends (owned
 * array, NULL: none) are the open ones that ended; a committed one ends with its domain, which is nobody's news. A
 * ledger of which all still holds is given back as it is.
 */
int ledger_reconcile(Ledger *ledger, const HostMemory *memory, uint64_t now_us, Ledger **ret_ledger,
                     LedgerEnd **ret_ends, size_t *ret_n_ends);

/*
 * Bytes of each node that the open reservations still set aside, into reserved[n_nodes]: the sum of max(0, promised +
 * overhead - what the domain holds there - its claim there). What a domain holds where nobody can tell is taken to be
 * where it was promised. *ret_claimed: bytes of host-wide claims of domains that have no open reservation.
 */
void ledger_reserve(const Ledger *ledger, const HostMemory *memory, uint64_t *reserved, uint64_t *ret_claimed);
