/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reservation.h"

#include <string.h>

static const char *const state_texts[_RESERVATION_STATE_MAX] = {
    [RESERVATION_PENDING] = "pending",
    [RESERVATION_BUILDING] = "building",
    [RESERVATION_COMMITTED] = "committed",
};

const char *reservation_state_to_text(ReservationState state)
{
    return state_texts[state];
}

bool token_is_valid(const char *text)
{
    return strnlen(text, TOKEN_SIZE) == TOKEN_SIZE - 1 && strspn(text, "0123456789abcdef") == TOKEN_SIZE - 1;
}

Reservation *reservation_blank(size_t n_memory)
{
    Reservation *r = calloc(1, sizeof(*r) + n_memory * sizeof(r->memory[0]));

    if (!r)
        return NULL;
    r->refs = 1;
    r->domid = r->not_domid = DOMID_NONE;
    r->n_memory = n_memory;
    return r;
}

Reservation *reservation_new(const PlacementRequest *request, const Placement *placement, const ReservationInfo *info)
{
    _cleanup_(reservation_unref_p) Reservation *r = reservation_blank(placement->n_memory);

    if (!r)
        return NULL;
    memcpy(r->token, info->token, TOKEN_SIZE - 1);
    r->uid = info->uid;
    r->placed_us = info->placed_us;
    r->expires_us = info->expires_us;
    r->told_uuid = r->has_uuid = request->has_uuid;
    memcpy(r->uuid, request->uuid, sizeof(r->uuid));
    r->type = request->type;
    r->pool = request->pool == ROW_NO_POOL ? 0 : request->pool;
    r->max_memory = MAX(request->memory, request->max_memory);
    r->vcpus = request->vcpus;
    r->strict = request->strict;
    r->sets = placed_sets_new(placement);
    memcpy(r->memory, placement->memory, r->n_memory * sizeof(r->memory[0]));
    if (!r->sets || (request->name && !(r->name = strdup(request->name))))
        return NULL;
    return TAKE_PTR(r);
}

Reservation *reservation_copy(const Reservation *from)
{
    _cleanup_(reservation_unref_p) Reservation *r = reservation_blank(from->n_memory);

    if (!r)
        return NULL;
    memcpy(r, from, sizeof(*r) + from->n_memory * sizeof(r->memory[0]));
    r->refs = 1;
    r->sets = from->sets ? placed_sets_ref(from->sets) : NULL;
    r->name = from->name ? strdup(from->name) : NULL;
    if (from->name && !r->name)
        return NULL;
    return TAKE_PTR(r);
}

Reservation *reservation_ref(Reservation *r)
{
    r->refs++;
    return r;
}

Reservation *reservation_unref(Reservation *r)
{
    if (r && --r->refs == 0) {
        placed_sets_unref(r->sets);
        free(r->name);
        free(r);
    }
    return NULL;
}

uint64_t reservation_total(const Reservation *r)
{
    uint64_t total = 0;

    for (size_t i = 0; i < r->n_memory; i++)
        total = add_saturating(total, r->memory[i].bytes);
    return total;
}

uint64_t reservation_overhead(const Reservation *r)
{
    uint64_t total = 0;

    for (size_t i = 0; i < r->n_memory; i++)
        total = add_saturating(total, r->memory[i].overhead);
    return total;
}

#define KEPT_PAGES 4096u /* fewer pages than this elsewhere are not worth a word */

int reservation_kept(const Reservation *r, const uint64_t *node_pages, size_t n_nodes, uint32_t page_size)
{
    if (r->state != RESERVATION_COMMITTED || !node_pages)
        return -1;
    for (size_t i = 0; i < r->n_memory; i++) {
        uint64_t promised = r->memory[i].bytes / page_size;
        uint64_t held = r->memory[i].node < n_nodes ? node_pages[r->memory[i].node] : 0;

        if (held < sub_saturating(promised, MAX((uint64_t)KEPT_PAGES, promised / 10)))
            return 0;
    }
    return 1;
}
