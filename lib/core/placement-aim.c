/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-growth.h"

/* How large the sets are to be that grow (placement-growth.c), and from which nodes. */

#define STARTS_WORK 50000000u /* of one aim: where it would be more, not every node is a start */
#define STARTS_LAST 3u

uint64_t growth_memory(const PlacementSearch *q)
{
    return q->ask.memory + q->overhead;
}

uint64_t growth_room(const PlacementSearch *q)
{
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
           (add_saturating(memory, g->memory_of[n]) < growth_memory(q) || room + g->room_of[n] < growth_room(q)))
        n++;
    return n;
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

/* What is grown to next; false: nothing. */
static bool set_aim(PlacementSearch *q)
{
    Growth *g = &q->growth;
    size_t even = find_least_even(q);

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
    g->memory_of[0] = g->room_of[0] = 0;
    for (size_t i = 0; i < q->n_pick; i++) {
        g->memory_of[i + 1] = q->sites[q->pick[i]].capacity;
        g->room_of[i + 1] = g->rooms[q->pick[i]];
    }
    sum_up(g->memory_of, q->n_pick);
    sum_up(g->room_of, q->n_pick);
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
    g->worst = new_array(q->n_sites, sizeof(*g->worst));
    g->sum = new_array(q->n_sites, sizeof(*g->sum));
    if (!g->rows || !g->memory_of || !g->room_of || !g->rooms || !g->order || !g->open || !g->taken || !g->worst ||
        !g->sum)
        return -ENOMEM;
    g->begun = true;
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
    free(g->worst);
    free(g->sum);
    *g = (Growth){.rows = rows};
}

bool growth_is_start(const PlacementSearch *q, uint16_t site)
{
    const Growth *g = &q->growth;

    if (g->aim == AIM_ALL) /* such that nodes with other numbers have the same starts */
        return g->order[site] < STARTS_LAST;
    return g->target == 0 || q->sites[site].capacity >= g->part;
}
