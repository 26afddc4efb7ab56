/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-case.h"

#include <string.h>

/* A host's memory, and a request that has something to do with what the host has. */

/* --- memory --- */

/* The node's free pages as chunks: whole as the buddy allocator would merge them, or broken up to some order. */
static void draw_chunks(Draw *draw, NodeRow *row)
{
    static const unsigned tops[] = {18, 18, 18, 12, 9, 9, 8, 3, 0};
    uint64_t pages = row->free / 4096, part;
    unsigned top = tops[draw_below(draw, ARRAY_SIZE(tops))];

    row->n_free_chunks = CASE_CHUNK_ORDERS;
    MUST(row->free_chunks = new_array(row->n_free_chunks, sizeof(*row->free_chunks)));
    if (top > 9 && draw_chance(draw, 40)) { /* some of it broken, the rest whole */
        part = draw_below(draw, pages + 1) & ~511ull;
        row->free_chunks[9] += part / 512;
        pages -= part;
    }
    for (unsigned order = top + 1; order-- > 0; pages &= (1ull << order) - 1)
        row->free_chunks[order] += pages >> order;
}

static void draw_node_memory(Draw *draw, HostRows *rows, NodeRow *row, uint64_t grain, uint64_t most)
{
    unsigned how = (unsigned)draw_below(draw, 4);

    row->size = grain * draw_between(draw, 1, most / grain);
    row->free = how == 0   ? row->size
                : how == 1 ? row->size / grain / 8 * grain
                           : grain * draw_below(draw, row->size / grain + 1);
    row->dirty = draw_chance(draw, 70) ? 4096 * draw_below(draw, row->free / 4096 + 1) : 0;
    row->claimed = draw_chance(draw, 10) ? grain * draw_below(draw, row->free / grain / 4 + 1) : 0;
    if (rows->features & FEATURE_BIT(FEATURE_FREE_CHUNKS))
        draw_chunks(draw, row);
}

void place_draw_memory(Draw *draw, const CaseLimits *limits, HostRows *rows)
{
    static const uint64_t grains[] = {4096, 2 * MIB, 2 * MIB, 64 * MIB, GIB};
    static const uint64_t mosts[] = {256 * MIB, GIB, 3 * GIB, 8 * GIB};
    uint64_t grain = grains[draw_below(draw, ARRAY_SIZE(grains))];
    uint64_t most = mosts[draw_below(draw, limits->small ? 3 : ARRAY_SIZE(mosts))];
    bool low = draw_chance(draw, 30);

    rows->features = (draw_chance(draw, 50) ? FEATURE_BIT(FEATURE_FREE_CHUNKS) : 0) |
                     (draw_chance(draw, 60) ? FEATURE_BIT(FEATURE_NODE_MEMORY) : 0) |
                     (draw_chance(draw, 70) ? FEATURE_BIT(FEATURE_CLAIMS) : 0);
    for (size_t i = 0; i < rows->n_nodes; i++) {
        NodeRow *row = &rows->nodes[i];

        if (row->size == ROW_HOLE || row->size == 0)
            continue;
        draw_node_memory(draw, rows, row, MIN(grain, most), most);
        if (low && i == 0)
            row->low = MIN(row->free, 64 * MIB * draw_below(draw, 8));
    }
}

/* --- the request --- */

static uint64_t draw_memory(Draw *draw, const PlaceCase *place)
{
    static const uint64_t grains[] = {1, 4096, 4096, MIB, 2 * MIB, 2 * MIB, 128 * MIB, GIB};
    unsigned n = (unsigned)draw_between(draw, 1, 1 + draw_below(draw, 3)), how = (unsigned)draw_below(draw, 4);
    uint64_t bytes = 0, grain;

    for (unsigned i = 0; i < n; i++)
        bytes += place_case_available(place, (nodeid_t)draw_below(draw, place->rows->n_nodes));
    grain = grains[draw_below(draw, ARRAY_SIZE(grains))];
    if (how > 0)
        bytes = draw_below(draw, bytes / (how == 1 ? 8 : 1) / 4096 + 1) * 4096 + draw_below(draw, 4096);
    else if (draw_chance(draw, 50)) /* what a node has, less what it needs beside */
        bytes -= MIN(bytes, MIB * draw_between(draw, 1, 16));
    return MAX(bytes / grain * grain, grain);
}

