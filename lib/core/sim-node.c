/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim-node.h"

#include <string.h>

/*
 * Chunks are counted, not listed, so which of them are neighbours is not known. What can join again is bounded by what
 * was split before: a chunk that the host itself had in two halves stays in two. Whoever gives all back that he has
 * taken leaves the counts as they were.
 */

int sim_node_init(SimNode *node, NodeRow *row, uint32_t page_size, unsigned features)
{
    *node = (SimNode){.row = row, .page_size = page_size};
    if (features & FEATURE_BIT(FEATURE_NODE_MEMORY) && row->dirty != VALUE_UNKNOWN)
        node->dirty = MIN(row->dirty, row->free);
    if (!(features & FEATURE_BIT(FEATURE_FREE_CHUNKS)) || !row->free_chunks)
        return 0;
    node->split = new_array(row->n_free_chunks, sizeof(*node->split));
    return node->split ? 0 : -ENOMEM;
}

void sim_node_done(SimNode *node)
{
    free(node->split);
    node->split = NULL;
}

bool sim_node_exists(const SimNode *node)
{
    return node->row->size != ROW_HOLE;
}

uint64_t sim_node_free(const SimNode *node)
{
    return sim_node_exists(node) ? node->row->free / node->page_size : 0;
}

static uint64_t low_pages(const SimNode *node)
{
    return node->row->low == VALUE_UNKNOWN ? 0 : node->row->low / node->page_size;
}

/* n << order, but for what no host has. */
static uint64_t pages_of(uint64_t n, unsigned order)
{
    return order < SIM_ORDERS && n <= UINT64_MAX >> order ? n << order : UINT64_MAX;
}

static uint64_t chunk_pages(const SimNode *node, unsigned order)
{
    uint64_t pages = 0;

    if (!node->split)
        return UINT64_MAX;
    for (size_t i = order; i < node->row->n_free_chunks; i++)
        pages = add_saturating(pages, pages_of(node->row->free_chunks[i], (unsigned)i));
    return pages;
}

/* Of so many pages in chunks that are large enough. The low reserve is the last to be dirty. */
static uint64_t pages_in(const SimNode *node, uint64_t pages, SimPass pass, bool clean)
{
    uint64_t low = low_pages(node), above = sub_saturating(sim_node_free(node), low);
    uint64_t dirty = clean ? node->dirty / node->page_size + (node->dirty % node->page_size != 0) : 0;

    if (sim_pass_is_low(pass))
        return sub_saturating(MIN(pages, low), sub_saturating(dirty, above));
    return sub_saturating(pages, add_saturating(low, MIN(dirty, above)));
}

uint64_t sim_node_supply(const SimNode *node, unsigned order, SimPass pass)
{
    bool clean = order > 0 && (pass == SIM_CLEAN || pass == SIM_LOW_CLEAN);

    if (order >= SIM_ORDERS)
        return 0;
    return pages_in(node, MIN(sim_node_free(node), chunk_pages(node, order)), pass, clean) >> order;
}

/* Notes that of each larger chunk as many are split as hold the first n extents. */
static void note_split(SimNode *node, unsigned order, unsigned chunk, uint64_t n)
{
    for (unsigned i = order + 1; i <= chunk; i++)
        node->split[i] += (n >> (i - order)) + ((n & ((1ull << (i - order)) - 1)) != 0);
}

/* What is left of one chunk after the first n of its extents, fewer than all. */
static void keep_rest(SimNode *node, unsigned order, unsigned chunk, uint64_t n)
{
    uint64_t rest = (1ull << (chunk - order)) - n;

    for (unsigned i = order; i < chunk; i++)
        node->row->free_chunks[i] += rest >> (i - order) & 1;
}

/* From the smallest chunks that are large enough. */
static void take_chunks(SimNode *node, unsigned order, uint64_t n)
{
    uint64_t *chunks = node->row->free_chunks;

    for (unsigned i = order; n > 0 && i < node->row->n_free_chunks && i < SIM_ORDERS; i++) {
        uint64_t each = 1ull << (i - order), whole = MIN(chunks[i], n / each);

        chunks[i] -= whole;
        n -= whole * each;
        note_split(node, order, i, whole * each);
        if (chunks[i] == 0 || n == 0 || n >= each)
            continue;
        chunks[i]--;
        note_split(node, order, i, n);
        keep_rest(node, order, i, n);
        n = 0;
    }
}

/* Also where the host has told no number: then only the model knows. */
static void set_dirty(SimNode *node, uint64_t dirty)
{
    node->dirty = MIN(dirty, node->row->free);
    node->own_dirty = MIN(node->own_dirty, node->dirty);
    if (node->row->dirty != VALUE_UNKNOWN)
        node->row->dirty = node->dirty;
}

void sim_node_take(SimNode *node, unsigned order, uint64_t n, SimPass pass)
{
    uint64_t bytes = (n << order) * node->page_size;
    bool is_dirty = order > 0 && (pass == SIM_ANY || pass == SIM_LOW_ANY); /* no scrubbed one was left */

    node->row->free -= bytes;
    if (sim_pass_is_low(pass))
        node->row->low -= bytes;
    set_dirty(node, sub_saturating(node->dirty, is_dirty ? bytes : 0));
    if (node->split)
        take_chunks(node, order, n);
}

void sim_node_scrub(SimNode *node, uint64_t bytes)
{
    uint64_t scrubbed = MIN(bytes, node->own_dirty);

    node->own_dirty -= scrubbed;
    set_dirty(node, node->dirty - scrubbed);
}

static void join_chunks(SimNode *node, unsigned order)
{
    uint64_t *chunks = node->row->free_chunks;

    for (unsigned i = order + 1; i < node->row->n_free_chunks; i++) {
        uint64_t n = MIN(node->split[i], chunks[i - 1] / 2);

        chunks[i - 1] -= 2 * n;
        chunks[i] += n;
        node->split[i] -= n;
    }
}

/* The orders that the host has chunks of end somewhere: larger extents come back as several of its largest. */
static void give_chunks(SimNode *node, unsigned order, uint64_t n)
{
    unsigned top = (unsigned)node->row->n_free_chunks - 1;

    if (node->row->n_free_chunks == 0)
        return;
    if (order > top) {
        n = pages_of(n, order - top);
        order = top;
    }
    node->row->free_chunks[order] += n;
    join_chunks(node, order);
}

void sim_node_give(SimNode *node, unsigned order, uint64_t n, uint64_t low)
{
    uint64_t bytes = (n << order) * node->page_size;

    node->row->free += bytes;
    if (low > 0)
        node->row->low += low * node->page_size;
    node->own_dirty += bytes;
    set_dirty(node, node->dirty + bytes);
    if (node->split)
        give_chunks(node, order, n);
}

void sim_node_split_held(SimNode *node, unsigned order, uint64_t n)
{
    if (node->split && order < node->row->n_free_chunks)
        note_split(node, 0, order, n << order);
}
