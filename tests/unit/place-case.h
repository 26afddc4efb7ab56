/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/account.h"
#include "lib/core/placement.h"

#include <stdio.h>

/*
 * Hosts and requests drawn at random, for the proof of the placement engine: from a seed, so that a failure can be had
 * again, or from the bytes of a fuzzer.
 */

typedef struct Draw {
    uint64_t state;       /* without bytes: of splitmix64 */
    const uint8_t *bytes; /* NULL: from the state; zeros after their end */
    size_t size;
} Draw;

Draw draw_seeded(uint64_t seed);
uint64_t draw_below(Draw *draw, uint64_t n); /* 0..n-1; 0 for n == 0 */
uint64_t draw_between(Draw *draw, uint64_t low, uint64_t high);
bool draw_chance(Draw *draw, unsigned percent);

typedef struct CaseLimits {
    unsigned min_nodes, max_nodes;
    unsigned max_cpus; /* of a node */
    bool plain;        /* nodes all alike: CPUs and memory, no hole, nothing unreachable, one pool */
    bool strict;       /* only strict requests */
    bool searched;     /* only the policies that look for the best set, balance and pack */
    bool small;        /* little memory, for what looks at every extent */
} CaseLimits;

#define CASE_PCI_SIZE 13
#define CASE_CHUNK_ORDERS 19u /* Xen's MAX_ORDER and below */
#define MIB (1ull << 20)
#define GIB (1ull << 30)

typedef struct PlaceCase {
    HostRows *rows;
    Ledger *ledger;
    uint64_t headroom;
    PlacementRequest request;
    PlacementPolicy policy; /* the configured one */
} PlaceCase;

void place_case_draw(Draw *draw, const CaseLimits *limits, PlaceCase *ret);
void place_case_done(PlaceCase *place);

/* The rows sealed and accounted; one reference. The case is left as it is. Never NULL. */
Snapshot *place_case_snapshot(const PlaceCase *place);
/* As placement_evaluate(). */
int place_case_evaluate(const PlaceCase *place, Snapshot *snapshot, bool explain, Placement **ret_placement,
                        char **ret_why);
static inline PlacementPolicy place_case_policy(const PlaceCase *place)
{
    return place->request.has_policy ? place->request.policy : place->policy;
}
/* Bytes of the node that may be promised, by the rows, the ledger and the headroom; the snapshot is not asked. */
uint64_t place_case_available(const PlaceCase *place, nodeid_t node);

/* Bytes that Xen gives away, whatever is promised of them: free, less the low reserve and the node's claims. */
uint64_t place_case_usable(const PlaceCase *place, nodeid_t node);

/* Deep copies: to be changed. */
void place_case_copy(const PlaceCase *place, PlaceCase *ret_copy);
/* Node old becomes new[old]; holes and all, and the devices, domains, reservations and the request's nodes follow. */
void place_case_renumber(PlaceCase *place, const nodeid_t *new_ids);
/* Gives the node more free memory, in chunks as large as they come. */
void place_case_add_memory(PlaceCase *place, nodeid_t node, uint64_t bytes);

/* Sets aside what was answered, as Place does. */
void place_case_promise(PlaceCase *place, const Placement *placement);
/* Promises some of most nodes' memory, as if to others, never more than there is. */
void place_case_promise_some(Draw *draw, PlaceCase *place);

/* The host as a host description, the request and the ledger, as comments of TAP. */
void place_case_print(const PlaceCase *place, FILE *file);
void placement_print(int result, const Placement *placement, const char *why, FILE *file);

/* Parts of the drawing, by file. */
void place_draw_host(Draw *draw, const CaseLimits *limits, HostRows *rows);
void place_draw_memory(Draw *draw, const CaseLimits *limits, HostRows *rows);
void place_draw_request(Draw *draw, const CaseLimits *limits, PlaceCase *place);

/* A test or a fuzzer has no use for going on without memory. */
#define MUST(condition)                                                                \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: no memory: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                   \
        }                                                                              \
    } while (0)
