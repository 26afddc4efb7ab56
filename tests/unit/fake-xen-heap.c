/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/fake-xen.h"

#include "tests/unit/unit.h"

#include <string.h>

/* What XENMEM_numa_heap says of the fake's arrays. */

static int heap_query(FakeXen *fake, struct xen_numa_heap *arg, void *buffer, size_t size)
{
    struct xen_numa_heap_query record = {
        .features = fake->heap_features,
        .node_size = (uint32_t)sizeof(struct xen_numa_heap_node) + fake->appended,
        .domain_size = (uint32_t)sizeof(struct xen_numa_heap_domain) + fake->appended,
    };

    assert_true(size == sizeof(record));
    arg->nr_records = 1;
    memcpy(buffer, &record, sizeof(record));
    return 0;
}

static int heap_nodes(FakeXen *fake, struct xen_numa_heap *arg, uint8_t *buffer, size_t size)
{
    size_t stride = sizeof(struct xen_numa_heap_node) + fake->appended + arg->nr_orders * sizeof(uint64_t);

    if (arg->nr_records < fake->n_nodes || arg->nr_orders < fake->heap_orders) {
        arg->nr_records = fake->n_nodes;
        return -ERANGE;
    }
    assert_true(arg->nr_records * stride <= size);
    memset(buffer, 0, arg->nr_records * stride);
    for (uint32_t i = 0; i < fake->n_nodes; i++) {
        struct xen_numa_heap_node node = {
            .present = 500 + i, .free = 200 + i, .low = 20 + i, .dirty = 10 + i, .claimed = 3};

        memcpy(buffer + i * stride, &node, sizeof(node));
        memset(buffer + i * stride + sizeof(node), 0xee, fake->appended);
        for (uint64_t order = 0; order < fake->heap_orders; order++)
            memcpy(buffer + i * stride + sizeof(node) + fake->appended + order * 8, &order, 8);
    }
    arg->nr_records = fake->n_nodes;
    return 0;
}

static void put_domain(const FakeXen *fake, const FakeDomain *domain, uint8_t *record, uint32_t n_nodes)
{
    struct xen_numa_heap_domain fixed = {.domid = domain->info.domid,
                                         .flags = domain->heap_flags,
                                         .total = domain->info.tot_pages,
                                         .extra = domain->extra,
                                         .claimed = domain->info.outstanding_pages};

    memcpy(fixed.handle, domain->info.handle, sizeof(fixed.handle));
    memcpy(record, &fixed, sizeof(fixed));
    memset(record + sizeof(fixed), 0xee, fake->appended);
    memcpy(record + sizeof(fixed) + fake->appended, domain->pages, MIN(n_nodes, FAKE_NODES) * sizeof(uint64_t));
}

static int heap_domains(FakeXen *fake, struct xen_numa_heap *arg, uint8_t *buffer, size_t size)
{
    size_t stride = sizeof(struct xen_numa_heap_domain) + fake->appended + arg->nr_nodes * sizeof(uint64_t);
    uint32_t room = fake->batch ? MIN(arg->nr_records, fake->batch) : arg->nr_records, n = 0, first = arg->first_domid;

    if (arg->nr_nodes < fake->n_nodes || arg->nr_records == 0) {
        arg->nr_records = 1;
        return -ERANGE;
    }
    assert_true(arg->nr_records * stride <= size);
    memset(buffer, 0, arg->nr_records * stride);
    arg->first_domid = XEN_NUMA_HEAP_END;
    for (size_t i = 0; i < fake->n_domains; i++) {
        if (fake->domains[i].info.domid < first || fake->domains[i].dead)
            continue;
        if (n == room) {
            arg->first_domid = fake->domains[i].info.domid;
            break;
        }
        put_domain(fake, &fake->domains[i], buffer + n++ * stride, arg->nr_nodes);
    }
    arg->nr_records = n;
    if (fake->stuck) {
        arg->first_domid = first;
        arg->nr_records = 0;
    }
    return 0;
}

int fake_heap_answer(FakeXen *fake, struct xen_numa_heap *arg, void *buffer, size_t size)
{
    switch (arg->op) {
    case XEN_NUMA_HEAP_QUERY:
        return heap_query(fake, arg, buffer, size);
    case XEN_NUMA_HEAP_NODES:
        return heap_nodes(fake, arg, buffer, size);
    default:
        return heap_domains(fake, arg, buffer, size);
    }
}
