/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger-parts.h"

#include <string.h>

static int copy_items(Ledger *draft, const Ledger *from, size_t more)
{
    draft->items = new_array(from->n + more, sizeof(*draft->items));
    draft->placed = new_array(from->n_placed, sizeof(*draft->placed));
    if (!draft->items || !draft->placed)
        return -ENOMEM;
    for (; draft->n < from->n; draft->n++)
        draft->items[draft->n] = reservation_ref(from->items[draft->n]);
    draft->n_placed = from->n_placed;
    if (from->n_placed > 0)
        memcpy(draft->placed, from->placed, from->n_placed * sizeof(*draft->placed));
    return 0;
}

static int copy_expired(Ledger *draft, const Ledger *from)
{
    if (from->n_expired == 0)
        return 0;
    draft->expired = new_array(from->n_expired, sizeof(*draft->expired));
    if (!draft->expired)
        return -ENOMEM;
    draft->n_expired = from->n_expired;
    memcpy(draft->expired, from->expired, from->n_expired * sizeof(*draft->expired));
    return 0;
}

Ledger *ledger_draft(const Ledger *from, size_t more)
{
    _cleanup_(ledger_unref_p) Ledger *draft = ledger_new();

    if (!draft || copy_items(draft, from, more) < 0 || copy_expired(draft, from) < 0)
        return NULL;
    return TAKE_PTR(draft);
}

Reservation *ledger_edit(Ledger *draft, size_t i)
{
    Reservation *own = reservation_copy(draft->items[i]);

    if (!own)
        return NULL;
    reservation_unref(draft->items[i]);
    draft->items[i] = own;
    return own;
}

void ledger_drop(Ledger *draft, size_t i)
{
    draft->items[i] = reservation_unref(draft->items[i]);
}

int ledger_remember(Ledger *draft, const LedgerEnd *ends, size_t n_ends)
{
    size_t n_new = MIN(n_ends, (size_t)LEDGER_EXPIRED_MAX), kept = MIN(draft->n_expired, LEDGER_EXPIRED_MAX - n_new);
    char(*expired)[TOKEN_SIZE] = new_array(kept + n_new, sizeof(*expired));

    if (!expired)
        return -ENOMEM;
    if (kept > 0)
        memcpy(expired, draft->expired + (draft->n_expired - kept), kept * sizeof(*expired));
    for (size_t i = 0; i < n_new; i++)
        memcpy(expired[kept + i], ends[n_ends - n_new + i].reservation->token, TOKEN_SIZE);
    free(draft->expired);
    draft->expired = expired;
    draft->n_expired = kept + n_new;
    return 0;
}

static int compare_domids(const void *a, const void *b)
{
    uint32_t left = (*(Reservation *const *)a)->domid, right = (*(Reservation *const *)b)->domid;

    return (left > right) - (left < right);
}

static void close_gaps(Ledger *draft)
{
    size_t n = 0;

    for (size_t i = 0; i < draft->n; i++)
        if (draft->items[i])
            draft->items[n++] = draft->items[i];
    draft->n = n;
}

int ledger_seal(Ledger *draft)
{
    Reservation **placed;

    close_gaps(draft);
    placed = new_array(draft->n, sizeof(*placed));
    if (!placed)
        return -ENOMEM;
    free(draft->placed);
    draft->placed = placed;
    draft->n_placed = 0;
    for (size_t i = 0; i < draft->n; i++)
        if (draft->items[i]->domid != DOMID_NONE)
            placed[draft->n_placed++] = draft->items[i];
    qsort(placed, draft->n_placed, sizeof(*placed), compare_domids);
    return 0;
}

/* --- a reservation and its domain --- */

static bool is_same_uuid(bool has, const uint8_t uuid[16], const DomainMemory *domain)
{
    return has == domain->has_uuid && (!has || memcmp(uuid, domain->uuid, sizeof(domain->uuid)) == 0);
}

bool reservation_is_of(const Reservation *r, const DomainMemory *domain)
{
    return is_same_uuid(r->has_uuid, r->uuid, domain);
}

bool reservation_awaits(const Reservation *r, const DomainMemory *domain)
{
    if (r->told_uuid)
        return is_same_uuid(true, r->uuid, domain);
    return r->name && domain->name && strcmp(r->name, domain->name) == 0;
}

void reservation_refuse(Reservation *r, const DomainMemory *domain)
{
    r->not_domid = domain->domid;
    r->has_not_uuid = domain->has_uuid;
    memcpy(r->not_uuid, domain->uuid, sizeof(r->not_uuid));
}

void reservation_assign(Reservation *r, ReservationState state, const DomainMemory *domain)
{
    r->state = state;
    r->domid = domain->domid;
    r->has_uuid = domain->has_uuid;
    memcpy(r->uuid, domain->uuid, sizeof(r->uuid));
    r->not_domid = DOMID_NONE;
    r->has_not_uuid = false;
    memset(r->not_uuid, 0, sizeof(r->not_uuid));
    if (state == RESERVATION_COMMITTED)
        r->sets = placed_sets_unref(r->sets);
}
