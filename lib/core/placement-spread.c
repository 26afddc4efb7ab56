/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <string.h>

/*
 * Policies that want many nodes. `any` takes all there are, as Xen does without a node affinity. `interleave` takes as
 * many as can give equal parts: all that are asked for, else all but those with too little.
 */

#define SPREAD_WORK 100000u /* of one step */

static void begin(PlacementSearch *q, const Stage *stage)
{
    q->n_pick = 0;
    for (size_t i = 0; i < q->n_sites; i++)
        if (site_is_candidate(q, &q->sites[i]) && (!stage->asked_only || q->sites[i].asked))
            q->pick[q->n_pick++] = (uint16_t)i;
}

static void drop(PlacementSearch *q, size_t at)
{
    q->n_pick--;
    memmove(q->pick + at, q->pick + at + 1, (q->n_pick - at) * sizeof(*q->pick));
}

/* How many of the others do not reach the one, or are not reached. */
static size_t count_unreachable(PlacementSearch *q, size_t at)
{
    nodeid_t id = q->sites[q->pick[at]].id;
    size_t n = 0;

    for (size_t i = 0; i < q->n_pick; i++) {
        nodeid_t other = q->sites[q->pick[i]].id;

        n += search_distance(q, id, other) == DISTANCE_NONE || search_distance(q, other, id) == DISTANCE_NONE;
    }
    q->work += q->n_pick;
    return n;
}

/* Drops the one that the fewest reach, until each reaches all. False: they all did. */
static bool drop_unreachable(PlacementSearch *q)
{
    for (bool dropped = false;; dropped = true) {
        size_t most = 0, worst = 0;

        for (size_t i = 0; i < q->n_pick; i++) {
            size_t n = count_unreachable(q, i);

            if (n > most || (n == most && n && q->sites[q->pick[i]].available <= q->sites[q->pick[worst]].available)) {
                most = n;
                worst = i;
            }
        }
        if (most == 0)
            return dropped;
        drop(q, worst);
    }
}

/* The one with the least; of several, the last. */
static size_t find_least(const PlacementSearch *q)
{
    size_t least = 0;

    for (size_t i = 1; i < q->n_pick; i++)
        if (q->sites[q->pick[i]].available <= q->sites[q->pick[least]].available)
            least = i;
    return least;
}

static size_t count_asked(const PlacementSearch *q)
{
    return bitmap_weight(&q->request.nodes);
}

static int try_even(PlacementSearch *q, const Stage *stage, bool *even)
{
    Verdict v;

    set_judge(q, q->pick, q->n_pick, &v);
    *even = v.refused_by == REFUSED_NOT && v.even && q->shares[q->n_pick - 1].bytes > 0;
    if (*even)
        return search_try(q, stage, q->pick, q->n_pick);
    if (v.refused_by == REFUSED_NOT)
        v.refused_by = REFUSED_POLICY;
    return q->explain ? search_note(q, q->pick, &v) : 0;
}

/* Fewer and fewer nodes, until each can give as much as the others. 1: there is more to do. */
static int search_even_down_to(PlacementSearch *q, const Stage *stage, size_t least_nodes, bool *ret_even)
{
    bool even = false;
    int r = 0;

    *ret_even = false;
    while (q->n_pick >= least_nodes) {
        size_t least = find_least(q);

        if (q->work > SPREAD_WORK)
            return 1;
        if (split_may_be_even(&q->ask, q->n_pick, q->sites[q->pick[least]].available))
            r = try_even(q, stage, &even);
        q->work += q->n_pick;
        *ret_even = even;
        if (r < 0 || even)
            return r;
        drop(q, least);
    }
    return r;
}

/* Some of those that do not reach all may have more than what was kept: then of all nodes, by what they have alone. */
static int search_even(PlacementSearch *q, const Stage *stage)
{
    bool even = false;
    int r = 0;

    if (q->spread == SPREAD_REACHING) {
        r = search_even_down_to(q, stage, 2, &even);
        if (r != 0 || even)
            return r;
        begin(q, stage);
        q->spread = SPREAD_ALL;
    }
    return search_even_down_to(q, stage, 1, &even);
}

int search_spread(PlacementSearch *q, const Stage *stage)
{
    const PlacementRequest *request = &q->request;
    bool even = false, interleave = q->policy == POLICY_INTERLEAVE;
    int r = 0;

    if (!q->begun) {
        q->begun = true;
        begin(q, stage);
        if (interleave && !(request->strict && request->has_nodes))
            q->spread = drop_unreachable(q) ? SPREAD_REACHING : SPREAD_ALL;
    }
    if (interleave && !stage->uneven && !request->has_nodes)
        return search_even(q, stage);
    if (q->n_pick == 0 || (stage->asked_only && request->strict && q->n_pick < count_asked(q)))
        return 0;
    if (request->strict && interleave)
        r = try_even(q, stage, &even);
    else
        r = search_try(q, stage, q->pick, q->n_pick);
    return r;
}
