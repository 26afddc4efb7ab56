/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "sim-token.h"

#include "sim-keys.h"

#include <string.h>

static int refuse(char **ret_why, const char *what)
{
    return sim_keys_refuse(ret_why, "token", "%s", what);
}

static int find_token(const Ledger *ledger, const char *token, const Reservation **ret_reservation, char **ret_why)
{
    const Reservation *reservation = ledger ? ledger_find(ledger, token) : NULL;
    int r;

    if (reservation && reservation->state == RESERVATION_PENDING) {
        *ret_reservation = reservation;
        return 0;
    }
    if (reservation)
        return refuse(ret_why, "its domain is there already");
    r = refuse(ret_why, "there is no such reservation, or it has ended");
    for (size_t i = 0; r > 0 && ledger && i < ledger->n_expired; i++)
        if (strcmp(ledger->expired[i], token) == 0)
            return SIM_START_E_EXPIRED;
    return r < 0 ? r : SIM_START_E_UNKNOWN_TOKEN;
}

static int take_nodes(const Reservation *reservation, const HostRows *rows, SimStart *start)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < reservation->n_memory; i++)
        if (reservation->memory[i].node < rows->n_nodes)
            r = bitmap_set(&start->nodes, reservation->memory[i].node);
    start->domain.node_affinity = &start->nodes;
    return r;
}

/* A set of which the host has no CPU any more is all of them. */
static int parse_set(const char *text, const HostRows *rows, Bitmap *set)
{
    int r = bitmap_parse(set, text, CPUS_MAX - 1);

    if (r != 0)
        return r < 0 ? r : -EINVAL; /* the reservation made the text itself */
    bitmap_cut(set, rows->max_cpu_id + 1);
    return bitmap_isempty(set) ? bitmap_set_range(set, 0, rows->max_cpu_id) : 0;
}

static int parse_sets(const PlacedSets *sets, const HostRows *rows, SimStart *start)
{
    int r = 0;

    start->placed = new_array(sets->n_texts, sizeof(*start->placed));
    if (!start->placed)
        return -ENOMEM;
    start->n_placed = sets->n_texts;
    for (size_t i = 0; r == 0 && i < sets->n_texts; i++)
        r = parse_set(sets->texts[i], rows, &start->placed[i]);
    return r;
}

static int take_sets(const Reservation *reservation, const HostRows *rows, SimStart *start)
{
    const PlacedSets *sets = reservation->sets;
    size_t n = 0;
    int r = parse_sets(sets, rows, start);

    if (r < 0)
        return r;
    start->vcpus = new_array(reservation->vcpus, sizeof(*start->vcpus));
    if (!start->vcpus)
        return -ENOMEM;
    for (size_t i = 0; i < sets->n_runs; i++)
        for (uint32_t k = 0; k < sets->runs[i].n && n < reservation->vcpus; k++)
            start->vcpus[n++] =
                (VcpuRow){.hard = start->placed[sets->runs[i].hard], .soft = start->placed[sets->runs[i].soft]};
    start->domain.sets = start->vcpus;
    start->domain.n_sets = n;
    return 0;
}

int sim_token_read(const char *token, const HostRows *rows, const Snapshot *snapshot, SimStart *start, char **ret_why)
{
    const Reservation *reservation = NULL;
    SimDomain *domain = &start->domain;
    int r = find_token(snapshot->ledger, token, &reservation, ret_why);

    if (r != 0)
        return r;
    domain->name = reservation->name;
    domain->has_uuid = reservation->has_uuid;
    memcpy(domain->uuid, reservation->uuid, sizeof(domain->uuid));
    domain->type = reservation->type;
    domain->pool = reservation->pool;
    domain->memory = reservation_total(reservation);
    domain->max_memory = reservation->max_memory;
    domain->vcpus = reservation->vcpus;
    r = take_nodes(reservation, rows, start);
    return r == 0 ? take_sets(reservation, rows, start) : r;
}
