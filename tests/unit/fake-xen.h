/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/xen.h"
#include "lib/core/rows.h"

/*
 * A Xen that is a few arrays. A new one has two nodes (0 and 1, 2 GiB each, the first below 4 GiB), four CPUs, one
 * pool, dom0 and XENMEM_numa_heap. Tests change what they are about. Any call can be made to fail, or to happen at
 * an awkward moment.
 */

typedef enum FakeCall {
    FAKE_VERSION,
    FAKE_COMMANDLINE,
    FAKE_PHYSINFO,
    FAKE_NUMACOUNT,
    FAKE_NUMAINFO,
    FAKE_CPUTOPOINFO,
    FAKE_AVAILHEAP,
    FAKE_DOMAINS,
    FAKE_VCPU_INFO,
    FAKE_VCPU_AFFINITY,
    FAKE_NODE_AFFINITY,
    FAKE_POOL,
    FAKE_FREE_CPUS,
    FAKE_HEAP_QUERY,
    FAKE_HEAP_NODES,
    FAKE_HEAP_DOMAINS,
    FAKE_PCI_DEVICES,
    FAKE_PCI_NODES,
    FAKE_FIRMWARE,
    FAKE_STORE_OPEN,
    FAKE_STORE_NAME,
    FAKE_STORE_EVENT,
    _FAKE_MAX
} FakeCall;

#define FAKE_NODES 8u
#define FAKE_CPUS 128u
#define FAKE_POOLS 4u
#define FAKE_DEVICES 1000u

typedef struct FakeDomain {
    XenDomInfo info;
    uint64_t pages[FAKE_NODES];
    uint32_t heap_flags; /* XEN_NUMA_HEAP_DOMAIN_* */
    uint64_t extra;
    uint8_t hard, soft, nodes; /* the first byte of each mask; the rest of them is 0xff, as if Xen filled it */
    const char *name;
    bool unlisted; /* gone from the list, or for a while only from the single calls */
    bool dead;
} FakeDomain;

typedef struct FakeXen FakeXen;

struct FakeXen {
    XenCalls calls;
    int errors[_FAKE_MAX];     /* what a call returns instead, or 0 */
    unsigned skips[_FAKE_MAX]; /* calls that work before that */
    unsigned fails[_FAKE_MAX]; /* calls that do not; 0: all from there on */
    unsigned counts[_FAKE_MAX];
    void (*before)(FakeXen *fake, FakeCall call); /* each call */
    bool garbage;                                 /* answers are random */
    unsigned seed;

    const char *commandline;
    uint32_t max_cpu_id, n_cpus, n_nodes;
    XenCpuTopo cpus[FAKE_CPUS];
    XenMemInfo nodes[FAKE_NODES];
    uint32_t distances[FAKE_NODES][FAKE_NODES];
    struct {
        uint64_t start, end; /* bytes; all of it free */
    } ranges[FAKE_NODES];
    uint32_t pools[FAKE_POOLS];
    uint8_t pool_cpus[FAKE_POOLS];
    unsigned n_pools;
    uint8_t free_cpus;
    uint32_t nr_cpus; /* online; 0: as many as the masks of pools and of free CPUs have */

    FakeDomain *domains; /* by domid */
    size_t n_domains;

    uint32_t heap_features;
    uint32_t appended; /* bytes that a later Xen has at the end of each fixed part */
    uint32_t heap_orders;
    uint32_t batch; /* records a DOMAINS call gives at most, 0: no limit */
    bool stuck;     /* DOMAINS never gets on */

    PciAddress devices[FAKE_DEVICES];
    uint32_t device_nodes[FAKE_DEVICES];
    size_t n_devices;
    const uint8_t *srat, *slit; /* NULL: the host has none */
    size_t srat_size, slit_size;
    int firmware_errors[_ACPI_TABLE_MAX]; /* of the tables; that of the call is that memory was short */

    int store[2]; /* a pipe, as libxenstore's; -1: not open */
    unsigned events;
    bool *freed;
};

extern const XenCallsOps fake_xen_ops;
/* The answer to XENMEM_numa_heap, without faults and garbage. */
int fake_heap_answer(FakeXen *fake, struct xen_numa_heap *arg, void *buffer, size_t size);

FakeXen *fake_xen_new(void);
/* `n` more domains of one vCPU, ids and handles counting up. The first of them. */
FakeDomain *fake_xen_add(FakeXen *fake, size_t n);
/* From now on, `skip` calls work, then `times` (0: all) fail. */
void fake_xen_fail(FakeXen *fake, FakeCall call, unsigned skip, int error, unsigned times);
/* All calls work again. */
void fake_xen_heal(FakeXen *fake);
void fake_xen_event(FakeXen *fake);

/* A source on this fake, which it owns. */
Source *fake_xen_source(FakeXen *fake);
/* Collects once, with a bound on the number of steps. NULL when it failed. */
HostRows *fake_xen_collect(Source *source, bool full);
const DomainRow *fake_xen_row(const HostRows *rows, domid_t domid);
