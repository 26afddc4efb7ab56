/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonreader.h"
#include "ledger.h"

/* What the files that make ledgers share. */

/*
 * A ledger that is being made, and that nobody else has yet: the same reservations, with room for `more`. Its index of
 * domains (Ledger.placed) is right until ledger_edit() or a removal. NULL when memory is short.
 */
Ledger *ledger_draft(const Ledger *from, size_t more);
/* The i-th reservation as a copy of the draft's own, to be changed. NULL when memory is short. */
Reservation *ledger_edit(Ledger *draft, size_t i);
/* Takes the i-th out; until ledger_seal() its place is NULL. */
void ledger_drop(Ledger *draft, size_t i);
/* Remembers the tokens of those, and forgets the oldest. 0 or -ENOMEM. */
int ledger_remember(Ledger *draft, const LedgerEnd *ends, size_t n_ends);
/* Closes the gaps and makes the index: the draft is a ledger. 0 or -ENOMEM. */
int ledger_seal(Ledger *draft);

/*
 * Of a reservation that is read from ledger.json, whose state and vCPUs are known: the sets of its vCPUs. 0, -ENOMEM or
 * JSON_E_REFUSED.
 */
int ledger_read_sets(JsonReader *reader, const JsonPath *up, json_object *object, Reservation *to);

/* Whether the token is among those whose end is remembered. */
bool ledger_has_expired(const Ledger *ledger, const char *token);

/* Whether the reservation's domain, which it has, still is this one. */
bool reservation_is_of(const Reservation *reservation, const DomainMemory *domain);
/* Whether the domain is such a one as the reservation waits for. */
bool reservation_awaits(const Reservation *reservation, const DomainMemory *domain);
/* The domain is not the one that is meant. */
void reservation_refuse(Reservation *reservation, const DomainMemory *domain);
/* It has this domain now. */
void reservation_assign(Reservation *reservation, ReservationState state, const DomainMemory *domain);
