/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/source.h"
#include "xen-calls.h"
#include "xen.h"

/* What the files of the Xen source share; nobody else includes it. xen.c has the essay. */

#define XEN_PAGE_SIZE 4096u
#define XEN_TURN 10u        /* generations in which everything that is read in turn has been read */
#define XEN_STEP_BUDGET 64  /* of a step; one unit is about one small hypercall */
#define XEN_STEP_US 2000    /* a step that has taken this long is over, budget or not */
#define XEN_LIST_PAGE 256u  /* domains in a getdomaininfolist */
#define XEN_POOLS_MAX 1024u /* pools have CPUs, so there are not more */
#define XEN_VCPUS_MAX 8192u /* MAX_VIRT_CPUS */

typedef enum XenStage {
    XEN_STAGE_HOST,
    XEN_STAGE_NODES,
    XEN_STAGE_DEVICES,
    XEN_STAGE_LIST,
    XEN_STAGE_PAGES,
    XEN_STAGE_VCPUS,
    XEN_STAGE_NAMES,
    XEN_STAGE_CHECK,
    _XEN_STAGE_MAX
} XenStage;

/* The last answers, which stand in when a call fails for once. */
typedef struct XenTopology {
    bool has_phys, is_phys_old, are_pools_old; /* old: not of this collection */
    XenPhysInfo phys;
    XenMemInfo *nodes;
    uint32_t *distances;
    uint32_t n_nodes;
    XenCpuTopo *cpus; /* n_cpus, offline ones included */
    uint32_t n_cpus;
    PoolRow *pools;
    size_t n_pools;
    bool has_online;
    uint32_t online_changes; /* how often the set was another one than before */
    Bitmap online;
} XenTopology;

typedef enum XenHeapState { XEN_HEAP_UNKNOWN, XEN_HEAP_PRESENT, XEN_HEAP_MISSING } XenHeapState;

#define XEN_HEAP_RETRIES 8u /* of an operation that says -ERANGE or gets nowhere, in one reading */

typedef struct XenHeap {
    bool asked; /* since the start, or since all was to be read again */
    XenHeapState state;
    uint32_t features; /* XEN_NUMA_HEAP_F_* */
    uint32_t node_size, domain_size, n_nodes, n_orders;
    uint8_t *buffer;
    size_t buffer_size;
    uint32_t first;   /* domid from which to go on */
    unsigned retries; /* of DOMAINS, left in this reading */
} XenHeap;

typedef struct XenHeapDomain {
    struct xen_numa_heap_domain fixed;
    const uint8_t *pages; /* in the buffer; n_nodes numbers, not aligned */
} XenHeapDomain;

/* A list of domains as it is read, page by page. */
typedef struct XenList {
    XenDomInfo *infos;
    size_t n, room;
    uint32_t first; /* domid from which to go on */
} XenList;

/* The DMA width of a Xen that does not say what is `low` itself. */
typedef struct XenDma {
    bool known, due;
    unsigned width; /* 0: nothing is set aside */
} XenDma;

typedef struct XenDevice {
    PciAddress address;
    uint32_t node; /* ROW_INVALID */
} XenDevice;

typedef struct XenDevices {
    XenDevice *list, *next; /* by address: the last complete one, and the one that is being read */
    size_t n, n_next;
    bool due; /* outside their turn */
} XenDevices;

/* What is kept of a domain from one collection to the next. The i-th is of the i-th domain row. */
typedef struct KnownDomain {
    domid_t domid;
    uint8_t handle[16];
    bool has_affinities, has_name; /* read well since it is known */
    bool gone;                     /* it ended during this collection */
    uint32_t n_vcpus, n_online;    /* when they were read, */
    uint32_t pool, online_changes; /* as well, */
    size_t n_cpus, n_nodes;        /* as well */
    VcpuRows *vcpus;
    bool has_node_affinity;
    Bitmap node_affinity;
    char *name;
} KnownDomain;

typedef struct XenSource {
    Source source;
    XenCalls *calls;
    char *version;
    HardwareView view;
    bool tables_due, view_due;
    Firmware *firmware;
    int firmware_errors[_ACPI_TABLE_MAX], view_error;
    bool has_dom0_view;
    uint32_t dom0_nodes, dom0_cpus;

    XenTopology topology;
    XenHeap heap;
    XenHeap heap_now; /* what a reading for a decision has to itself: its buffer and where it is */
    XenDma dma;
    XenDevices devices;
    /* The last complete list, by domid: what it said, and what is known of each. */
    size_t n_domains;
    XenDomInfo *infos;
    KnownDomain *known;
    int epoll_fd; /* holds xenstore's fd, if there is one; stays the same when that changes */
    bool store_open;
    bool names_stale; /* an event came */

    uint64_t generation;
    bool full, names_all; /* what this collection, or one that was dropped, has to read */
    XenStage stage;
    int budget, checked; /* left of this step; and when the clock was looked at */
    uint64_t step_us;    /* when it began */
    HostRows *rows;      /* of the collection under way */
    XenList listing;     /* LIST: so far */
    uint32_t first;      /* CHECK: domid from which to go on */
    size_t cursor;       /* HOST: part; DEVICES: device; VCPUS, NAMES, CHECK: domain */
    bool has_fresh;      /* affinities or names were read */
    VcpuRows *reading;   /* VCPUS: those of the domain under the cursor, */
    uint32_t vcpu;       /* read so far */
} XenSource;

