/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/xen-host.h"

#include "tests/unit/unit.h"

#include <string.h>

#define GIB (1ull << 30)

/* A SLIT of two localities, 10 and 21, as the fake's nodes are. */
static const uint8_t slit[48] = {'S', 'L', 'I', 'T', 48, [8] = 1, [9] = 0x53, [36] = 2, [44] = 10, 21, 21, 10};

static void add_domains(FakeXen *fake)
{
    FakeDomain *domains = fake_xen_add(fake, 3);

    domains[0].info.max_vcpu_id = 1;
    domains[0].name = "web";
    domains[1].name = NULL;
    domains[1].soft = 0x03;
    domains[2].name = "db";
    domains[2].pages[0] = 0;
    domains[2].info.tot_pages = 20;
    domains[2].info.pool = 2;
}

FakeXen *xen_host_new(bool patched)
{
    FakeXen *fake = fake_xen_new();

    add_domains(fake);
    fake->n_cpus = 6;
    fake->cpus[4] = (XenCpuTopo){2, 1, 1};
    fake->cpus[5] = (XenCpuTopo){ROW_INVALID, ROW_INVALID, 1};
    fake->n_pools = 2;
    fake->pools[1] = 2;
    fake->pool_cpus[0] = 0x07;
    fake->pool_cpus[1] = 0x08;
    fake->free_cpus = 0x10;
    fake->n_devices = 70;
    for (unsigned i = 0; i < fake->n_devices; i++) {
        fake->devices[i] = (PciAddress){0, (uint8_t)i, 0};
        fake->device_nodes[i] = i % 3 == 2 ? ROW_INVALID : i % 3;
    }
    fake->slit = slit;
    fake->slit_size = sizeof(slit);
    fake->heap_orders = 3;
    fake->heap_features = XEN_NUMA_HEAP_F_NODE_PAGES;
    if (patched)
        fake->heap_features |= XEN_NUMA_HEAP_F_NODE_MEMORY | XEN_NUMA_HEAP_F_FREE_CHUNKS | XEN_NUMA_HEAP_F_CLAIMS;
    return fake;
}

static void change_domains(FakeXen *fake)
{
    fake->domains[1].name = "web2";
    fake->domains[1].soft = 0x01;
    fake->domains[1].nodes = 0x03;
    fake->domains[1].pages[0] = 5;
    fake->domains[1].info.flags = XEN_DOMAIN_PAUSED;
    fake->domains[2].dead = fake->domains[2].unlisted = true;
    fake->domains[3].info.tot_pages = 30;
    fake->domains[3].pages[0] = 10;
    fake->domains[3].info.pool = 0;
    fake_xen_add(fake, 1)->name = "new";
}

void xen_host_change(FakeXen *fake)
{
    change_domains(fake);
    fake->nodes[0].free = GIB / 2;
    fake->ranges[0].end = GIB / 2;
    fake->pool_cpus[0] = 0x03;
    fake->pool_cpus[1] = 0x1c;
    fake->free_cpus = 0x20; /* 5 is back */
    fake->cpus[5] = (XenCpuTopo){3, 1, 1};
    fake->device_nodes[0] = 1;
    fake->devices[69].bus = 0xf0;
}
