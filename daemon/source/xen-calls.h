/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "acpi.h"
#include "pci.h"
#include "proto/xen_numa_heap.h"

/*
 * Every call the Xen source makes to the world, and nothing else: hypercalls through libxenctrl and libxencall, names
 * and watches through libxenstore, and what dom0's kernel shows of the host's devices and firmware.
 * xen-calls-libxc.c and xen-calls-store.c have the real ones; tests bring their own and need no Xen headers. All calls
 * return 0 (or what they say) or -errno. Numbers come as Xen gave them: whoever uses one as an index checks it first.
 */

typedef struct XenPhysInfo {
    uint32_t max_cpu_id, max_node_id; /* what this Xen is built for or booted with, not what is there */
    uint32_t nr_cpus;                 /* online */
    uint64_t total_pages, free_pages, outstanding_pages;
} XenPhysInfo;

typedef struct XenMemInfo {
    uint64_t size, free; /* bytes; size ROW_HOLE: no such node */
} XenMemInfo;

typedef struct XenCpuTopo {
    uint32_t core, socket, node; /* ROW_INVALID */
} XenCpuTopo;

/* XEN_DOMINF_* */
#define XEN_DOMAIN_DYING (1u << 0)
#define XEN_DOMAIN_HVM (1u << 1)
#define XEN_DOMAIN_SHUTDOWN (1u << 2)
#define XEN_DOMAIN_PAUSED (1u << 3)
#define XEN_DOMAIN_BLOCKED (1u << 4)
#define XEN_DOMAIN_RUNNING (1u << 5)
#define XEN_DOMAIN_CODE(flags) (((flags) >> 16) & 0xff) /* why it shut down */
#define XEN_SHUTDOWN_CRASH 3u
#define XEN_NO_VCPU UINT32_MAX /* max_vcpu_id of a domain without vCPUs */

/* What a PVH domain's hypervisor may emulate; more than this is HVM. */
#define XEN_EMU_LAPIC (1u << 0)
#define XEN_EMU_IOAPIC (1u << 4)
#define XEN_EMU_VPCI (1u << 10)

typedef struct XenDomInfo {
    domid_t domid;
    uint32_t flags, emulation;
    uint64_t tot_pages, max_pages; /* without the hypervisor's extra pages (domain_tot_pages()) */
    uint64_t outstanding_pages;    /* of its claim */
    uint32_t nr_online_vcpus, max_vcpu_id;
    uint32_t pool;
    uint8_t handle[16];
} XenDomInfo;

typedef struct XenVcpuInfo {
    bool online;
    uint32_t cpu;
    uint64_t cpu_time_ns; /* 0: never ran */
} XenVcpuInfo;

#define XEN_ANY_NODE UINT32_MAX

typedef struct XenCalls XenCalls;

typedef struct XenCallsOps {
    /* "4.17.5"; owned by the caller. */
    int (*version)(XenCalls *calls, char **ret_version);
    /* The hypervisor's command line; owned by the caller. */
    int (*commandline)(XenCalls *calls, char **ret_text);
    int (*physinfo)(XenCalls *calls, XenPhysInfo *ret_info);
    /* How many nodes numainfo() has to tell of, which is the highest online one plus 1. */
    int (*numacount)(XenCalls *calls, uint32_t *ret_n_nodes);
    /* n: IN room, OUT filled. distances: room for n x n, filled by rows of the n that comes OUT. */
    int (*numainfo)(XenCalls *calls, uint32_t *n, XenMemInfo *nodes, uint32_t *distances);
    /* n: IN room, OUT filled; CPUs that are not told of are not there. */
    int (*cputopoinfo)(XenCalls *calls, uint32_t *n, XenCpuTopo *cpus);
    /* Free bytes at or below an address width (0: any) of a node or of XEN_ANY_NODE. */
    int (*availheap)(XenCalls *calls, uint32_t node, unsigned max_width, uint64_t *ret_bytes);
    /* Domains from a domid on, in order: how many were filled, at most `room`. */
    int (*domains)(XenCalls *calls, domid_t first, uint32_t room, XenDomInfo *ret_infos);
    int (*vcpu_info)(XenCalls *calls, domid_t domid, uint32_t vcpu, XenVcpuInfo *ret_info);
    /* Fills two masks of n_bytes, little-endian. */
    int (*vcpu_affinity)(XenCalls *calls, domid_t domid, uint32_t vcpu, uint8_t *hard, uint8_t *soft, size_t n_bytes);
    int (*node_affinity)(XenCalls *calls, domid_t domid, uint8_t *nodes, size_t n_bytes);
    /* The first cpupool at or above *pool; -ENOENT: there is none. */
    int (*pool)(XenCalls *calls, uint32_t *pool, uint8_t *cpus, size_t n_bytes);
    /* Online CPUs in no pool. */
    int (*free_cpus)(XenCalls *calls, uint8_t *cpus, size_t n_bytes);
    /* XENMEM_numa_heap; the records go to `buffer`, arg->buffer is the callee's business. */
    int (*numa_heap)(XenCalls *calls, struct xen_numa_heap *arg, void *buffer, size_t size);
    /* The nodes of n devices; ROW_INVALID of one that Xen does not know, or whose node it does not know. */
    int (*pci_nodes)(XenCalls *calls, const PciAddress *devices, size_t n, uint32_t *ret_nodes);

    /* As pci_read_devices() and acpi_read_firmware(), of this system. */
    int (*pci_devices)(XenCalls *calls, PciAddress **ret_devices, size_t *ret_n);
    int (*firmware)(XenCalls *calls, Firmware **ret_firmware, int ret_errors[_ACPI_TABLE_MAX]);

    /* Connects to xenstore and watches domains come and go. */
    int (*store_open)(XenCalls *calls);
    void (*store_close)(XenCalls *calls); /* also when it is not open */
    /* -ENOENT: it has none; -ENOTCONN: the connection is lost; *ret_name is owned by the caller. */
    int (*store_name)(XenCalls *calls, domid_t domid, char **ret_name);
    int (*store_fd)(const XenCalls *calls); /* -1: not open */
    /* Takes one event. 1: there was one; 0: there is none; -ENOTCONN: the connection is lost. Never waits. */
    int (*store_event)(XenCalls *calls);

    void (*free)(XenCalls *calls);
} XenCallsOps;

struct XenCalls {
    const XenCallsOps *ops;
};

static inline void xen_calls_free(XenCalls *calls)
{
    if (calls)
        calls->ops->free(calls);
}
DEFINE_CLEANUP(XenCalls *, xen_calls_free)

/* The real ones, on a Xen host. -EACCES, -ENOENT ... when the hypervisor cannot be reached. */
int xen_calls_open(XenCalls **ret_calls);
