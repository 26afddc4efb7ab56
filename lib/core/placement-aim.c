/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-growth.h"

#include <string.h>

/* How large the sets are to be that grow (placement-growth.c), and from which nodes. */

#define STARTS_WORK 50000000u /* of one aim: where it would be more, not every node is a start */
#define STARTS_LAST 3u
#define SHUT_ROUNDS 32u

uint64_t growth_memory(const PlacementSearch *q)
{
    return q->ask.memory + q->overhead;
}

uint64_t growth_room(const PlacementSearch *q)
{
    uint32_t all = q->growth.level == LEVEL_CORES ? q->all.room : q->all.cpus;

    if (q->apart && (all >= q->request.vcpus || q->growth.level == LEVEL_CPUS))
        return 0;
    if (q->growth.level == LEVEL_CPUS)
        return q->n_allowed;
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

/* --- nodes whose memory is promised --- */

static bool is_promised(const Site *site)
{
    return site->usable > site->available;
}

static bool any_promised(const PlacementSearch *q)
{
    for (size_t i = 0; i < q->n_pick; i++)
        if (is_promised(&q->sites[q->pick[i]]))
            return true;
    return false;
}

/* A node of which Xen would take more than is available there is in no set of so many. The fewer, the more of each. */
static void shut_out(PlacementSearch *q, size_t n)
{
    uint64_t n_extents, part = split_even_part(&q->ask, MAX(q->n_base + n, (size_t)1), &n_extents);

    for (size_t i = 0; i < q->n_pick; i++) {
        const Site *site = &q->sites[q->pick[i]];

        q->growth.shut[q->pick[i]] = is_promised(site) && site->available < MIN(part, site->usable);
    }
    q->work += q->n_pick;
}

/* Takes away the nodes of which too much would be taken if all were taken together; false: there is none. */
static bool shut_crowded(PlacementSearch *q)
{
    bool some = false, *whole = q->growth.taken; /* nothing is growing yet */
    size_t n = 0;
    Split split;

    memset(whole, 0, q->n_sites * sizeof(*whole));
    for (size_t i = 0; i < q->n_base; i++)
        whole[q->base[i]] = true;
    for (size_t i = 0; i < q->n_pick; i++)
        whole[q->pick[i]] = !q->growth.shut[q->pick[i]];
    for (size_t i = 0; i < q->n_sites; i++)
        if (whole[i])
            q->shares[n++].site = &q->sites[i];
    if (n > 1)
        split_memory(&q->ask, q->shares, n, &split);
    for (size_t i = 0; n > 1 && i < n; i++) {
        const Site *site = q->shares[i].site;

        if (!is_promised(site) || q->shares[i].bytes <= site->available || site->base)
            continue;
        q->growth.shut[site - q->sites] = some = true;
    }
    q->work += 20 * n;
    return some;
}

/* What is left is the largest set whose nodes give no more than they may; whatever fits is within it. */
static void shut_out_of_all(PlacementSearch *q)
{
    for (size_t i = 0; i < SHUT_ROUNDS; i++)
        if (!shut_crowded(q))
            return;
}

/* --- sizes --- */

static void sum_capacities(PlacementSearch *q)
{
    Growth *g = &q->growth;

    g->memory_of[0] = 0;
    for (size_t i = 0; i < q->n_pick; i++)
        g->memory_of[i + 1] = g->shut[q->pick[i]] ? 0 : q->sites[q->pick[i]].capacity;
    sum_up(g->memory_of, q->n_pick);
}

/* Whether so many could do. */
static bool can_do(PlacementSearch *q, size_t n, uint64_t memory, uint64_t room)
{
    const Growth *g = &q->growth;

    if (g->promised) {
        shut_out(q, n);
        sum_capacities(q);
    }
    return add_saturating(memory, g->memory_of[n]) >= growth_memory(q) && room + g->room_of[n] >= growth_room(q);
}

/* The smallest number to pick that could do; more than there are: none. If so many can, so can more. */
static size_t find_least(PlacementSearch *q)
{
    const Growth *g = &q->growth;
    uint64_t memory = 0, room = 0;
    size_t low = q->size, high = q->n_pick + 1; /* smaller sets have all been looked at */

    for (size_t i = 0; i < q->n_base; i++) {
        memory = add_saturating(memory, q->sites[q->base[i]].capacity);
        room += g->rooms[q->base[i]];
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (can_do(q, middle, memory, room))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static size_t count_even(const PlacementSearch *q, size_t n)
{
    uint64_t part = growth_memory(q) / (q->n_base + n);
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

/* --- in which order equally near sites are taken --- */

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

/* For qsort(), which has no argument of its own for what it sorts by. */
typedef struct Ordered {
    const PlacementSearch *search;
    uint16_t site;
} Ordered;

static int compare_ordered(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    int r = compare_sites(x->search, &x->search->sites[x->site], &y->search->sites[y->site]);

    return r ? r : compare(x->site, y->site);
}

static int find_order(PlacementSearch *q)
{
    _cleanup_free_ char *buffer = new_array(q->n_pick, sizeof(Ordered));
    Ordered *ordered = (Ordered *)(void *)buffer;

    if (!ordered)
        return -ENOMEM;
    for (size_t i = 0; i < q->n_pick; i++)
        ordered[i] = (Ordered){.search = q, .site = q->pick[i]};
    qsort(ordered, q->n_pick, sizeof(*ordered), compare_ordered);
    for (size_t i = 0; i < q->n_pick; i++)
        q->growth.order[ordered[i].site] = (uint16_t)i;
    return 0;
}

/* --- aims --- */

/* Which nodes are left out, and what the others have. */
static void shut_for_aim(PlacementSearch *q)
{
    if (q->growth.aim == AIM_LEAST)
        shut_out(q, q->growth.least);
    if (q->growth.aim == AIM_ALL)
        shut_out_of_all(q);
    sum_capacities(q);
}

static void open_all(PlacementSearch *q)
{
    memset(q->growth.shut, 0, q->n_sites * sizeof(*q->growth.shut));
    sum_capacities(q);
}

/* What is grown to next; false: nothing. */
static bool set_aim(PlacementSearch *q)
{
    Growth *g = &q->growth;
    size_t even;

    if (g->promised)
        open_all(q);
    even = find_least_even(q);
    if (g->promised)
        shut_for_aim(q);
    g->even = g->aim == AIM_EVEN;
    g->target = g->aim == AIM_ALL ? q->n_pick : g->even ? even : g->least;
    g->checked = g->aim == AIM_ALL ? g->least : g->target;
    g->part = g->even && g->target ? growth_memory(q) / (q->n_base + g->target) : 0;
    g->start = 0;
    g->stride = 1 + g->target * q->n_pick / (STARTS_WORK / q->n_pick + 1);
    return !g->even || even > 0;
}

bool growth_next_aim(PlacementSearch *q)
{
    while (++q->growth.aim < _AIM_MAX)
        if (set_aim(q))
            return true;
    return false;
}

/* False: the level cannot be reached. */
bool growth_begin_level(PlacementSearch *q)
{
    Growth *g = &q->growth;

    find_rooms(q);
    g->room_of[0] = 0;
    for (size_t i = 0; i < q->n_pick; i++)
        g->room_of[i + 1] = g->rooms[q->pick[i]];
    sum_up(g->room_of, q->n_pick);
    open_all(q);
    g->least = find_least(q);
    g->aim = AIM_LEAST;
    g->level_begun = true;
    return g->least <= q->n_pick && (set_aim(q) || growth_next_aim(q));
}

int growth_begin(PlacementSearch *q, const Stage *stage)
{
    Growth *g = &q->growth;

    g->rows = g->rows ? g->rows : new_array(q->n_sites, sizeof(*g->rows));
    g->memory_of = new_array(q->n_pick + 1, sizeof(*g->memory_of));
    g->room_of = new_array(q->n_pick + 1, sizeof(*g->room_of));
    g->rooms = new_array(q->n_sites, sizeof(*g->rooms));
    g->order = new_array(q->n_sites, sizeof(*g->order));
    g->open = new_array(q->n_sites, sizeof(*g->open));
    g->taken = new_array(q->n_sites, sizeof(*g->taken));
    g->shut = new_array(q->n_sites, sizeof(*g->shut));
    g->worst = new_array(q->n_sites, sizeof(*g->worst));
    g->sum = new_array(q->n_sites, sizeof(*g->sum));
    if (!g->rows || !g->memory_of || !g->room_of || !g->rooms || !g->order || !g->open || !g->taken || !g->worst ||
        !g->sum || !g->shut)
        return -ENOMEM;
    g->begun = true;
    g->promised = any_promised(q);
    g->level = stage->from;
    return find_order(q);
}

/* Distances stay as they are for the whole search. */
void search_end_growth(PlacementSearch *q, bool keep_distances)
{
    Growth *g = &q->growth;
    uint32_t **rows = g->rows;

    for (size_t i = 0; rows && !keep_distances && i < q->n_sites; i++)
        free(rows[i]);
    if (!keep_distances) {
        free(rows);
        rows = NULL;
    }
    free(g->memory_of);
    free(g->room_of);
    free(g->rooms);
    free(g->order);
    free(g->open);
    free(g->taken);
    free(g->shut);
    free(g->worst);
    free(g->sum);
    *g = (Growth){.rows = rows};
}

/* Open ones that are taken before it. */
static size_t count_before(const PlacementSearch *q, uint16_t site)
{
    const Growth *g = &q->growth;
    size_t n = 0;

    for (size_t i = 0; i < q->n_pick && n < STARTS_LAST; i++)
        n += !g->shut[q->pick[i]] && g->order[q->pick[i]] < g->order[site];
    return n;
}

bool growth_is_start(const PlacementSearch *q, uint16_t site)
{
    const Growth *g = &q->growth;

    if (g->shut[site])
        return false;
    if (g->aim == AIM_ALL) /* such that nodes with other numbers have the same starts */
        return count_before(q, site) < STARTS_LAST;
    return g->target == 0 || q->sites[site].capacity >= g->part;
}
