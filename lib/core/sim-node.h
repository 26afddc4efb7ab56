/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rows.h"

/*
 * The free memory of one simulated node: a row of HostRows, and how many chunks of each order the model has split, so
 * that they can join again. All numbers are pages, and extents are of 2^order pages.
 */

#define SIM_ORDERS 64u

typedef struct SimNode {
    NodeRow *row;
    uint32_t page_size;
    uint64_t *split; /* owned; by order, row->n_free_chunks entries; NULL: chunks are not known */
} SimNode;

/* 0 or -ENOMEM. Takes free chunks for unknown unless the host tells them. */
int sim_node_init(SimNode *node, NodeRow *row, uint32_t page_size, bool has_chunks);
void sim_node_done(SimNode *node);

bool sim_node_exists(const SimNode *node);
uint64_t sim_node_free(const SimNode *node); /* pages, low reserve included */

/* Extents to be had above the low reserve, and in it. */
uint64_t sim_node_supply(const SimNode *node, unsigned order, bool low);
/* So many of them, which there must be. */
void sim_node_take(SimNode *node, unsigned order, uint64_t n, bool low);
/* So many extents back, dirty, of which `low_pages` lie in the low reserve. */
void sim_node_give(SimNode *node, unsigned order, uint64_t n, uint64_t low_pages);
/* So many extents that somebody holds are single pages from now on. */
void sim_node_split_held(SimNode *node, unsigned order, uint64_t n);
