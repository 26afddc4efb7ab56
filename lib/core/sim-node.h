/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rows.h"

/*
 * The free memory of one simulated node: a row of HostRows, and how many chunks of each order the model has split, so
 * that they can join again. All numbers are pages, and extents are of 2^order pages.
 */

#define SIM_ORDERS 64u

/*
 * What Xen looks for on all nodes before it takes the next: extents that are scrubbed, then any, then those of the low
 * reserve. Single pages are taken scrubbed or not.
 */
typedef enum SimPass { SIM_CLEAN, SIM_ANY, SIM_LOW_CLEAN, SIM_LOW_ANY, _SIM_PASS_MAX } SimPass;

static inline bool sim_pass_is_low(SimPass pass)
{
    return pass >= SIM_LOW_CLEAN;
}

typedef struct SimNode {
    NodeRow *row;
    uint32_t page_size;
    uint64_t dirty;     /* bytes that are not scrubbed, whether or not the row tells */
    uint64_t own_dirty; /* of these, what the model itself gave back */
    uint64_t *split;    /* owned; by order, row->n_free_chunks entries; NULL: chunks are not known */
} SimNode;

/* 0 or -ENOMEM. `features` are the host's: without them chunks are not known, and nothing is dirty. */
int sim_node_init(SimNode *node, NodeRow *row, uint32_t page_size, unsigned features);
void sim_node_done(SimNode *node);

bool sim_node_exists(const SimNode *node);
uint64_t sim_node_free(const SimNode *node); /* pages, low reserve included */

/* Extents to be had in a pass. */
uint64_t sim_node_supply(const SimNode *node, unsigned order, SimPass pass);
/* So many of them, which there must be. */
void sim_node_take(SimNode *node, unsigned order, uint64_t n, SimPass pass);
/* So many extents back, dirty, of which `low_pages` lie in the low reserve. */
void sim_node_give(SimNode *node, unsigned order, uint64_t n, uint64_t low_pages);
/* Scrubs so much of what the model gave back. */
void sim_node_scrub(SimNode *node, uint64_t bytes);
/* So many extents that somebody holds are single pages from now on. */
void sim_node_split_held(SimNode *node, unsigned order, uint64_t n);
