/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sim-node.h"

/*
 * Which nodes a simulated host's extents come from (sim-host.h tells the rule), in closed form: a domain of a TiB is
 * half a million extents.
 */

/* The sizes that the builder asks for. */
typedef enum SimSize { SIM_PAGE, SIM_2M, SIM_1G, _SIM_SIZE_MAX } SimSize;
unsigned sim_order(SimSize size, uint32_t page_size);

/* What somebody holds, by node. */
typedef struct SimHolding {
    uint64_t *pages;
    uint64_t *low;     /* of the pages */
    uint64_t *extents; /* of each SimSize, [node * _SIM_SIZE_MAX + size]; their sum is `pages` */
} SimHolding;

/* One owned array under all of them. 0 or -ENOMEM. */
int sim_holding_init(SimHolding *holding, size_t n_nodes);
void sim_holding_done(SimHolding *holding);
/* So many of its pages on a node, that it does not know in which extents: as large as 2 MiB. */
void sim_holding_add(SimHolding *holding, nodeid_t node, uint64_t pages, uint32_t page_size);

typedef struct SimNodes {
    SimNode *nodes; /* owned */
    size_t n;
    uint32_t page_size;
    nodeid_t *ring;         /* owned; room for n */
    uint64_t *supply, *got; /* owned; by node */
} SimNodes;

int sim_nodes_init(SimNodes *nodes, HostRows *rows); /* 0 or -ENOMEM; the rows must live as long */
void sim_nodes_done(SimNodes *nodes);
uint64_t sim_nodes_free(const SimNodes *nodes); /* pages */

/*
 * Up to n extents for a domain: from `affinity` round robin, going on after *last, then from others. How many there
 * were; *last is the node that the last one came from.
 */
uint64_t sim_nodes_take(SimNodes *nodes, const Bitmap *affinity, SimSize size, uint64_t n, nodeid_t *last,
                        SimHolding *to);
/* Up to so many single pages of one node; above the low reserve, or, SIM_LOW_ANY, in it. How many there were. */
uint64_t sim_nodes_take_pages(SimNodes *nodes, nodeid_t node, uint64_t pages, SimPass pass, SimHolding *to);
/* So many of the holding's pages of a node, which it has; the low ones last. */
void sim_nodes_give(SimNodes *nodes, nodeid_t node, uint64_t pages, SimHolding *from);
