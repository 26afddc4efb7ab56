/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim-alloc.h"

#include <string.h>

static const uint64_t size_bytes[_SIM_SIZE_MAX] = {[SIM_PAGE] = 1, [SIM_2M] = 2ull << 20, [SIM_1G] = 1ull << 30};

unsigned sim_order(SimSize size, uint32_t page_size)
{
    unsigned order = 0;

    while ((uint64_t)page_size << order < size_bytes[size])
        order++;
    return order;
}

int sim_holding_init(SimHolding *holding, size_t n_nodes)
{
    uint64_t *array = new_array(n_nodes * (2 + _SIM_SIZE_MAX), sizeof(*array));

    if (!array)
        return -ENOMEM;
    *holding = (SimHolding){.pages = array, .low = array + n_nodes, .extents = array + 2 * n_nodes};
    return 0;
}

void sim_holding_done(SimHolding *holding)
{
    free(holding->pages);
    *holding = (SimHolding){0};
}

static uint64_t *extents_of(SimHolding *holding, nodeid_t node)
{
    return &holding->extents[(size_t)node * _SIM_SIZE_MAX];
}

void sim_holding_add(SimHolding *holding, nodeid_t node, uint64_t pages, uint32_t page_size)
{
    unsigned order = sim_order(SIM_2M, page_size);

    holding->pages[node] += pages;
    extents_of(holding, node)[SIM_2M] += pages >> order;
    extents_of(holding, node)[SIM_PAGE] += pages & ((1ull << order) - 1);
}

int sim_nodes_init(SimNodes *nodes, HostRows *rows)
{
    *nodes = (SimNodes){.page_size = rows->page_size};
    nodes->nodes = new_array(rows->n_nodes, sizeof(*nodes->nodes));
    nodes->ring = new_array(rows->n_nodes, sizeof(*nodes->ring));
    nodes->supply = new_array(rows->n_nodes, sizeof(*nodes->supply));
    nodes->got = new_array(rows->n_nodes, sizeof(*nodes->got));
    if (!nodes->nodes || !nodes->ring || !nodes->supply || !nodes->got)
        return -ENOMEM;
    for (; nodes->n < rows->n_nodes; nodes->n++)
        if (sim_node_init(&nodes->nodes[nodes->n], &rows->nodes[nodes->n], rows->page_size, rows->features) < 0)
            return -ENOMEM;
    return 0;
}

void sim_nodes_done(SimNodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        sim_node_done(&nodes->nodes[i]);
    free(nodes->nodes);
    free(nodes->ring);
    free(nodes->supply);
    free(nodes->got);
    *nodes = (SimNodes){0};
}

uint64_t sim_nodes_free(const SimNodes *nodes)
{
    uint64_t pages = 0;

    for (size_t i = 0; i < nodes->n; i++)
        pages = add_saturating(pages, sim_node_free(&nodes->nodes[i]));
    return pages;
}

static void take(SimNodes *s, nodeid_t node, SimSize size, uint64_t n, SimPass pass, SimHolding *to)
{
    unsigned order = sim_order(size, s->page_size);

    sim_node_take(&s->nodes[node], order, n, pass);
    to->pages[node] += n << order;
    to->low[node] += sim_pass_is_low(pass) ? n << order : 0;
    extents_of(to, node)[size] += n;
}

/* The nodes of a set that have something to give, in the order in which their turn comes after `last`. */
static size_t make_ring(SimNodes *s, const Bitmap *set, nodeid_t last)
{
    nodeid_t first = last == NODE_NONE ? 0 : last + 1;
    size_t n = 0;

    for (unsigned node = bitmap_next(set, first); node < s->n; node = bitmap_next(set, node + 1))
        if (s->supply[node] > 0)
            s->ring[n++] = node;
    for (unsigned node = bitmap_next(set, 0); node < first && node < s->n; node = bitmap_next(set, node + 1))
        if (s->supply[node] > 0)
            s->ring[n++] = node;
    return n;
}

/* So many rounds in which each of the ring gives one. Those that have no more leave it. */
static size_t go_round(SimNodes *s, size_t n_ring, uint64_t rounds)
{
    size_t n = 0;

    for (size_t i = 0; i < n_ring; i++) {
        nodeid_t node = s->ring[i];

        s->got[node] += rounds;
        s->supply[node] -= rounds;
        if (s->supply[node] > 0)
            s->ring[n++] = node;
    }
    return n;
}

