/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-growth.h"

#include <string.h>

/*
 * Where there are too many sets to look at them all, sets are grown: from every node, the nearest one next, but only
 * such that the number of nodes aimed at can still be enough. The aim is first the smallest number that could do at
 * all, as if the largest nodes were all near; then the smallest of which each could give an even part of the memory;
 * and then all nodes, from a few starts, which takes whatever can be taken.
 *
 * A step ends within a set where it must, so all that is known of the set is kept.
 */

#define GROWTH_WORK 200000u /* of one step */

/* Of one site: to and from every other the longer way, then the sum of both. */
static const uint32_t *distance_row(PlacementSearch *q, size_t site)
{
    uint32_t **row = &q->growth.rows[site];

    if (*row)
        return *row;
    *row = new_array(2 * q->n_sites, sizeof(**row));
    for (size_t i = 0; *row && i < q->n_sites; i++) {
        uint32_t to = search_distance(q, q->sites[site].id, q->sites[i].id);
        uint32_t from = search_distance(q, q->sites[i].id, q->sites[site].id);

        (*row)[i] = MAX(to, from);
        (*row)[q->n_sites + i] = to == DISTANCE_NONE || from == DISTANCE_NONE ? 0 : to + from;
    }
    q->work += 4 * q->n_sites;
    return *row;
}

static void close_site(Growth *g, uint16_t site)
{
    for (size_t i = 0; i < g->n_open; i++)
        if (g->open[i] == site) {
            g->open[i] = g->open[--g->n_open];
            return;
        }
}

static int add(PlacementSearch *q, uint16_t site)
{
    Growth *g = &q->growth;
    const uint32_t *row = distance_row(q, site);

    if (!row)
        return -ENOMEM;
    g->taken[site] = true;
    close_site(g, site);
    g->distance = MAX(g->distance, g->worst[site]);
    g->distance_sum += g->sum[site];
    g->memory = add_saturating(g->memory, q->sites[site].capacity);
    g->room += g->rooms[site];
    for (size_t i = 0; i < q->n_sites; i++) {
        g->worst[i] = MAX(g->worst[i], row[i]);
        g->sum[i] += row[q->n_sites + i];
    }
    q->work += q->n_sites;
    return 0;
}

/* Sites that may be taken. */
static void open_sites(PlacementSearch *q)
{
    Growth *g = &q->growth;

    g->n_open = 0;
    for (size_t i = 0; i < q->n_pick; i++)
        if (q->sites[q->pick[i]].capacity >= g->part && !g->shut[q->pick[i]])
            g->open[g->n_open++] = q->pick[i];
}

static int begin_set(PlacementSearch *q)
{
    Growth *g = &q->growth;
    int r = 0;

    memset(g->taken, 0, q->n_sites * sizeof(*g->taken));
    memset(g->worst, 0, q->n_sites * sizeof(*g->worst));
    memset(g->sum, 0, q->n_sites * sizeof(*g->sum));
    g->memory = g->room = g->distance_sum = g->size = g->distance = 0;
    g->growing = true;
    open_sites(q);
    for (size_t i = 0; r == 0 && i < q->n_base; i++)
        r = add(q, q->base[i]);
    if (r == 0 && g->target > 0 && g->worst[q->pick[g->start]] != DISTANCE_NONE) {
        r = add(q, q->pick[g->start]);
        g->size = 1;
    }
    return r;
}

/* The nearest site with which the aim can still be reached; UINT16_MAX: none. Most of the time goes into this. */
static uint16_t find_next(PlacementSearch *q)
{
    const Growth *g = &q->growth;
    uint32_t nearest = DISTANCE_NONE, nearest_sum = 0;
    uint16_t next = UINT16_MAX;
    size_t more = g->target - g->size - 1; /* after this one */
    uint64_t memory = sub_saturating(growth_memory(q), add_saturating(g->memory, g->memory_of[more]));
    uint64_t room = sub_saturating(growth_room(q), g->room + g->room_of[more]);

    for (size_t i = 0; i < g->n_open; i++) {
        uint16_t site = g->open[i];
        uint32_t distance = g->worst[site], sum = g->sum[site];

        if (distance > nearest || (distance == nearest && sum > nearest_sum) || distance == DISTANCE_NONE ||
            (distance == nearest && sum == nearest_sum && next != UINT16_MAX && g->order[site] > g->order[next]) ||
            q->sites[site].capacity < memory || g->rooms[site] < room)
            continue;
        nearest = distance;
        nearest_sum = sum;
        next = site;
    }
    q->work += 2 * g->n_open;
    return next;
}

static int try_set(PlacementSearch *q, const Stage *stage)
{
    uint16_t members[NODES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < q->n_sites; i++)
        if (q->growth.taken[i])
            members[n++] = (uint16_t)i;
    return n ? search_try(q, stage, members, n) : 0;
}

/* Something fits already that is smaller, or that is nearer however this one goes on. */
static bool is_beaten(const PlacementSearch *q)
{
    const Growth *g = &q->growth;
    const Found *best = &q->best[g->level];
    const Verdict *v = &best->verdict;

    if (!best->found)
        return false;
    if (v->n <= q->n_base + g->size)
        return true;
    return v->n <= q->n_base + g->target && v->near == 0 && g->level != LEVEL_MEMORY &&
           (g->distance > v->worst || (g->distance == v->worst && g->distance_sum > v->distance_sum));
}

/* 1: there is more to do with this set. */
static int grow_set(PlacementSearch *q, const Stage *stage)
{
    Growth *g = &q->growth;
    int r = g->growing ? 0 : begin_set(q);

    while (r == 0) {
        uint16_t next;

        if (q->work > GROWTH_WORK)
            return 1;
        if (g->size >= g->checked)
            r = try_set(q, stage);
        if (r < 0 || g->size >= g->target || is_beaten(q))
            break;
        next = find_next(q);
        if (next == UINT16_MAX)
            break;
        r = add(q, next);
        g->size++;
    }
    g->growing = false;
    return r;
}

/* Every start of one aim. 1: there is more to do. */
static int grow_sets(PlacementSearch *q, const Stage *stage)
{
    Growth *g = &q->growth;

    for (; g->start < q->n_pick; g->start += g->stride) {
        int r = 0;

        if (growth_is_start(q, q->pick[g->start]))
            r = grow_set(q, stage);
        if (r != 0)
            return r;
        if (g->target == 0) /* the base alone, wherever one starts */
            break;
    }
    return 0;
}

int search_grow(PlacementSearch *q, const Stage *stage)
{
    Growth *g = &q->growth;
    int r = g->begun ? 0 : growth_begin(q, stage);

    while (r == 0 && g->level <= stage->to) {
        bool more = g->level_begun || growth_begin_level(q);

        if (more)
            r = grow_sets(q, stage);
        if (r != 0 || q->best[g->level].found)
            return r;
        if (!more || !growth_next_aim(q)) {
            g->level++;
            g->level_begun = false;
        }
    }
    return r;
}