/* After each call: what it cost. The step goes on while s->budget is above 0. */
void xen_spend(XenSource *s, int units);

/*
 * Counts a failed call and says so in the rows' warnings. 0, or -ENOMEM when that cannot be said: like all functions
 * here, a negative result means that the daemon is out of memory, never that Xen refused something.
 */
int xen_call_failed(XenSource *s, ErrorKind kind, const char *call, int error);
/* Says that something of dom0's own could not be read; does not count it. */
int xen_warn_unreadable(XenSource *s, const char *what, int error);
/* An answer that cannot be. */
int xen_answer_refused(XenSource *s, const char *call, const char *what);
/* A domain that ended between two calls. */
static inline bool xen_is_gone(int error)
{
    return error == -ESRCH || error == -ENOENT;
}
/* Whether something read in turn is due for this domain. */
static inline bool xen_turn_of(const XenSource *s, domid_t domid)
{
    return domid % XEN_TURN == s->generation % XEN_TURN;
}

/* The stages. 1: call again; 0: over; negative: as above. */
int xen_read_host(XenSource *s);
int xen_read_nodes(XenSource *s);
int xen_read_devices(XenSource *s);
int xen_read_domains(XenSource *s);
int xen_read_pages(XenSource *s);
int xen_read_affinities(XenSource *s);
int xen_read_names(XenSource *s);
int xen_check_domains(XenSource *s);

/* Parts of stages: the firmware's tables, and dom0's view of the hardware; */
int xen_read_firmware(XenSource *s);
/* pools; */
int xen_read_pools(XenSource *s);
/* `low` of the nodes by availheap, where XENMEM_numa_heap did not say; */
int xen_read_low(XenSource *s);
/* of one node, whose size and free memory are known, once the DMA width is. 0, or the call's error. */
int xen_fetch_low(XenSource *s, NodeRow *row, nodeid_t node);
/* The next page of a list that has room. 1: more to come; 0: complete; -EBADMSG: out of order; or the call's error. */
int xen_list_make_room(XenList *list);
int xen_list_fetch(XenSource *s, XenList *list);

/*
 * XENMEM_numa_heap. The records of all nodes, or the next ones of domains, in heap->buffer: how many, or the call's
 * error. heap->first is where to go on; from XEN_NUMA_HEAP_END on there are no more. -ELOOP: it gets nowhere.
 */
int xen_heap_fetch_nodes(XenSource *s, XenHeap *heap);
int xen_heap_fetch_domains(XenSource *s, XenHeap *heap);
/* The record of a node in the buffer; of the i-th domain in it, and its pages by node. 0 or -ENOMEM. */
int xen_heap_fill_node(const XenHeap *heap, NodeRow *node, nodeid_t n);
XenHeapDomain xen_heap_domain(const XenHeap *heap, unsigned i);
int xen_heap_copy_pages(const XenHeap *heap, const XenHeapDomain *from, size_t n_nodes, uint64_t **ret_pages);
/* It does not fail for once: the hypervisor does not have it, or does not want to say. */
bool xen_heap_is_denied(int error);

/* As SourceOps.read_memory. */
int xen_read_memory(Source *source, HostMemory **ret_memory);
/* xenstore: connects when it is not; takes its events: as SourceOps.dispatch. */
int xen_store_connect(XenSource *s);
int xen_store_dispatch(XenSource *s);
/* Hands what is known of the domains to the rows, and drops the rows of those that ended. */
int xen_complete_domains(XenSource *s);

/* How many bits a mask of CPUs may have. */
static inline uint32_t xen_n_cpus(const XenSource *s)
{
    return s->topology.has_phys ? s->topology.phys.max_cpu_id + 1 : CPUS_MAX;
}
/* Any mask of numbers below n_bits, at the hypervisor's word. */
int xen_mask_to_bitmap(Bitmap *to, const uint8_t *bytes, uint32_t n_bits);
static inline size_t xen_mask_size(uint32_t n_bits)
{
    return (n_bits + 7u) / 8u;
}

void known_domain_done(KnownDomain *known);
/* A domain whose handle is all zeros (dom0's, most often) has no UUID. */
bool xen_has_uuid(const XenDomInfo *info);
