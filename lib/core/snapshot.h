/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rows.h"

/*
 * One immutable view of a whole host. A new generation replaces the old; nothing edits one. Everything a document,
 * a decision or a table needs is in here, judged and derived once.
 */

typedef enum NodeKind { NODE_EMPTY, NODE_CPU_MEMORY, NODE_CPU, NODE_MEMORY, _NODE_KIND_MAX } NodeKind;
const char *node_kind_to_text(NodeKind kind); /* "cpu+memory" */

typedef struct Node {
    bool exists; /* false: a hole, which is not listed anywhere */
    NodeKind kind;
    uint64_t pxm; /* the firmware's proximity domain, VALUE_UNKNOWN */
    Bitmap cpus;  /* online CPUs on this node */
    Bitmap local; /* CPUs that are local to memory of this node (contract, "Locality") */
    bool tied;    /* local has CPUs of other nodes too */
    uint32_t cores;
    uint64_t span, present, free, low, dirty, claimed, reserved, available; /* bytes */
    uint64_t fragments;    /* bytes that are free in chunks too small for a guest's extents, by estimate (rows.h) */
    uint64_t *free_chunks; /* owned; NULL when unknown */
    size_t n_free_chunks;
    double vcpus;          /* load: the share of all online vCPUs that may run here */
    double promised_vcpus; /* and of those that are promised and not online yet (account.h) */
} Node;

/*
 * Sets `available` by what else is known: what is free, less Xen's low reserve, claims, reservations and headroom
 * (contract, section 3, "Node memory"), fragments being headroom.
 */
void node_set_available(Node *node, uint64_t headroom);

typedef struct Domain {
    DomainRow row;   /* name is valid UTF-8 or NULL; masks are cut to 0..max_cpu_id */
    double locality; /* 0..1; NAN when it cannot be known */
} Domain;

typedef struct Snapshot {
    unsigned refs;
    struct Snapshot *base; /* one reference; all but nodes' memory is the base's then (account.h), NULL: its own */
    uint64_t generation;
    int64_t time_us; /* CLOCK_REALTIME at the end of the collection; -1: answered from a file */

    const char *backend;
    bool simulated;
    char *xen_version; /* NULL when unknown */
    uint32_t page_size;
    unsigned features; /* FEATURE_BIT()s */
    uint32_t max_cpu_id;
    uint64_t total, free, claimed;
    uint64_t spare;        /* bytes that claims and reservations leave to new domains; VALUE_UNKNOWN: not accounted */
    struct Ledger *ledger; /* one reference; what is promised, NULL: nobody keeps a ledger */
    uint64_t boottime_us;  /* CLOCK_BOOTTIME when it was accounted, which TTLs are held against; with a ledger */
    bool has_dom0_view;
    uint32_t dom0_nodes, dom0_cpus;

    Bitmap online; /* CPUs */
    CpuRow *cpus;
    size_t n_cpus; /* max_cpu_id + 1 */
    Node *nodes;   /* index = node id, holes included */
    size_t n_nodes;
    uint32_t *distances; /* n_nodes x n_nodes; DISTANCE_NONE; diagonal 10 */
    PoolRow *pools;      /* by id */
    size_t n_pools;
    DeviceRow *devices; /* by address */
    size_t n_devices;
    Domain *domains; /* by domid */
    size_t n_domains;
    WarningList warnings;
} Snapshot;

typedef struct SealOptions {
    uint64_t generation;
    int64_t time_us; /* as Snapshot.time_us */
} SealOptions;

/*
 * Judges the rows and makes a snapshot with one reference. The rows are consumed, also on failure.
 * time_us: as Snapshot.time_us. 0, -ENOMEM, or -EINVAL when arrays and counts contradict each other.
 */
int snapshot_seal(HostRows *rows, uint64_t generation, int64_t time_us, Snapshot **ret_snapshot);
Snapshot *snapshot_ref(Snapshot *snapshot);
Snapshot *snapshot_unref(Snapshot *snapshot); /* takes NULL, returns NULL */
DEFINE_CLEANUP(Snapshot *, snapshot_unref)

const Domain *snapshot_find_domain(const Snapshot *snapshot, domid_t domid); /* NULL: no such domain */
/* Online CPUs of a pool; NULL when there is no such pool. */
const Bitmap *snapshot_pool_cpus(const Snapshot *snapshot, uint32_t pool);
/* Whether two snapshots describe the same topology: nodes, CPUs, pools, distances, devices; not memory in use. */
bool snapshot_same_topology(const Snapshot *a, const Snapshot *b);
static inline uint32_t snapshot_distance(const Snapshot *s, nodeid_t from, nodeid_t to)
{
    return s->distances[from * s->n_nodes + to];
}