static uint64_t least_supply(const SimNodes *s, size_t n_ring)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < n_ring; i++)
        least = MIN(least, s->supply[s->ring[i]]);
    return least;
}

/* Shares out up to n extents of what the set has to give. How many. */
static uint64_t share_round_robin(SimNodes *s, const Bitmap *set, uint64_t n, nodeid_t *last)
{
    size_t n_ring = make_ring(s, set, *last);
    uint64_t left = n;

    while (left > 0 && n_ring > 0) {
        uint64_t rounds = MIN(least_supply(s, n_ring), left / n_ring);

        if (rounds == 0) { /* not enough for all of them */
            *last = s->ring[left - 1];
            go_round(s, left, 1);
            return n;
        }
        left -= rounds * n_ring;
        *last = s->ring[n_ring - 1];
        n_ring = go_round(s, n_ring, rounds);
    }
    return n - left;
}

/* The same of all other nodes, the lowest-numbered first. */
static uint64_t share_others(SimNodes *s, const Bitmap *set, uint64_t n, nodeid_t *last)
{
    uint64_t left = n;

    for (nodeid_t node = 0; node < s->n && left > 0; node++) {
        uint64_t m = bitmap_isset(set, node) ? 0 : MIN(left, s->supply[node]);

        s->got[node] += m;
        left -= m;
        if (m > 0)
            *last = node;
    }
    return n - left;
}

static uint64_t take_part(SimNodes *s, const Bitmap *affinity, SimSize size, uint64_t n, SimPass pass, nodeid_t *last,
                          SimHolding *to)
{
    unsigned order = sim_order(size, s->page_size);
    uint64_t got;

    for (nodeid_t node = 0; node < s->n; node++) {
        s->got[node] = 0;
        s->supply[node] = sim_node_supply(&s->nodes[node], order, pass);
    }
    got = share_round_robin(s, affinity, n, last);
    got += share_others(s, affinity, n - got, last);
    for (nodeid_t node = 0; node < s->n; node++)
        if (s->got[node] > 0)
            take(s, node, size, s->got[node], pass, to);
    return got;
}

uint64_t sim_nodes_take(SimNodes *s, const Bitmap *affinity, SimSize size, uint64_t n, nodeid_t *last, SimHolding *to)
{
    uint64_t got = 0;

    for (SimPass pass = 0; got < n && pass < _SIM_PASS_MAX; pass++)
        got += take_part(s, affinity, size, n - got, pass, last, to);
    return got;
}

uint64_t sim_nodes_take_pages(SimNodes *s, nodeid_t node, uint64_t pages, SimPass pass, SimHolding *to)
{
    uint64_t n = MIN(pages, sim_node_supply(&s->nodes[node], 0, pass));

    if (n > 0)
        take(s, node, SIM_PAGE, n, pass, to);
    return n;
}

/* Whole extents of one size. How many pages. */
static uint64_t give_extents(SimNodes *s, nodeid_t node, SimSize size, uint64_t pages, SimHolding *from)
{
    unsigned order = sim_order(size, s->page_size);
    uint64_t *extents = &extents_of(from, node)[size], n = MIN(pages >> order, *extents);
    uint64_t above = from->pages[node] - from->low[node], low = sub_saturating(n << order, above);

    if (n == 0)
        return 0;
    *extents -= n;
    from->pages[node] -= n << order;
    from->low[node] -= low;
    sim_node_give(&s->nodes[node], order, n, low);
    return n << order;
}

/* Makes single pages of the smallest extent that is none. */
static void split_extent(SimNodes *s, nodeid_t node, SimHolding *holding)
{
    uint64_t *extents = extents_of(holding, node);

    for (SimSize size = SIM_2M; size < _SIM_SIZE_MAX; size++)
        if (extents[size] > 0) {
            unsigned order = sim_order(size, s->page_size);

            extents[size]--;
            extents[SIM_PAGE] += 1ull << order;
            sim_node_split_held(&s->nodes[node], order, 1);
            return;
        }
}

void sim_nodes_give(SimNodes *s, nodeid_t node, uint64_t pages, SimHolding *from)
{
    for (SimSize size = _SIM_SIZE_MAX; size-- > 0;)
        pages -= give_extents(s, node, size, pages, from);
    if (pages > 0) {
        split_extent(s, node, from);
        give_extents(s, node, SIM_PAGE, pages, from);
    }
}
