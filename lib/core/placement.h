/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement-request.h"
#include "snapshot.h"

/*
 * Where a domain is to go (design: placement). A pure function of a snapshot, whose nodes' `available` already has
 * reservations taken off, and a request; made in steps of bounded work, so that a loop is not held by a host of a
 * thousand nodes. The same inputs give the same answer, whatever the order of the snapshot's domains.
 */

typedef struct PlacedMemory {
    nodeid_t node;
    uint64_t bytes;    /* of the request; all nodes' sum is the request */
    uint64_t overhead; /* its share of what Xen needs beside, which is promised too */
} PlacedMemory;

typedef struct PlacedVcpu {
    uint32_t hard, soft; /* indexes into Placement.sets: most vCPUs share one */
} PlacedVcpu;

typedef enum RefusedBy {
    REFUSED_NOT,
    REFUSED_MEMORY,
    REFUSED_CORES,
    REFUSED_POOL,     /* no CPU of it is in the pool (or in the hard set) */
    REFUSED_DISTANCE, /* two of its nodes do not reach each other */
    REFUSED_KIND,     /* it has no memory, or memory that is used only when asked for */
    REFUSED_POLICY,   /* it fits, but not as the policy, strict or `nodes` want it */
    _REFUSED_MAX
} RefusedBy;
const char *refused_by_to_text(RefusedBy refused_by); /* NULL for REFUSED_NOT */

#define CANDIDATES_MAX 64u

typedef struct Candidate {
    Bitmap nodes;
    RefusedBy refused_by;
    uint64_t short_bytes;    /* memory it lacks */
    uint32_t worst_distance; /* DISTANCE_NONE: not known, or a pair does not reach each other */
    double mean_distance;    /* NAN, as above */
    double vcpus_per_core;   /* with the domain there; NAN without a core */
    uint64_t left;           /* available bytes with the domain there */
    unsigned rank;           /* 1: the best */
} Candidate;

typedef struct Placement {
    Bitmap nodes; /* those of `memory` */
    PlacedMemory *memory; /* owned, by node */
    size_t n_memory;
    uint64_t overhead; /* bytes, the sum */
    Bitmap *sets;      /* owned */
    size_t n_sets;
    PlacedVcpu *vcpus; /* owned */
    size_t n_vcpus;
    uint32_t extent_order; /* UINT32_MAX: not known */
    double expected_locality;
    char *reason;          /* owned; one sentence */
    Candidate *candidates; /* owned, best first; NULL unless asked for */
    size_t n_candidates;
} Placement;

Placement *placement_free(Placement *placement); /* takes NULL, returns NULL */
DEFINE_CLEANUP(Placement *, placement_free)

typedef struct PlacementOptions {
    PlacementPolicy policy; /* where the request has none */
    bool explain;           /* fill `candidates`; also of a refusal */
} PlacementOptions;

typedef struct PlacementSearch PlacementSearch;

/*
 * 0 or -ENOMEM. Takes a reference of the snapshot and copies the request, which placement_request_check() has let
 * pass.
 */
int placement_search_new(Snapshot *snapshot, const PlacementRequest *request, const PlacementOptions *options,
                         PlacementSearch **ret_search);
PlacementSearch *placement_search_free(PlacementSearch *search); /* takes NULL, returns NULL */
DEFINE_CLEANUP(PlacementSearch *, placement_search_free)

#define PLACEMENT_E_NOFIT 1   /* no room for it, or not as strict wants it */
#define PLACEMENT_E_INVALID 2 /* it names what this host does not have */
/*
 * -EAGAIN: it has done a step's work (some milliseconds at most), call again. All else ends the search: 0, one of
 * PLACEMENT_E_*, or -ENOMEM. *ret_placement is owned by the caller; of PLACEMENT_E_NOFIT it has the candidates alone, where
 * they were asked for, else it is NULL. *ret_why (owned) is for a person: with PLACEMENT_E_NOFIT the reason, node by
 * node; with PLACEMENT_E_INVALID it begins with the request's key, "nodes: there is no node 9".
 */
int placement_search_step(PlacementSearch *search, Placement **ret_placement, char **ret_why);

/* All steps at once; the same results but for -EAGAIN. */
int placement_evaluate(Snapshot *snapshot, const PlacementRequest *request, const PlacementOptions *options,
                       Placement **ret_placement, char **ret_why);

/*
 * The parts that others rely on too. The memory that Xen itself needs for a domain, in bytes: pv 1 MiB a vCPU; pvh,
 * hvm and unknown also 4 KiB for each MiB of maximum memory (contract, section 3, "Placement").
 */
uint64_t placement_overhead(const PlacementRequest *request);

/*
 * Bytes of a node that can be had in extents of 2^order pages: what is above Xen's low reserve and not promised, as far
 * as its free chunks are that large. All of `available` where chunks are not known.
 */
uint64_t placement_extents(const Snapshot *snapshot, nodeid_t node, unsigned order);
