/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The header's layout, the same for a 64-bit and a 32-bit compiler (cc -m32 -fsyntax-only). */
#include <stddef.h>
#include <stdint.h>

#include "xen_numa_heap.h"

#define AT(type, field, offset) \
    _Static_assert(offsetof(struct type, field) == (offset), #type "." #field " has moved")
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type " has another size")

AT(xen_numa_heap, version, 0);
AT(xen_numa_heap, op, 4);
AT(xen_numa_heap, nr_nodes, 8);
AT(xen_numa_heap, nr_orders, 12);
AT(xen_numa_heap, first_domid, 16);
AT(xen_numa_heap, nr_records, 20);
AT(xen_numa_heap, flags, 24);
AT(xen_numa_heap, pad, 28);
AT(xen_numa_heap, buffer, 32);
SIZE(xen_numa_heap, 40);

AT(xen_numa_heap_query, features, 0);
AT(xen_numa_heap_query, node_size, 4);
AT(xen_numa_heap_query, domain_size, 8);
AT(xen_numa_heap_query, pad, 12);
SIZE(xen_numa_heap_query, 16);

AT(xen_numa_heap_node, present, 0);
AT(xen_numa_heap_node, free, 8);
AT(xen_numa_heap_node, low, 16);
AT(xen_numa_heap_node, dirty, 24);
AT(xen_numa_heap_node, claimed, 32);
SIZE(xen_numa_heap_node, 40);

AT(xen_numa_heap_domain, domid, 0);
AT(xen_numa_heap_domain, flags, 4);
AT(xen_numa_heap_domain, handle, 8);
AT(xen_numa_heap_domain, total, 24);
AT(xen_numa_heap_domain, extra, 32);
AT(xen_numa_heap_domain, xenheap, 40);
AT(xen_numa_heap_domain, pod_cache, 48);
AT(xen_numa_heap_domain, claimed, 56);
SIZE(xen_numa_heap_domain, 64);
