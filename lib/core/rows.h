/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bitmap.h"
#include "firmware.h"
#include "uuid.h"
#include "warning.h"

/*
 * What a source read about a host, before any judgement: one row for each row of a hypercall's answer, with Xen's
 * own sentinels. A source fills a HostRows; snapshot_seal() takes it over, judges it and derives the rest.
 * Bytes everywhere, unless a name says pages. VALUE_UNKNOWN where nobody could tell.
 */

#define ROW_HOLE UINT32_MAX    /* NodeRow.size of a node id that does not exist (XEN_INVALID_MEM_SZ, ~0U in 64 bits) */
#define ROW_NO_POOL UINT32_MAX /* DomainRow.pool of a domain in no pool, as one that dies (CPUPOOLID_NONE) */
#define VCPUS_UNKNOWN SIZE_MAX /* DomainRow.n_vcpus when not even their number is known */
#define ROW_INVALID UINT32_MAX /* core, socket, node of an offline CPU (XEN_INVALID_CORE_ID etc.) */

typedef enum Feature {
    FEATURE_NODE_PAGES,  /* per-domain, per-node pages */
    FEATURE_NODE_MEMORY, /* dirty memory of a node */
    FEATURE_FREE_CHUNKS, /* free chunks of a node by order */
    FEATURE_CLAIMS,      /* claims that name a node */
    _FEATURE_MAX,
} Feature;

const char *feature_to_text(Feature feature); /* "node-pages" */
#define FEATURE_BIT(feature) (1u << (feature))

typedef enum DomainType {
    DOMAIN_TYPE_UNKNOWN,
    DOMAIN_TYPE_PV,
    DOMAIN_TYPE_PVH,
    DOMAIN_TYPE_HVM,
    _DOMAIN_TYPE_MAX
} DomainType;
typedef enum DomainState {
    DOMAIN_RUNNING,
    DOMAIN_BLOCKED,
    DOMAIN_PAUSED,
    DOMAIN_SHUTDOWN,
    DOMAIN_CRASHED,
    DOMAIN_DYING,
    _DOMAIN_STATE_MAX
} DomainState;

const char *domain_type_to_text(DomainType type); /* NULL for DOMAIN_TYPE_UNKNOWN */
const char *domain_state_to_text(DomainState state);

/* Index = CPU number, from cputopoinfo. Offline: all three ROW_INVALID; node alone ROW_INVALID: on no node. */
typedef struct CpuRow {
    uint32_t core, socket, node;
} CpuRow;

/* Index = node id, from numainfo and, from `present` on, from XENMEM_numa_heap or availheap. */
typedef struct NodeRow {
    uint64_t size; /* spanned, holes in the address space included; ROW_HOLE: no such node */
    uint64_t free;
    uint64_t present, low, dirty, claimed;
    uint64_t fragments;    /* free in chunks too small for a guest's extents, see below; VALUE_UNKNOWN: not estimated */
    uint64_t *free_chunks; /* owned; count by order, NULL when unknown */
    size_t n_free_chunks;
} NodeRow;

typedef struct PoolRow {
    uint32_t pool;
    Bitmap cpus;
} PoolRow;

typedef struct DeviceRow {
    char *pci;     /* owned, "0000:3b:00.0" */
    uint32_t node; /* ROW_INVALID: not known */
} DeviceRow;

typedef struct VcpuRow {
    Bitmap hard, soft;
    bool online;
    cpuid_t cpu; /* where it runs or last ran; CPU_NONE: offline or never ran */
} VcpuRow;

/*
 * The vCPUs of a domain, read less often than its pages and so shared by several generations. Immutable once a
 * HostRows holds it.
 */
typedef struct VcpuRows {
    unsigned refs;
    size_t n;
    VcpuRow rows[];
} VcpuRows;

VcpuRows *vcpu_rows_new(size_t n); /* zeroed, CPUs CPU_NONE, one reference; NULL when memory is short */
VcpuRows *vcpu_rows_ref(VcpuRows *rows);
void vcpu_rows_unref(VcpuRows *rows);
DEFINE_CLEANUP(VcpuRows *, vcpu_rows_unref)

typedef struct DomainRow {
    domid_t domid;
    bool has_uuid;
    uint8_t uuid[16];
    char *name; /* owned; bytes as xenstore has them, NULL: not in xenstore */
    DomainType type;
    DomainState state;
    uint32_t pool;
    uint64_t total_pages; /* less the hypervisor's extra ones; VALUE_UNKNOWN allowed */
    uint64_t max_pages;
    uint64_t claimed_pages; /* its outstanding claim; VALUE_UNKNOWN */
    uint64_t *node_pages; /* owned, n_nodes entries; NULL when unknown */
    bool has_node_affinity;
    Bitmap node_affinity;
    size_t n_vcpus;  /* online or not; VCPUS_UNKNOWN */
    VcpuRows *vcpus; /* one reference; NULL when they could not be read */
} DomainRow;

typedef struct HostRows {
    const char *backend; /* "xen" or "sim", static */
    bool simulated;
    char *xen_version; /* owned; NULL when unknown */
    uint32_t page_size;
    unsigned features;             /* FEATURE_BIT()s */
    uint32_t max_cpu_id;           /* the hypervisor's, not the highest online one */
    uint64_t total, free, claimed; /* of the host */
    bool has_dom0_view;
    uint32_t dom0_nodes, dom0_cpus; /* what dom0's own view of the hardware shows */

    CpuRow *cpus; /* owned, n_cpus = max_cpu_id + 1, or 0: nothing is known of any */
    size_t n_cpus;
    NodeRow *nodes; /* owned */
    size_t n_nodes;
    uint32_t *distances; /* owned, n_nodes x n_nodes by row, as read (255 and ~0 unreachable); NULL: not known */
    PoolRow *pools;      /* owned */
    size_t n_pools;
    DeviceRow *devices; /* owned */
    size_t n_devices;
    Firmware *firmware; /* one reference; NULL: the tables are not known */
    DomainRow *domains; /* owned, any order */
    size_t n_domains;
    WarningList warnings; /* what the source itself has to say */
} HostRows;

HostRows *host_rows_new(void); /* zeroed, page_size 4096, host totals VALUE_UNKNOWN; NULL when memory is short */
HostRows *host_rows_free(HostRows *rows); /* takes NULL, returns NULL */
DEFINE_CLEANUP(HostRows *, host_rows_free)

/* Deep copy but for the shared vCPUs. 0 or -ENOMEM. */
int host_rows_copy(const HostRows *rows, HostRows **ret_copy);

/*
 * A guest's memory comes in extents of 2 MiB, of any node before the small chunks of the preferred one: what is free in
 * chunks below 2 MiB is not to be had. A hypervisor that does not count its free chunks cannot say how much that is. On
 * the lab's host it was up to 11.2 MiB a node, and grew by at most 2 MiB with each domain that had memory there.
 */
#define FRAGMENTS_NODE (UINT64_C(16) << 20)
#define FRAGMENTS_DOMAIN (UINT64_C(2) << 20)
/* Fills each node's estimate that nobody has made: 0 where free chunks are known, and on a simulated host. */
void host_rows_estimate_fragments(HostRows *rows);

/* Frees what a row owns and zeroes it. */
void domain_row_done(DomainRow *domain);
/* A row of unknowns: VALUE_UNKNOWN where a number is not known. */
void node_row_init(NodeRow *node);

/* The domain's UUID in its usual form in `text`; NULL when it has none. */
const char *domain_uuid_to_text(const DomainRow *domain, char text[UUID_TEXT_SIZE]);
