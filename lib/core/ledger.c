/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger.h"

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

/* --- what is still set aside --- */

/* Bytes of the reservation's i-th node that its domain holds there, or has a claim to. */
static uint64_t held(const Reservation *r, size_t i, const DomainMemory *domain, const HostMemory *memory)
{
    uint64_t bytes = 0, promised = reservation_total(r);

    if (domain->node_pages)
        bytes = domain->node_pages[r->memory[i].node] * memory->page_size;
    else if (domain->total_pages != VALUE_UNKNOWN && promised > 0) /* taken to be where it was promised */
        bytes = (uint64_t)((double)r->memory[i].bytes / (double)promised * (double)domain->total_pages *
                           memory->page_size);
    if (memory->node_claims && r->n_memory == 1 && domain->claimed_pages != VALUE_UNKNOWN)
        bytes = add_saturating(bytes, domain->claimed_pages * memory->page_size);
    return bytes;
}

static void reserve_one(const Reservation *r, const HostMemory *memory, uint64_t *reserved)
{
    const DomainMemory *domain = r->domid == DOMID_NONE ? NULL : host_memory_find(memory, (domid_t)r->domid);

    for (size_t i = 0; i < r->n_memory; i++) {
        uint64_t promised = add_saturating(r->memory[i].bytes, r->memory[i].overhead);
        nodeid_t node = r->memory[i].node;

        if (node < memory->n_nodes)
            reserved[node] =
                add_saturating(reserved[node], sub_saturating(promised, domain ? held(r, i, domain, memory) : 0));
    }
}

static bool is_promised(const Ledger *ledger, domid_t domid)
{
    for (size_t i = 0; i < ledger->n; i++)
        if (reservation_is_open(ledger->items[i]) && ledger->items[i]->domid == domid)
            return true;
    return false;
}

void ledger_reserve(const Ledger *ledger, const HostMemory *memory, uint64_t *reserved, uint64_t *ret_claimed)
{
    *ret_claimed = 0;
    for (size_t i = 0; i < ledger->n; i++)
        if (reservation_is_open(ledger->items[i]))
            reserve_one(ledger->items[i], memory, reserved);
    for (size_t i = 0; i < memory->n_domains; i++) {
        const DomainMemory *domain = &memory->domains[i];

        if (domain->claimed_pages != VALUE_UNKNOWN && domain->claimed_pages && !is_promised(ledger, domain->domid))
            *ret_claimed = add_saturating(*ret_claimed, domain->claimed_pages * memory->page_size);
    }
}
