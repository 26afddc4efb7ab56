/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <string.h>

/*
 * Which sets are looked at: all of them, smallest first, where there are few enough to look at; else those that grow
 * from each node (placement-growth.c). Every set has the `base` and some of the `pick`.
 */

#define SETS_MAX 4096u /* of one size; and all sets of 12 nodes */
#define NODES_EXACT_MAX 12u
#define SETS_WORK 100000u /* of one step */

/* Sites of the base and the pick, as the stage has it. */
static void begin(PlacementSearch *q, const Stage *stage)
{
    q->n_base = q->n_pick = 0;
    for (size_t i = 0; i < q->n_sites; i++) {
        Site *site = &q->sites[i];

        site->capacity = split_capacity(&q->ask, site);
        site->base = stage->with_asked && site->asked && site->capacity > 0 && site_is_candidate(q, site);
        if (!site_is_candidate(q, site) || site->capacity == 0 || (stage->asked_only && !site->asked))
            continue;
        if (site->base)
            q->base[q->n_base++] = (uint16_t)i;
        else
            q->pick[q->n_pick++] = (uint16_t)i;
    }
}

/* The set of the base and of the picks that `chosen` names, ascending. */
static size_t merge(const PlacementSearch *q, const uint16_t *chosen, size_t n, uint16_t *members)
{
    size_t b = 0, c = 0, k = 0;

    while (b < q->n_base || c < n)
        if (c == n || (b < q->n_base && q->base[b] < q->pick[chosen[c]]))
            members[k++] = q->base[b++];
        else
            members[k++] = q->pick[chosen[c++]];
    return k;
}

/* The next n of `of`, in the order of their numbers; false: there are no more. */
static bool next_combination(uint16_t *chosen, size_t n, size_t of)
{
    size_t i = n;

    while (i > 0 && chosen[i - 1] == of - n + i - 1)
        i--;
    if (i == 0)
        return false;
    chosen[i - 1]++;
    for (; i < n; i++)
        chosen[i] = (uint16_t)(chosen[i - 1] + 1);
    return true;
}

static int try_size(PlacementSearch *q, const Stage *stage, size_t size)
{
    uint16_t chosen[NODES_EXACT_MAX], members[NODES_MAX];
    int r = 0;

    for (size_t i = 0; i < size; i++)
        chosen[i] = (uint16_t)i;
    do
        r = search_try(q, stage, members, merge(q, chosen, size, members));
    while (r == 0 && next_combination(chosen, size, q->n_pick));
    return r;
}

/* One node each, however many there are. */
static int try_singles(PlacementSearch *q, const Stage *stage)
{
    int r = 0;

    for (size_t i = 0; r == 0 && q->n_base == 0 && i < q->n_pick; i++)
        r = search_try(q, stage, &q->pick[i], 1);
    return r;
}

/* Whether all sets with up to so many picked are looked at. */
static bool is_exact(const PlacementSearch *q, size_t size)
{
    uint64_t sets = 1, sum = 0;

    if (q->n_pick <= NODES_EXACT_MAX)
        return true;
    for (size_t i = 0; i < size && sum <= SETS_MAX; i++) {
        sets = sets * (q->n_pick - i) / (i + 1);
        sum += sets;
    }
    return sum <= SETS_MAX;
}

int search_sets(PlacementSearch *q, const Stage *stage)
{
    int r = 0;

    if (!q->begun) {
        q->begun = true;
        begin(q, stage);
        r = try_singles(q, stage);
        q->size = q->n_base ? 0 : 2;
    }
    for (; r == 0 && !stage->single && q->size <= q->n_pick && !q->best[stage->from].found; q->size++) {
        if (q->work > SETS_WORK)
            return 1;
        if (!is_exact(q, q->size))
            return search_grow(q, stage);
        if (q->n_base + q->size > 0)
            r = try_size(q, stage, q->size);
    }
    return r;
}
