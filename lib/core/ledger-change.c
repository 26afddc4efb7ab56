/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger-parts.h"

#include <string.h>

static int unknown_token(const Ledger *ledger, const char *token)
{
    return ledger_has_expired(ledger, token) ? LEDGER_E_EXPIRED : LEDGER_E_UNKNOWN_TOKEN;
}

/* Its place among the items; SIZE_MAX: it is not there. */
static size_t place_of(const Ledger *ledger, const Reservation *reservation)
{
    for (size_t i = 0; i < ledger->n; i++)
        if (ledger->items[i] == reservation)
            return i;
    return SIZE_MAX;
}

/* --- add --- */

/* How likely a domain would be mistaken for the one that is meant: not at all, when it is another's or it dies, very.
 */
static int likeness(const Ledger *ledger, const DomainMemory *domain)
{
    if (domain->dying)
        return 1;
    return ledger_find_domain(ledger, domain->domid) ? 2 : 3;
}

/*
 * What is there before is not what is to be built: the old domain of a guest that reboots, or the one that a local
 * migration leaves. There is hardly ever more than one.
 */
static void refuse_present(const Ledger *ledger, Reservation *reservation, const HostMemory *memory)
{
    int most = 0;

    for (size_t i = 0; i < memory->n_domains; i++) {
        const DomainMemory *domain = &memory->domains[i];

        if (!reservation_awaits(reservation, domain) || likeness(ledger, domain) < most)
            continue;
        most = likeness(ledger, domain);
        reservation_refuse(reservation, domain);
    }
}

int ledger_add(Ledger *ledger, Reservation *reservation, const HostMemory *memory, Ledger **ret_ledger)
{
    Ledger *draft;

    if (ledger_find(ledger, reservation->token) || ledger_has_expired(ledger, reservation->token))
        return -EEXIST;
    draft = ledger_draft(ledger, 1);
    if (!draft)
        return -ENOMEM;
    refuse_present(ledger, reservation, memory);
    draft->items[draft->n++] = reservation_ref(reservation);
    *ret_ledger = draft; /* it has no domain yet: the index is right */
    return 0;
}

/* --- commit --- */

/* Whether the reservation, which may have a domain already, can be this domain's. */
static int check_commit(const Reservation *r, const DomainMemory *domain)
{
    if (r->state == RESERVATION_COMMITTED)
        return r->domid == domain->domid && reservation_is_of(r, domain) ? 0 : LEDGER_E_OTHER_DOMAIN;
    return r->told_uuid && !reservation_awaits(r, domain) ? LEDGER_E_OTHER_DOMAIN : 0;
}

/*
 * Another reservation has the domain. An open one was given it for its looks, and goes on waiting for its own. A
 * committed one keeps it, unless it is about an earlier domain of that number.
 */
static int yield(Ledger *draft, const Reservation *other, const DomainMemory *domain)
{
    size_t i = place_of(draft, other);
    Reservation *own;

    if (!reservation_is_open(other)) {
        if (reservation_is_of(other, domain))
            return LEDGER_E_OTHER_DOMAIN;
        ledger_drop(draft, i);
        return 0;
    }
    own = ledger_edit(draft, i);
    if (!own)
        return -ENOMEM;
    own->state = RESERVATION_PENDING;
    own->domid = DOMID_NONE;
    reservation_refuse(own, domain);
    if (!own->told_uuid) {
        own->has_uuid = false;
        memset(own->uuid, 0, sizeof(own->uuid));
    }
    return 0;
}

static int commit(Ledger *ledger, const Reservation *r, const DomainMemory *domain, Ledger **ret_ledger)
{
    _cleanup_(ledger_unref_p) Ledger *draft = ledger_draft(ledger, 0);
    const Reservation *other = ledger_find_domain(ledger, domain->domid);
    Reservation *own = draft ? ledger_edit(draft, place_of(draft, r)) : NULL;
    int result;

    if (!own)
        return -ENOMEM;
    reservation_assign(own, RESERVATION_COMMITTED, domain);
    result = other && other != r ? yield(draft, other, domain) : 0;
    if (result == 0)
        result = ledger_seal(draft);
    if (result == 0)
        *ret_ledger = TAKE_PTR(draft);
    return result;
}

int ledger_commit(Ledger *ledger, const char *token, domid_t domid, const HostMemory *memory, Ledger **ret_ledger)
{
    const Reservation *r = ledger_find(ledger, token);
    const DomainMemory *domain;
    int result;

    if (!r)
        return unknown_token(ledger, token);
    domain = host_memory_find(memory, domid);
    if (!domain || domain->dying)
        return LEDGER_E_UNKNOWN_DOMAIN;
    result = check_commit(r, domain);
    if (result != 0)
        return result;
    if (r->state != RESERVATION_COMMITTED)
        return commit(ledger, r, domain, ret_ledger);
    *ret_ledger = ledger_ref(ledger);
    return 0;
}

/* --- release --- */

int ledger_release(Ledger *ledger, const char *token, Ledger **ret_ledger)
{
    const Reservation *r = ledger_find(ledger, token);
    _cleanup_(ledger_unref_p) Ledger *draft = NULL;

    if (!r)
        return unknown_token(ledger, token);
    draft = ledger_draft(ledger, 0);
    if (!draft)
        return -ENOMEM;
    ledger_drop(draft, place_of(draft, r));
    if (ledger_seal(draft) < 0)
        return -ENOMEM;
    *ret_ledger = TAKE_PTR(draft);
    return 0;
}
