/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <string.h>

/*
 * Where there are too many sets to look at them all, sets are grown: from every node, the nearest one next, but only
 * such that the number of nodes aimed at can still be enough. The aim is first the smallest number that could do at
 * all, as if the largest nodes were all near; then the smallest of which each could give an even part of the memory;
 * and then all nodes, from a few starts, which takes whatever can be taken.
 *
 * A step ends within a set where it must, so all that is known of the set is kept.
 */

#define GROWTH_WORK 200000u   /* of one step */
#define STARTS_WORK 50000000u /* of one aim: where it would be more, not every node is a start */
#define STARTS_LAST 3u

typedef enum Aim { AIM_LEAST_EVEN, AIM_LEAST, AIM_EVEN, AIM_ALL, _AIM_MAX } Aim;

void search_end_growth(PlacementSearch *q)
{
    Growth *g = &q->growth;

    for (size_t i = 0; g->rows && i < q->n_sites; i++)
        free(g->rows[i]);
    free(g->rows);
    free(g->memory_of);
    free(g->room_of);
    free(g->rooms);
    free(g->taken);
    free(g->worst);
    free(g->sum);
    *g = (Growth){0};
}

static int begin(PlacementSearch *q, const Stage *stage)
{
    Growth *g = &q->growth;

    g->rows = new_array(q->n_sites, sizeof(*g->rows));
    g->memory_of = new_array(q->n_pick + 1, sizeof(*g->memory_of));
    g->room_of = new_array(q->n_pick + 1, sizeof(*g->room_of));
    g->rooms = new_array(q->n_sites, sizeof(*g->rooms));
    g->taken = new_array(q->n_sites, sizeof(*g->taken));
    g->worst = new_array(q->n_sites, sizeof(*g->worst));
    g->sum = new_array(q->n_sites, sizeof(*g->sum));
    if (!g->rows || !g->memory_of || !g->room_of || !g->rooms || !g->taken || !g->worst || !g->sum)
        return -ENOMEM;
    g->begun = true;
    g->level = stage->from;
    return 0;
}

static uint64_t memory_needed(const PlacementSearch *q)
{
    return q->ask.memory + q->overhead;
}

static uint64_t room_needed(const PlacementSearch *q)
{
    return q->growth.level == LEVEL_MEMORY ? 0 : q->request.vcpus;
}

static int compare_descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

static void sum_up(uint64_t *values, size_t n)
{
    qsort(values + 1, n, sizeof(*values), compare_descending);
    for (size_t i = 1; i <= n; i++)
        values[i] = add_saturating(values[i], values[i - 1]);
}

static void find_rooms(PlacementSearch *q)
{
    for (size_t i = 0; i < q->n_sites; i++) {
        uint16_t site = (uint16_t)i;
        CpuSum sum;

        set_sum_cpus(q, &site, 1, true, &sum);
        q->growth.rooms[i] = q->growth.level == LEVEL_CORES ? sum.room : sum.cpus;
    }
}

/* The smallest number to pick that could do; more than there are: none. */
static size_t find_least(const PlacementSearch *q)
{
    const Growth *g = &q->growth;
    uint64_t memory = 0, room = 0;
    size_t n = q->size; /* smaller sets have all been looked at */

    for (size_t i = 0; i < q->n_base; i++) {
        memory = add_saturating(memory, q->sites[q->base[i]].capacity);
        room += g->rooms[q->base[i]];
    }
    while (n <= q->n_pick &&
           (add_saturating(memory, g->memory_of[n]) < memory_needed(q) || room + g->room_of[n] < room_needed(q)))
        n++;
    return n;
}

static size_t count_even(const PlacementSearch *q, size_t n)
{
    uint64_t part = memory_needed(q) / (q->n_base + n);
    size_t count = 0;

    while (count < q->n_pick && q->growth.memory_of[count + 1] - q->growth.memory_of[count] >= part)
        count++;
    return count;
}

/* The smallest number, from the least on, of which each could give an even part; 0: none. */
static size_t find_least_even(const PlacementSearch *q)
{
    for (size_t n = MAX(q->growth.least, (size_t)1); n <= q->n_pick; n++)
        if (count_even(q, n) >= n)
            return n;
    return 0;
}

/* What is grown to next; false: nothing. */
static bool set_aim(PlacementSearch *q)
{
    Growth *g = &q->growth;
    size_t even = find_least_even(q);

    g->even = g->aim == AIM_LEAST_EVEN || g->aim == AIM_EVEN;
    g->target = g->aim == AIM_ALL ? q->n_pick : g->even ? even : g->least;
    g->checked = g->aim == AIM_ALL ? g->least : g->target;
    g->start = 0;
    g->stride = 1 + g->target * q->n_pick / (STARTS_WORK / q->n_pick + 1);
    if (g->aim == AIM_LEAST_EVEN)
        return even == g->least && even > 0;
    return g->aim != AIM_EVEN || even > g->least;
}

static bool next_aim(PlacementSearch *q)
{
    while (++q->growth.aim < _AIM_MAX)
        if (set_aim(q))
            return true;
    return false;
}

