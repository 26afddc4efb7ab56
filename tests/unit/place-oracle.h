/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/place-case.h"

/*
 * What the texts ask of a placement, said again as simply as can be: memory is dealt out extent by extent, every set of
 * nodes is looked at, and nothing is clever. Slow, for up to ORACLE_NODES nodes; the split and the figures of one set
 * are good for any number.
 */
#define ORACLE_NODES 8u

typedef struct Oracle {
    const PlaceCase *place;
    const Snapshot *snapshot;
    const PlacementRequest *request;
    Bitmap allowed;   /* CPUs: online, of the pool, of the hard set */
    bool no_slit;     /* nothing is known of distances: 10 and 20 */
    nodeid_t near;    /* NODE_NONE: none, or not known */
    bool both;        /* some node has CPUs and memory */
    bool kinds_clear; /* it is beyond doubt which nodes may give memory, as long as those are enough */
    Bitmap universe;  /* those that may */
} Oracle;

#define ORACLE_E_INVALID 2
/* 0, or ORACLE_E_INVALID: the request names what the host does not have. */
int oracle_init(Oracle *oracle, const PlaceCase *place, const Snapshot *snapshot);
void oracle_done(Oracle *oracle);

uint32_t oracle_distance(const Oracle *oracle, nodeid_t from, nodeid_t to);
uint64_t oracle_overhead(const PlacementRequest *request);

/*
 * What the nodes have to give: extents only where free chunks are as large; each node's part of memory that need not be
 * scrubbed first.
 * And for when nothing fits otherwise: smaller extents where there are no large ones.
 */
enum { SUPPLY_ANY = 0, SUPPLY_CHUNKS = 1, SUPPLY_CLEAN = 2, SUPPLY_SMALLER = 4 };

typedef struct OracleSplit {
    bool even;
    bool kept;  /* no node gives what is promised of it, or headroom */
    bool clean; /* no node gives what waits to be scrubbed, single pages apart */
    nodeid_t last;
} OracleSplit;

/*
 * Pages that Xen takes from each node of the set for the request's memory, into pages[n_nodes]; false: some would come
 * from elsewhere. `even`: no node was ever passed over; `last`: the node that gave the last page.
 */
bool oracle_split(const Oracle *oracle, const Bitmap *set, unsigned supply, uint64_t *pages, OracleSplit *ret_split);
/* The split is wholly inside the set and of what is available, each node gives something, and there is room for the
 * overhead too. */
bool oracle_fits_memory(const Oracle *oracle, const Bitmap *set, unsigned supply);

/* In extents of 2 MiB, bytes. */
uint64_t oracle_large_bytes(const Oracle *oracle, nodeid_t node);
/* Whether memory of the policy interleave can be dealt out evenly: to the nodes that have most of it, as many as may
 * be. */
bool oracle_interleaves(const Oracle *oracle);

typedef enum OracleLevel { LEVEL_CORES, LEVEL_THREADS, LEVEL_MEMORY, _LEVELS } OracleLevel;
void oracle_cpus(const Oracle *oracle, const Bitmap *set, Bitmap *cpus); /* local to the set's memory, and allowed */
unsigned oracle_cores(const Oracle *oracle, const Bitmap *cpus, unsigned threads); /* threads of each core, at most */
/* Where nodes and CPUs are asked for: the CPUs near the set do not suffice, and so it runs on all that are allowed. */
bool oracle_is_away(const Oracle *oracle, const Bitmap *set);
bool oracle_fits_cpus(const Oracle *oracle, const Bitmap *set, OracleLevel level);

typedef struct OracleScore {
    unsigned count;
    uint32_t near, worst;
    double mean;
    uint32_t to_cpus; /* from the nearest CPU; 0 where nodes and CPUs are not both asked for */
    bool scrubbed;    /* no node's part is of memory that is dirty */
    double vcpus_per_core;
    uint64_t left;
    unsigned with_device;
    uint64_t large_chunks, dirty;
} OracleScore;

bool oracle_reaches(const Oracle *oracle, const Bitmap *set); /* each of its nodes each other */
void oracle_score(const Oracle *oracle, const Bitmap *set, unsigned supply, OracleScore *ret);
/* Negative: a is better. Fewest nodes, near, worst, mean; with `whole` also balance or pack and what follows. */
int oracle_compare(const Oracle *oracle, const OracleScore *a, const OracleScore *b, bool whole);

typedef struct OracleAnswer {
    bool clear; /* the texts leave no doubt about which sets compete */
    bool found;
    OracleLevel level;
    unsigned supply;
    OracleScore best; /* what follows on distance is beyond doubt only on a host of plain nodes */
    Bitmap set;       /* one of the best */
} OracleAnswer;

/* Policies balance and pack. Where more than ORACLE_NODES nodes may give memory it is clear only when one will do. Free
 * the set. */
void oracle_search(const Oracle *oracle, OracleAnswer *ret);
bool oracle_spare(const Oracle *oracle); /* the host-wide claim fits */

/* Contract, "Locality", with the planned memory and vCPU sets. */
double oracle_locality(const Oracle *oracle, const Placement *placement);
