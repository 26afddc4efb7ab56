/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/fake-xen.h"

#include "tests/unit/unit.h"

#include <string.h>

#define GIB (1ull << 30)

static void build_host(FakeXen *fake)
{
    fake->commandline = "placeholder dom0_mem=1024M";
    fake->max_cpu_id = 7;
    fake->n_cpus = 4;
    for (uint32_t i = 0; i < fake->n_cpus; i++)
        fake->cpus[i] = (XenCpuTopo){.core = i % 2, .socket = i / 2, .node = i / 2};
    fake->n_nodes = 2;
    for (uint32_t i = 0; i < fake->n_nodes; i++) {
        fake->nodes[i] = (XenMemInfo){.size = 2 * GIB, .free = GIB};
        fake->ranges[i].start = i * 2 * GIB;
        fake->ranges[i].end = fake->ranges[i].start + GIB;
        for (uint32_t j = 0; j < fake->n_nodes; j++)
            fake->distances[i][j] = i == j ? 10 : 21;
    }
    fake->n_pools = 1;
    fake->pool_cpus[0] = 0x0f;
    fake->heap_features = XEN_NUMA_HEAP_F_NODE_PAGES | XEN_NUMA_HEAP_F_NODE_MEMORY;
}

FakeXen *fake_xen_new(void)
{
    FakeXen *fake = calloc(1, sizeof(*fake));

    assert_non_null(fake);
    fake->calls.ops = &fake_xen_ops;
    fake->store[0] = fake->store[1] = -1;
    build_host(fake);
    fake_xen_add(fake, 1)->name = "Domain-0";
    memset(fake->domains[0].info.handle, 0, 16);
    return fake;
}

FakeDomain *fake_xen_add(FakeXen *fake, size_t n)
{
    size_t first = fake->n_domains;

    fake->domains = realloc(fake->domains, (first + n) * sizeof(*fake->domains));
    assert_non_null(fake->domains);
    for (; fake->n_domains < first + n; fake->n_domains++) {
        FakeDomain *domain = &fake->domains[fake->n_domains];
        domid_t domid = fake->n_domains ? (domid_t)(domain[-1].info.domid + 1) : 0;

        *domain = (FakeDomain){
            .info =
                {.domid = domid, .flags = XEN_DOMAIN_RUNNING, .tot_pages = 30, .max_pages = 40, .nr_online_vcpus = 1},
            .pages = {10, 20},
            .hard = 0x0f,
            .soft = 0x0c,
            .nodes = 0x02,
            .name = "guest",
        };
        memset(domain->info.handle, 0x5a, 16);
        memcpy(domain->info.handle, &domid, sizeof(domid));
    }
    return &fake->domains[first];
}

static int fake_view(uint32_t *ret_nodes, uint32_t *ret_cpus)
{
    *ret_nodes = 1;
    *ret_cpus = 2;
    return 0;
}

Source *fake_xen_source(FakeXen *fake)
{
    Source *source = NULL;

    assert_int_equal(xen_source_new_on(&fake->calls, fake_view, &source), 0);
    return source;
}

HostRows *fake_xen_collect(Source *source, bool full)
{
    HostRows *rows = NULL;
    int r = source->ops->begin(source, full);

    assert_int_equal(r, 0);
    for (unsigned steps = 0; (r = source->ops->step(source, &rows)) > 0; steps++)
        assert_true(steps < 100000);
    return r == 0 ? rows : NULL;
}

const DomainRow *fake_xen_row(const HostRows *rows, domid_t domid)
{
    for (size_t i = 0; i < rows->n_domains; i++)
        if (rows->domains[i].domid == domid)
            return &rows->domains[i];
    return NULL;
}
