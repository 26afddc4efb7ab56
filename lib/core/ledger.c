/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger-parts.h"

#include <string.h>

Ledger *ledger_new(void)
{
    Ledger *ledger = calloc(1, sizeof(*ledger));

    if (ledger)
        ledger->refs = 1;
    return ledger;
}

Ledger *ledger_ref(Ledger *ledger)
{
    ledger->refs++;
    return ledger;
}

Ledger *ledger_unref(Ledger *ledger)
{
    if (!ledger || --ledger->refs > 0)
        return NULL;
    for (size_t i = 0; i < ledger->n; i++)
        reservation_unref(ledger->items[i]);
    free(ledger->items);
    free(ledger->placed);
    free(ledger->expired);
    free(ledger);
    return NULL;
}

const Reservation *ledger_find(const Ledger *ledger, const char *token)
{
    for (size_t i = 0; i < ledger->n; i++)
        if (strcmp(ledger->items[i]->token, token) == 0)
            return ledger->items[i];
    return NULL;
}

static int compare_domid(const void *key, const void *element)
{
    uint32_t domid = *(const domid_t *)key, other = (*(Reservation *const *)element)->domid;

    return (domid > other) - (domid < other);
}

const Reservation *ledger_find_domain(const Ledger *ledger, domid_t domid)
{
    Reservation **found = NULL;

    if (ledger->n_placed > 0)
        found = bsearch(&domid, ledger->placed, ledger->n_placed, sizeof(*ledger->placed), compare_domid);
    return found ? *found : NULL;
}

size_t ledger_count_open(const Ledger *ledger)
{
    size_t n = 0;

    for (size_t i = 0; i < ledger->n; i++)
        n += reservation_is_open(ledger->items[i]);
    return n;
}

size_t ledger_count_open_of(const Ledger *ledger, uid_t uid)
{
    size_t n = 0;

    for (size_t i = 0; i < ledger->n; i++)
        n += reservation_is_open(ledger->items[i]) && ledger->items[i]->uid == uid;
    return n;
}

uint64_t ledger_next_expiry(const Ledger *ledger)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < ledger->n; i++)
        if (ledger->items[i]->state == RESERVATION_PENDING)
            next = MIN(next, ledger->items[i]->expires_us);
    return next;
}

bool ledger_has_expired(const Ledger *ledger, const char *token)
{
    for (size_t i = 0; i < ledger->n_expired; i++)
        if (strcmp(ledger->expired[i], token) == 0)
            return true;
    return false;
}

/* --- what is still set aside --- */

/* Bytes of the reservation's i-th node that its domain holds there, or has a claim to. */
static uint64_t held(const Reservation *r, size_t i, uint64_t total, const DomainMemory *domain,
                     const HostMemory *memory)
{
    uint64_t bytes = 0;

    if (domain->node_pages)
        bytes = domain->node_pages[r->memory[i].node] * memory->page_size;
    else if (domain->total_pages != VALUE_UNKNOWN && total > 0) /* taken to be where it was promised */
        bytes =
            (uint64_t)((double)r->memory[i].bytes / (double)total * (double)domain->total_pages * memory->page_size);
    if (memory->node_claims && r->n_memory == 1 && domain->claimed_pages != VALUE_UNKNOWN)
        bytes = add_saturating(bytes, domain->claimed_pages * memory->page_size);
    return bytes;
}

static void reserve_one(const Reservation *r, const DomainMemory *domain, const HostMemory *memory, uint64_t *reserved)
{
    uint64_t total = reservation_total(r);

    for (size_t i = 0; i < r->n_memory; i++) {
        uint64_t promised = add_saturating(r->memory[i].bytes, r->memory[i].overhead);
        nodeid_t node = r->memory[i].node;

        if (node < memory->n_nodes)
            reserved[node] = add_saturating(reserved[node],
                                            sub_saturating(promised, domain ? held(r, i, total, domain, memory) : 0));
    }
}

static uint64_t claim_of(const DomainMemory *domain, const HostMemory *memory)
{
    return domain && domain->claimed_pages != VALUE_UNKNOWN ? domain->claimed_pages * memory->page_size : 0;
}

void ledger_reserve(const Ledger *ledger, const HostMemory *memory, uint64_t *reserved, uint64_t *ret_claimed)
{
    uint64_t claimed = 0, promised = 0;

    for (size_t i = 0; i < ledger->n; i++) {
        const Reservation *r = ledger->items[i];
        const DomainMemory *domain = NULL;

        if (!reservation_is_open(r))
            continue;
        if (r->domid != DOMID_NONE)
            domain = host_memory_find(memory, (domid_t)r->domid);
        reserve_one(r, domain, memory, reserved);
        promised = add_saturating(promised, claim_of(domain, memory)); /* no domain has two open reservations */
    }
    for (size_t i = 0; i < memory->n_domains; i++)
        claimed = add_saturating(claimed, claim_of(&memory->domains[i], memory));
    *ret_claimed = sub_saturating(claimed, promised);
}
