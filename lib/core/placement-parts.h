/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement.h"
#include "text.h"

/*
 * What the files of the engine share, and nobody else includes. A search asks one stage after the other for sets of
 * sites; a set is an ascending list of indexes into the search's sites, which are ascending by node.
 */

/* The extents that the domain builder asks for. */
typedef enum Step { STEP_PAGE, STEP_2M, STEP_1G, _STEP_MAX } Step;
#define STEP_ORDER(step) ((step)*9u)

/* A node whose memory the domain may get. */
typedef struct Site {
    nodeid_t id;
    bool asked;                  /* named in the request's `nodes` */
    bool base;                   /* each set has it, in this stage */
    bool wide;                   /* counts in the last pass only: other memory is nearer to the CPUs */
    bool device;                 /* a PCI device is there */
    uint64_t available;          /* bytes */
    uint64_t capacity;           /* split_capacity() in this stage */
    uint64_t withheld;           /* bytes that are free and not to be had: low, promised, headroom */
    uint64_t usable, unusable;   /* the same by what Xen knows: it gives away what is promised, and headroom, too */
    uint64_t chunks[_STEP_MAX];  /* bytes in free chunks at least so large; UINT64_MAX: not known */
    uint64_t dirty;              /* bytes, 0 when not known */
    uint32_t near, cpu_distance; /* from the device's node, and from the nearest CPU that is allowed */
    size_t attached, n_attached; /* in the search's `attached`: other nodes whose CPUs are local to this one */
} Site;

/* CPUs of a node, or of a set of nodes, that the domain may use. */
typedef struct CpuSum {
    uint32_t cores, cpus;
    uint32_t room; /* vCPUs that fit by cores: up to threads_per_core on each */
    uint64_t load; /* of these nodes, in LOAD_UNITs: whole numbers are the same in whatever order they are summed */
} CpuSum;
#define LOAD_UNIT (1u << 20)

/* A node's part of a split. */
typedef struct Share {
    const Site *site;
    uint64_t bytes, overhead;
    uint64_t extents, supply; /* of the step that is being given */
} Share;

typedef struct SplitAsk {
    uint64_t memory, overhead; /* bytes */
    uint64_t page;
    DomainType type;
    bool clean;   /* a set that needs memory that waits to be scrubbed does not do */
    bool chunks;  /* an extent takes a chunk as large; else any memory will do */
    bool smaller; /* what is not to be had in large extents is taken in smaller ones */
} SplitAsk;

typedef struct Split {
    uint64_t missing; /* bytes; 0: all of it fits */
    uint64_t dirty;   /* bytes of it that wait to be scrubbed; node by node, as Xen looks for clean ones elsewhere */
    bool even;        /* no node had to be passed over */
} Split;

/* Bytes in free chunks of at least that order, of a node whose chunks are known. */
uint64_t placement_chunk_bytes(const Snapshot *snapshot, nodeid_t node, unsigned order);

/* Bytes that each of n nodes gives, unless it has no more, but for the remainders; *ret_extents: how many there are. */
uint64_t split_even_part(const SplitAsk *ask, size_t n, uint64_t *ret_extents);
/* False: of n nodes some would have nothing to give, or would have to give more than the least of them has. */
bool split_may_be_even(const SplitAsk *ask, size_t n, uint64_t least);
/* Bytes, of memory and overhead, that a set gets of the site at most; 0: it has nothing of what is asked for. */
uint64_t split_capacity(const SplitAsk *ask, const Site *site);
/*
 * Fills bytes and overhead of the shares, which are ascending by node. What is missing is what Xen has not, or what it
 * would take of a node beyond what is available there.
 */
void split_memory(const SplitAsk *ask, Share *shares, size_t n, Split *ret_split);

typedef enum Level {
    LEVEL_CORES,
    LEVEL_THREADS,
    LEVEL_CPUS,   /* it has more vCPUs than it may use CPUs: all of these are near its memory */
    LEVEL_MEMORY, /* the CPUs do not suffice: memory alone decides */
    _LEVEL_MAX
} Level;

/* Of which nodes evenly: those that were kept as each reaches all, or all. */
typedef enum Spread { SPREAD_ALL, SPREAD_REACHING } Spread;

