/* SPDX-License-Identifier: MIT */
/*
 * numa_heap.h
 *
 * Where memory is on a NUMA host: node by node, and domain by domain.
 *
 * A sub-operation of the memory_op hypercall:
 *
 *     HYPERVISOR_memory_op(XENMEM_numa_heap, struct xen_numa_heap *)
 *
 * Numbers of pages are in units of 4 KiB (XEN_PAGE_SIZE), everywhere.
 *
 * This file is used by Xen as public/numa_heap.h and by tools as it is.
 * Without Xen's own headers it needs nothing but <stdint.h>.
 */

#ifndef __XEN_PUBLIC_NUMA_HEAP_H__
#define __XEN_PUBLIC_NUMA_HEAP_H__

#ifdef __XEN__
#include "xen.h"
#elif !defined(XEN_GUEST_HANDLE)
#include <stdint.h>
#endif

/*
 * The sub-operation's number, far from those Xen assigns in turn: a Xen that
 * does not have it returns -ENOSYS.
 */
#define XENMEM_numa_heap            60

/*
 * The version of this interface.  It tells this sub-operation from any other
 * that may be given the same number one day.  It changes only when something
 * that is already here changes its meaning.
 */
#define XEN_NUMA_HEAP_VERSION       0x584e4831

/* Operations. */
#define XEN_NUMA_HEAP_QUERY         0   /* What this Xen can tell. */
#define XEN_NUMA_HEAP_NODES         1   /* A record a node. */
#define XEN_NUMA_HEAP_DOMAINS       2   /* A record a domain. */

/* The most entries of an array, and the most records, a caller may ask for. */
#define XEN_NUMA_HEAP_MAX_ENTRIES   1024
#define XEN_NUMA_HEAP_MAX_RECORDS   32768

/* first_domid when there are no more domains: DOMID_FIRST_RESERVED. */
#define XEN_NUMA_HEAP_END           0x7FF0

/*
 * The argument.  All fields are written back when the call returns 0 or
 * -ERANGE; on any other error nothing is, although records may have been
 * written to the buffer.
 *
 * A record has a fixed part and then an array of uint64_t.  Records follow
 * each other without gaps, so record i starts at byte
 *
 *     i * (fixed part + entries * sizeof(uint64_t))
 *
 * where the size of the fixed part is what QUERY says, and the entries are
 * what the caller put into nr_orders (NODES) or nr_nodes (DOMAINS).  Fixed
 * parts may grow at their end in a later Xen: find the array by the size that
 * QUERY gives, not by sizeof.  Bytes of a record that Xen has nothing for,
 * entries beyond the last node or order among them, are 0.
 *
 * With nr_records 0 the buffer is not used: the call only gives the counts.
 *
 * Errors, in the order in which they are looked for:
 *   -ENOSYS      this Xen does not have the sub-operation
 *   -EINVAL      bits above the sub-operation's number are set in the command
 *   -EFAULT      the argument cannot be read
 *   -EOPNOTSUPP  version is not XEN_NUMA_HEAP_VERSION
 *   -EPERM       the caller may not (-EACCES when Flask says so)
 *   -EINVAL      flags or pad is not 0; nr_nodes or nr_orders is above
 *                XEN_NUMA_HEAP_MAX_ENTRIES, or nr_records above
 *                XEN_NUMA_HEAP_MAX_RECORDS
 *   -ENOSYS      op is none of the above
 *   -ERANGE      there is not enough room; nr_nodes, nr_orders and
 *                nr_records say what is needed and no record is written
 *   -EFAULT      a record, or the argument, cannot be written
 */
struct xen_numa_heap {
    /* IN: XEN_NUMA_HEAP_VERSION. */
    uint32_t version;
    /* IN: XEN_NUMA_HEAP_{QUERY,NODES,DOMAINS}. */
    uint32_t op;
    /*
     * IN:  entries of the array in a record of DOMAINS; else not used.
     * OUT: nodes there are, which is the highest online node plus 1.
     *      It can grow: memory hot-add may bring a node online.
     */
    uint32_t nr_nodes;
    /*
     * IN:  entries of the array in a record of NODES; else not used.
     * OUT: orders there are.  0 when XEN_NUMA_HEAP_F_FREE_CHUNKS is clear:
     *      this Xen then does not count free chunks, and asks for no room.
     */
    uint32_t nr_orders;
    /*
     * DOMAINS only.
     * IN:  the lowest domid to report.
     * OUT: where to go on: the lowest domid not yet looked at, or
     *      XEN_NUMA_HEAP_END.  A call may return before the room is filled,
     *      even with no record at all; only this field says the end.
     *      With nr_records 0 it stays as it was.
     */
    uint32_t first_domid;
    /*
     * IN:  records there is room for in the buffer.  NODES needs room for
     *      all nodes, QUERY for 1, DOMAINS for 1 or more.
     * OUT: records written.  After -ERANGE: records needed, 1 for DOMAINS.
     */
    uint32_t nr_records;
    /* IN: must be 0. */
    uint32_t flags;
    uint32_t pad;
    /*
     * IN: where the records go.  On a 32-bit caller the upper half of the
     * field must be 0.  The simple way, right for every caller, is
     * buffer.align = (uintptr_t)pointer.
     */
    union {
#ifdef XEN_GUEST_HANDLE
        XEN_GUEST_HANDLE(void) h;
#else
        void *p;
#endif
        uint64_t align;
    } buffer;
};