/* False: the level cannot be reached. */
static bool begin_level(PlacementSearch *q)
{
    Growth *g = &q->growth;

    find_rooms(q);
    g->memory_of[0] = g->room_of[0] = 0;
    for (size_t i = 0; i < q->n_pick; i++) {
        g->memory_of[i + 1] = q->sites[q->pick[i]].capacity;
        g->room_of[i + 1] = g->rooms[q->pick[i]];
    }
    sum_up(g->memory_of, q->n_pick);
    sum_up(g->room_of, q->n_pick);
    g->least = find_least(q);
    g->aim = AIM_LEAST_EVEN;
    g->level_begun = true;
    return g->least <= q->n_pick && (set_aim(q) || next_aim(q));
}

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

static int add(PlacementSearch *q, uint16_t site)
{
    Growth *g = &q->growth;
    const uint32_t *row = distance_row(q, site);

    if (!row)
        return -ENOMEM;
    g->taken[site] = true;
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

static int begin_set(PlacementSearch *q)
{
    Growth *g = &q->growth;
    int r = 0;

    memset(g->taken, 0, q->n_sites * sizeof(*g->taken));
    memset(g->worst, 0, q->n_sites * sizeof(*g->worst));
    memset(g->sum, 0, q->n_sites * sizeof(*g->sum));
    g->memory = g->room = g->distance_sum = g->size = g->distance = 0;
    g->growing = true;
    for (size_t i = 0; r == 0 && i < q->n_base; i++)
        r = add(q, q->base[i]);
    if (r == 0 && g->target > 0 && g->worst[q->pick[g->start]] != DISTANCE_NONE) {
        r = add(q, q->pick[g->start]);
        g->size = 1;
    }
    return r;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Of sites that are equally near: negative where the first is to be taken first. Numbers come last. */
static int compare_sites(const PlacementSearch *q, const Site *a, const Site *b)
{
    const CpuSum *x = &q->cpus[a->id], *y = &q->cpus[b->id];
    int r = compare(b->capacity, a->capacity);

    if (r == 0)
        r = compare(x->load * y->cores, y->load * x->cores);
    if (r == 0)
        r = compare(b->available, a->available);
    if (r == 0)
        r = compare(a->device, b->device);
    if (r == 0)
        r = compare(b->chunks[STEP_2M], a->chunks[STEP_2M]);
    return r ? r : compare(a->dirty, b->dirty);
}

static bool is_nearer(const PlacementSearch *q, uint16_t a, uint16_t b)
{
    const Growth *g = &q->growth;

    if (g->worst[a] != g->worst[b])
        return g->worst[a] < g->worst[b];
    if (g->sum[a] != g->sum[b])
        return g->sum[a] < g->sum[b];
    return compare_sites(q, &q->sites[a], &q->sites[b]) < 0;
}

/* Whether it can give as much as the others, of a set as large as is aimed at. */
static bool gives_even_part(const PlacementSearch *q, uint16_t site)
{
    return q->sites[site].capacity >= memory_needed(q) / (q->n_base + q->growth.target);
}

/* The nearest site with which the aim can still be reached; UINT16_MAX: none. */
static uint16_t find_next(PlacementSearch *q)
{
    const Growth *g = &q->growth;
    uint32_t nearest = DISTANCE_NONE;
    uint16_t next = UINT16_MAX;
    size_t more = g->target - g->size - 1; /* after this one */
    uint64_t memory = add_saturating(g->memory, g->memory_of[more]), room = g->room + g->room_of[more];

    for (size_t i = 0; i < q->n_pick; i++) {
        uint16_t site = q->pick[i];

        if (g->worst[site] > nearest || g->taken[site] || g->worst[site] == DISTANCE_NONE ||
            (g->even && !gives_even_part(q, site)) ||
            add_saturating(memory, q->sites[site].capacity) < memory_needed(q) ||
            room + g->rooms[site] < room_needed(q) || (next != UINT16_MAX && !is_nearer(q, site, next)))
            continue;
        nearest = g->worst[site];
        next = site;
    }
    q->work += 4 * q->n_pick;
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

/* For the last aim, the nodes that few come before. */
static bool is_start(const PlacementSearch *q, uint16_t site)
{
    const Growth *g = &q->growth;
    size_t n_before = 0;

    if (g->aim != AIM_ALL)
        return !g->even || g->target == 0 || gives_even_part(q, site);
    for (size_t i = 0; i < q->n_pick && n_before < STARTS_LAST; i++)
        n_before += compare_sites(q, &q->sites[q->pick[i]], &q->sites[site]) < 0;
    return n_before < STARTS_LAST;
}

/* Every start of one aim. 1: there is more to do. */
static int grow_sets(PlacementSearch *q, const Stage *stage)
{
    Growth *g = &q->growth;

    for (; g->start < q->n_pick; g->start += g->stride) {
        int r = 0;

        if (is_start(q, q->pick[g->start]))
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
    int r = g->begun ? 0 : begin(q, stage);

    while (r == 0 && g->level <= stage->to) {
        bool more = g->level_begun || begin_level(q);

        if (more)
            r = grow_sets(q, stage);
        if (r != 0 || q->best[g->level].found)
            return r;
        if (!more || !next_aim(q)) {
            g->level++;
            g->level_begun = false;
        }
    }
    return r;
}