/* What is known of one set: whether it fits, and what it is ranked by. */
typedef struct Verdict {
    RefusedBy refused_by;
    Level level;
    uint64_t short_bytes;
    size_t n;
    uint32_t cpu_distance, near, worst; /* DISTANCE_NONE: no way */
    uint64_t distance_sum;              /* of all ordered pairs; of one node, its own */
    CpuSum cpus;
    bool extended; /* CPUs of attached nodes are used beside the nodes' own */
    bool away;     /* all CPUs that were asked for are used, as those near the memory do not suffice */
    bool even;
    bool scrubbed;            /* no node's part needs memory that waits to be scrubbed */
    bool scrubbing;           /* it would do if its memory were scrubbed */
    uint64_t available, left; /* bytes, before and after */
    uint64_t chunks;          /* of 2 MiB that are free */
    uint64_t dirty;
    unsigned devices;
} Verdict;

typedef struct Found {
    uint16_t *members; /* of the search's own array */
    Verdict verdict;
    bool found;
} Found;

typedef struct Core {
    nodeid_t node;
    uint32_t first, n; /* in the search's `by_core` */
    uint32_t allowed;  /* of these CPUs */
    uint64_t load;     /* LOAD_UNITs */
    uint32_t used;     /* by how many of this guest's cores */
} Core;

/* One way to look for a set. */
typedef struct Stage {
    bool asked_only; /* sets of asked nodes alone */
    bool with_asked; /* sets with all asked nodes that can give memory */
    bool single;     /* one node */
    bool spread;     /* not the fewest nodes but as many as the policy wants */
    bool uneven;     /* and they need not give equal parts */
    Level from, to;
} Stage;

/* How much is overlooked, pass by pass, until something fits. */
typedef struct Pass {
    bool chunks, smaller, wide;
} Pass;

#define CANDIDATE_SETS_MAX CANDIDATES_MAX
typedef struct Noted {
    uint16_t *members; /* owned */
    Verdict verdict;
} Noted;

/* A set that grows from one node, and what the search for such sets keeps between them. Arrays are owned. */
typedef struct Growth {
    bool begun, level_begun;
    bool promised; /* of some node that may be taken some memory is promised, or headroom */
    Level level;
    unsigned aim;                  /* which aims there are: placement-growth.c */
    size_t least, target, checked; /* sizes: the smallest that can do, what is grown to, where looking begins */
    bool even;                     /* only nodes that can give an even part are taken */
    bool *shut;                    /* by site: more would be taken there than is not promised: no set has it */
    size_t start, stride;
    uint64_t part;                 /* bytes that a node has to have to be taken */
    uint64_t *memory_of, *room_of; /* by number of nodes: the most that so many of the pick have */
    uint64_t *rooms;               /* by site: vCPUs that it has CPUs for, shared ones too */
    uint16_t *order;               /* by site: which of several is taken first */
    uint32_t **rows;               /* by site: to and from each site the longer way, then the sum; NULL: not made yet */

    bool growing;
    size_t size; /* of what was picked, without the base */
    uint64_t memory, room, distance_sum;
    uint32_t distance; /* the worst */
    bool *taken;       /* by site */
    uint16_t *open;    /* sites that may be taken yet */
    size_t n_open;
    uint32_t *worst, *sum; /* by site: as the rows, of the set */
} Growth;

struct PlacementSearch {
    Snapshot *snapshot;
    PlacementRequest request;
    PlacementPolicy policy;
    bool explain;
    uint32_t threads; /* of a guest's core, at least 1 */
    uint64_t overhead;

    Bitmap allowed;
    uint32_t n_allowed;
    bool apart;   /* nodes and CPUs were asked for: its CPUs need not be near its memory */
    CpuSum all;   /* of all CPUs that are allowed */
    bool flat;    /* the distances say nothing: 10 and 20 */
    bool chunked; /* of some node the free chunks are known */
    nodeid_t near;
    bool near_unknown; /* a device was named whose node nobody knows */
    bool scrubbing;    /* some set of several would do if its memory were scrubbed */
    CpuSum *cpus;      /* owned; by node, its own CPUs */
    Site *sites;       /* owned */
    size_t n_sites;
    nodeid_t *attached; /* owned */
    size_t n_attached;