/*
 * The record of QUERY: always these 16 bytes, and no array.
 */
struct xen_numa_heap_query {
    /* OUT: XEN_NUMA_HEAP_F_*; bits not defined here may be set by a later Xen. */
    uint32_t features;
    /* OUT: bytes of the fixed part of a record of NODES, and of DOMAINS. */
    uint32_t node_size;
    uint32_t domain_size;
    /* OUT: 0. */
    uint32_t pad;
};

/* pages[] of DOMAINS is counted. */
#define XEN_NUMA_HEAP_F_NODE_PAGES  (1U << 0)
/* present, free, low and dirty of NODES are given. */
#define XEN_NUMA_HEAP_F_NODE_MEMORY (1U << 1)
/* free_chunks[] of NODES is counted.  When clear, nr_orders is 0. */
#define XEN_NUMA_HEAP_F_FREE_CHUNKS (1U << 2)
/*
 * Claims may name a node.  When clear, claims are host-wide and claimed of
 * NODES is 0.  (claimed of DOMAINS is given in any case.)
 */
#define XEN_NUMA_HEAP_F_CLAIMS      (1U << 3)

/*
 * The fixed part of a record of NODES.  The record's index is the node's
 * number.  A number that is no online node has a record of zeros.
 * uint64_t free_chunks[nr_orders] follows: entry o is the number of free
 * chunks of 2^o pages.
 */
struct xen_numa_heap_node {
    /* OUT: pages of RAM in the node, used or not; holes are not counted. */
    uint64_t present;
    /*
     * OUT: free pages, as in XEN_SYSCTL_numainfo.  free, low and dirty are
     * read together; neither low nor dirty is above free.
     */
    uint64_t free;
    /*
     * OUT: the part of free at or below Xen's DMA width.  With more than one
     * node it is given to a guest only when no node has any other memory.
     * 0 when Xen keeps no such reserve.
     */
    uint64_t low;
    /* OUT: the part of free that must be scrubbed before it is used. */
    uint64_t dirty;
    /* OUT: pages of outstanding claims that name the node. */
    uint64_t claimed;
};

/*
 * The fixed part of a record of DOMAINS, ordered by domid.  Every domain has
 * one, also when it has never run or is being destroyed; a domain that the
 * caller may not ask about is left out.  uint64_t pages[nr_nodes] follows:
 * entry n is the number of pages of RAM on node n that the domain owns.
 *
 * pages[] includes the populate-on-demand cache.  It includes neither extra
 * nor xenheap pages, nor memory Xen uses on the domain's behalf (page tables,
 * shadow and HAP pools), nor pages shared between domains.  Its sum is total,
 * but for pages that are in flight (memory_exchange, a grant transfer).
 * total, extra, xenheap, claimed and pages[] are read together.
 */
struct xen_numa_heap_domain {
    /* OUT. */
    uint32_t domid;
    /* OUT: XEN_NUMA_HEAP_DOMAIN_*. */
    uint32_t flags;
    /* OUT: the domain's handle (its UUID). */
    uint8_t handle[16];
    /* OUT: pages the domain owns, as tot_pages of XEN_DOMCTL_getdomaininfo. */
    uint64_t total;
    /* OUT: pages Xen allocated for the domain from the same heap, not RAM. */
    uint64_t extra;
    /* OUT: pages of Xen's own that are shared with the domain. */
    uint64_t xenheap;
    /* OUT: pages in the populate-on-demand cache. */
    uint64_t pod_cache;
    /* OUT: pages of the domain's outstanding claims, whether of a node or not. */
    uint64_t claimed;
};

/* The domain is being destroyed: its counts only fall. */
#define XEN_NUMA_HEAP_DOMAIN_DYING  (1U << 0)
/* It has populate-on-demand entries that wait for a page, or a cache. */
#define XEN_NUMA_HEAP_DOMAIN_POD    (1U << 1)
/* Pages of it are paged out. */
#define XEN_NUMA_HEAP_DOMAIN_PAGING (1U << 2)

#ifdef XEN_GUEST_HANDLE
typedef struct xen_numa_heap xen_numa_heap_t;
DEFINE_XEN_GUEST_HANDLE(xen_numa_heap_t);
#endif

#endif /* __XEN_PUBLIC_NUMA_HEAP_H__ */

/*
 * Local variables:
 * mode: C
 * c-file-style: "BSD"
 * c-basic-offset: 4
 * tab-width: 4
 * indent-tabs-mode: nil
 * End:
 */