static unsigned draw_vcpus(Draw *draw, const HostRows *rows)
{
    unsigned share = MAX((unsigned)(rows->n_cpus / rows->n_nodes), 1u);

    switch (draw_below(draw, 6)) {
    case 0:
        return share;
    case 1:
        return (unsigned)draw_between(draw, 1, 2 * share);
    case 2:
        return (unsigned)draw_between(draw, 1, rows->n_cpus + 4);
    case 3:
        return share / 2 + 1;
    default:
        return (unsigned)draw_between(draw, 1, 4);
    }
}

static void draw_nodes(Draw *draw, const HostRows *rows, PlacementRequest *request)
{
    unsigned n = (unsigned)draw_between(draw, 1, 3);

    while (n-- > 0) {
        nodeid_t node = (nodeid_t)draw_below(draw, rows->n_nodes);

        if ((rows->nodes[node].size != ROW_HOLE && rows->nodes[node].size) || draw_chance(draw, 5))
            MUST(bitmap_set(&request->nodes, node) == 0);
    }
    request->has_nodes = !bitmap_isempty(&request->nodes);
}

static void draw_hard(Draw *draw, const HostRows *rows, PlacementRequest *request)
{
    unsigned first = (unsigned)draw_below(draw, rows->n_cpus), count = (unsigned)draw_between(draw, 1, 16);

    for (cpuid_t cpu = first; cpu < rows->n_cpus && count > 0; cpu++, count--)
        if (rows->cpus[cpu].core != ROW_INVALID)
            MUST(bitmap_set(&request->cpus, cpu) == 0);
    request->has_cpus = !bitmap_isempty(&request->cpus);
}

static void draw_near(Draw *draw, const HostRows *rows, PlacementRequest *request)
{
    const char *pci = rows->n_devices ? rows->devices[draw_below(draw, rows->n_devices)].pci : "0000:ff:1f.7";

    if (rows->n_devices || draw_chance(draw, 10))
        MUST(request->near = strdup(pci));
}

static void draw_pool(Draw *draw, const HostRows *rows, PlacementRequest *request)
{
    request->pool = (uint32_t)draw_below(draw, MAX(rows->n_pools, (size_t)1));
    if (draw_chance(draw, 5))
        request->pool = 77;
}

static PlacementPolicy draw_policy(Draw *draw, const CaseLimits *limits)
{
    return (PlacementPolicy)draw_below(draw, limits->searched ? POLICY_PACK + 1 : _POLICY_MAX);
}

void place_draw_request(Draw *draw, const CaseLimits *limits, PlaceCase *place)
{
    PlacementRequest *request = &place->request;

    request->vcpus = draw_vcpus(draw, place->rows);
    request->memory = draw_memory(draw, place);
    request->max_memory = draw_chance(draw, 70) ? 0 : request->memory + MIB * draw_below(draw, 4096);
    request->type = (DomainType)draw_below(draw, _DOMAIN_TYPE_MAX);
    place->policy = draw_chance(draw, 60) ? POLICY_BALANCE : draw_policy(draw, limits);
    request->has_policy = draw_chance(draw, 40);
    request->policy = request->has_policy ? draw_policy(draw, limits) : 0;
    request->strict = limits->strict || draw_chance(draw, 20);
    request->threads_per_core = draw_chance(draw, 75) ? 0 : (uint32_t)draw_between(draw, 1, 4);
    if (draw_chance(draw, 25))
        draw_nodes(draw, place->rows, request);
    if (draw_chance(draw, 15))
        draw_hard(draw, place->rows, request);
    if (draw_chance(draw, 20))
        draw_near(draw, place->rows, request);
    if (draw_chance(draw, 20))
        draw_pool(draw, place->rows, request);
}