    unsigned phase, pass, stage;
    size_t work; /* of this step, in about the time that looking at one number takes */
    SplitAsk ask;
    uint16_t *base, *pick; /* owned; sites that every set has, and those that may be added */
    size_t n_base, n_pick;
    bool stage_begun, begun;
    size_t size; /* of what is picked next */
    Spread spread;
    Growth growth;
    Found best[_LEVEL_MAX];
    Found answer;

    uint16_t *scratch; /* owned; one set */
    Share *shares;     /* owned */
    uint32_t *stamps;  /* owned; by node */
    uint32_t stamp;

    Core *cores; /* owned; by node, socket, core; NULL: nobody has needed them */
    size_t n_cores;
    cpuid_t *by_core;                 /* owned; CPUs of one core beside each other */
    uint32_t *core_of;                /* owned; by CPU */
    Bitmap answer_cpus;               /* whose cores' load matters */
    size_t answer_word, answer_words; /* the first word that has any, and the end of the last */
    size_t domain;                    /* the next whose load is to be added */

    Noted fitting[CANDIDATE_SETS_MAX], refused[CANDIDATE_SETS_MAX];
    size_t n_fitting, n_refused;
};

static inline uint32_t search_distance(const PlacementSearch *q, nodeid_t from, nodeid_t to)
{
    if (from == to)
        return 10;
    return q->flat ? 20 : snapshot_distance(q->snapshot, from, to);
}

/* placement-nodes.c: 0, PLACEMENT_E_INVALID with *ret_why, or -ENOMEM. */
int search_check(PlacementSearch *q, char **ret_why);
int search_find_sites(PlacementSearch *q);

/* placement-cores.c */
int search_find_cpus(PlacementSearch *q);
int search_find_cores(PlacementSearch *q);
int search_load_cores(PlacementSearch *q); /* 1: there is more to do */

/* placement-rank.c */
bool site_is_candidate(const PlacementSearch *q, const Site *site);
void set_judge(PlacementSearch *q, const uint16_t *members, size_t n, Verdict *ret_verdict);
void set_sum_cpus(PlacementSearch *q, const uint16_t *members, size_t n, bool extended, CpuSum *ret_sum);
/* Whether a is better; both fit. */
bool set_is_better(const PlacementSearch *q, const Verdict *a, const uint16_t *members_a, const Verdict *b,
                   const uint16_t *members_b);
/* Judges the set and keeps it where it is the best of its level. 0 or -ENOMEM. */
int search_try(PlacementSearch *q, const Stage *stage, const uint16_t *members, size_t n);

/* placement-sets.c, placement-growth.c, placement-spread.c: 1: there is more to do. */
int search_sets(PlacementSearch *q, const Stage *stage);
int search_grow(PlacementSearch *q, const Stage *stage);
void search_end_growth(PlacementSearch *q, bool keep_distances);
int search_spread(PlacementSearch *q, const Stage *stage);

/* placement-candidates.c */
int search_note(PlacementSearch *q, const uint16_t *members, const Verdict *verdict);
void search_forget(PlacementSearch *q);
int search_candidates(PlacementSearch *q, Placement *placement);

/* placement-vcpus.c, placement-result.c */
int search_place_vcpus(PlacementSearch *q, Placement *placement);
int search_result(PlacementSearch *q, Placement **ret_placement);
/* The CPUs of one site that the set it is in uses. */
int site_cpus(const PlacementSearch *q, const Site *site, bool extended, Bitmap *cpus);

/* placement-reason.c, placement-refusal.c: *ret_text is owned. 0 or -ENOMEM. */
int search_reason(PlacementSearch *q, char **ret_text);
void add_size(Text *text, uint64_t bytes);
int search_refusal(PlacementSearch *q, char **ret_text);
/* Why one node alone is not it. */
void node_judge(PlacementSearch *q, nodeid_t id, Verdict *ret_verdict);

/* placement.c */
const Stage *search_stage(const PlacementSearch *q);
const Pass *search_pass(const PlacementSearch *q);
