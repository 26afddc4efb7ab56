/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/fake-xen.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FakeXen *fake_xen(const XenCalls *calls)
{
    return (FakeXen *)calls;
}

/* Whether the call fails, and with what. */
static int enter(FakeXen *fake, FakeCall call)
{
    int r;

    if (fake->before)
        fake->before(fake, call);
    if (fake->counts[call]++ < fake->skips[call])
        return 0;
    r = fake->errors[call];
    if (r && fake->fails[call] && --fake->fails[call] == 0)
        fake->errors[call] = 0;
    return r;
}

void fake_xen_fail(FakeXen *fake, FakeCall call, unsigned skip, int error, unsigned times)
{
    fake->errors[call] = error;
    fake->skips[call] = fake->counts[call] + skip;
    fake->fails[call] = times;
}

void fake_xen_heal(FakeXen *fake)
{
    for (int call = 0; call < _FAKE_MAX; call++)
        fake->errors[call] = 0;
}

static void scramble(FakeXen *fake, void *to, size_t size)
{
    if (!fake->garbage)
        return;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] =
            rand_r(&fake->seed) % 3 ? (uint8_t)rand_r(&fake->seed) : (uint8_t) - (rand_r(&fake->seed) & 1);
}

static int copy(const char *text, char **ret_copy)
{
    *ret_copy = strdup(text);
    return *ret_copy ? 0 : -ENOMEM;
}

static int fake_version(XenCalls *calls, char **ret_version)
{
    int r = enter(fake_xen(calls), FAKE_VERSION);

    return r < 0 ? r : copy("4.17.5", ret_version);
}

static int fake_commandline(XenCalls *calls, char **ret_text)
{
    int r = enter(fake_xen(calls), FAKE_COMMANDLINE);

    return r < 0 ? r : copy(fake_xen(calls)->commandline, ret_text);
}

static uint32_t count_online(const FakeXen *fake)
{
    unsigned online = fake->free_cpus;

    if (fake->nr_cpus)
        return fake->nr_cpus;
    for (unsigned i = 0; i < fake->n_pools; i++)
        online |= fake->pool_cpus[i];
    return (uint32_t)__builtin_popcount(online);
}

static int fake_physinfo(XenCalls *calls, XenPhysInfo *ret_info)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_PHYSINFO);

    if (r < 0)
        return r;
    *ret_info = (XenPhysInfo){.max_cpu_id = fake->max_cpu_id,
                              .max_node_id = 63,
                              .nr_cpus = count_online(fake),
                              .total_pages = 1000,
                              .free_pages = 400,
                              .outstanding_pages = 7};
    scramble(fake, ret_info, sizeof(*ret_info));
    return 0;
}

static int fake_numacount(XenCalls *calls, uint32_t *ret_n_nodes)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_NUMACOUNT);

    if (r < 0)
        return r;
    *ret_n_nodes = fake->n_nodes;
    if (fake->garbage)
        *ret_n_nodes = (uint32_t)rand_r(&fake->seed) >> (rand_r(&fake->seed) % 31);
    return 0;
}

static int fake_numainfo(XenCalls *calls, uint32_t *n, XenMemInfo *nodes, uint32_t *distances)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_NUMAINFO);

    if (r < 0)
        return r;
    *n = MIN(*n, fake->n_nodes);
    for (uint32_t i = 0; i < *n; i++) {
        nodes[i] = fake->nodes[i];
        for (uint32_t j = 0; j < *n; j++)
            distances[i * *n + j] = fake->distances[i][j];
    }
    scramble(fake, nodes, *n * sizeof(*nodes));
    return 0;
}

static int fake_cputopoinfo(XenCalls *calls, uint32_t *n, XenCpuTopo *cpus)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_CPUTOPOINFO);

    if (r < 0)
        return r;
    *n = MIN(*n, fake->n_cpus);
    memcpy(cpus, fake->cpus, *n * sizeof(*cpus));
    scramble(fake, cpus, *n * sizeof(*cpus));
    return 0;
}

static uint64_t free_below(const FakeXen *fake, uint32_t node, unsigned width)
{
    uint64_t limit = width && width < 64 ? 1ull << width : UINT64_MAX;

    return sub_saturating(MIN(fake->ranges[node].end, limit), fake->ranges[node].start);
}

static int fake_availheap(XenCalls *calls, uint32_t node, unsigned max_width, uint64_t *ret_bytes)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_AVAILHEAP);

    if (r < 0)
        return r;
    *ret_bytes = 0;
    for (uint32_t i = 0; i < fake->n_nodes; i++)
        if (node == XEN_ANY_NODE || node == i)
            *ret_bytes += free_below(fake, i, max_width);
    scramble(fake, ret_bytes, sizeof(*ret_bytes));
    return 0;
}

/* --- domains --- */

static FakeDomain *find(FakeXen *fake, domid_t domid)
{
    for (size_t i = 0; i < fake->n_domains; i++)
        if (fake->domains[i].info.domid == domid && !fake->domains[i].dead)
            return &fake->domains[i];
    return NULL;
}

static int fake_domains(XenCalls *calls, domid_t first, uint32_t room, XenDomInfo *ret_infos)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_DOMAINS);
    uint32_t n = 0;

    if (r < 0)
        return r;
    for (size_t i = 0; i < fake->n_domains && n < room; i++)
        if (fake->domains[i].info.domid >= first && !fake->domains[i].unlisted)
            ret_infos[n++] = fake->domains[i].info;
    scramble(fake, ret_infos, n * sizeof(*ret_infos));
    for (uint32_t i = 0; fake->garbage && i < n && rand_r(&fake->seed) % 4; i++) {
        ret_infos[i].domid = (domid_t)(first + i); /* in order, so that the rest is looked at, but for a quarter */
        ret_infos[i].max_vcpu_id %= 64;
    }
    return (int)n;
}

static int fake_vcpu_info(XenCalls *calls, domid_t domid, uint32_t vcpu, XenVcpuInfo *ret_info)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_VCPU_INFO);

    if (r == 0 && !fake->garbage && !find(fake, domid))
        r = -ESRCH;
    if (r < 0)
        return r;
    *ret_info = (XenVcpuInfo){.online = vcpu == 0, .cpu = 1 + vcpu, .cpu_time_ns = 1000};
    scramble(fake, &ret_info->cpu, sizeof(ret_info->cpu));
    return 0;
}

static void fill_mask(FakeXen *fake, uint8_t *mask, size_t n_bytes, uint8_t first)
{
    memset(mask, fake->max_cpu_id < 8 ? 0xff : 0, n_bytes);
    if (n_bytes)
        mask[0] = first;
    scramble(fake, mask, n_bytes);
}

static int fake_vcpu_affinity(XenCalls *calls, domid_t domid, uint32_t vcpu, uint8_t *hard, uint8_t *soft,
                              size_t n_bytes)
{
    FakeXen *fake = fake_xen(calls);
    const FakeDomain *domain;
    int r = enter(fake, FAKE_VCPU_AFFINITY);

    domain = find(fake, domid);
    if (r == 0 && !fake->garbage && !domain)
        r = -ESRCH;
    if (r < 0)
        return r;
    fill_mask(fake, hard, n_bytes, domain ? domain->hard : 0);
    fill_mask(fake, soft, n_bytes, domain ? domain->soft : 0);
    return 0;
}

static int fake_node_affinity(XenCalls *calls, domid_t domid, uint8_t *nodes, size_t n_bytes)
{
    FakeXen *fake = fake_xen(calls);
    const FakeDomain *domain;
    int r = enter(fake, FAKE_NODE_AFFINITY);

    domain = find(fake, domid);
    if (r == 0 && !fake->garbage && !domain)
        r = -ESRCH;
    if (r < 0)
        return r;
    fill_mask(fake, nodes, n_bytes, domain ? domain->nodes : 0);
    return 0;
}

static int fake_pool(XenCalls *calls, uint32_t *pool, uint8_t *cpus, size_t n_bytes)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_POOL);

    if (r < 0)
        return r;
    if (fake->garbage) {
        scramble(fake, pool, sizeof(*pool));
        fill_mask(fake, cpus, n_bytes, 0);
        return 0;
    }
    for (unsigned i = 0; i < fake->n_pools; i++)
        if (fake->pools[i] >= *pool) {
            *pool = fake->pools[i];
            fill_mask(fake, cpus, n_bytes, fake->pool_cpus[i]);
            return 0;
        }
    return -ENOENT;
}

static int fake_free_cpus(XenCalls *calls, uint8_t *cpus, size_t n_bytes)
{
    int r = enter(fake_xen(calls), FAKE_FREE_CPUS);

    if (r == 0)
        fill_mask(fake_xen(calls), cpus, n_bytes, fake_xen(calls)->free_cpus);
    return r;
}

/* --- XENMEM_numa_heap --- */

static int fake_numa_heap(XenCalls *calls, struct xen_numa_heap *arg, void *buffer, size_t size)
{
    FakeXen *fake = fake_xen(calls);
    int r;

    assert_int_equal(arg->version, XEN_NUMA_HEAP_VERSION);
    assert_int_equal(arg->flags | arg->pad, 0);
    assert_in_range(arg->op, XEN_NUMA_HEAP_QUERY, XEN_NUMA_HEAP_DOMAINS);
    r = enter(fake, FAKE_HEAP_QUERY + arg->op);
    if (r < 0)
        return r;
    r = fake_heap_answer(fake, arg, buffer, size);
    if (r == 0 || r == -ERANGE) {
        arg->nr_nodes = fake->n_nodes;
        arg->nr_orders = fake->heap_orders;
    }
    if (arg->op != XEN_NUMA_HEAP_QUERY) { /* a lying QUERY is another test */
        scramble(fake, buffer, size);
        if (fake->garbage && rand_r(&fake->seed) % 2)
            scramble(fake, &arg->nr_nodes, 4 * sizeof(uint32_t));
        if (fake->garbage && rand_r(&fake->seed) % 4 == 0)
            r = -ERANGE;
    }
    return r;
}

/* --- devices and firmware --- */

static int fake_pci_nodes(XenCalls *calls, const PciAddress *devices, size_t n, uint32_t *ret_nodes)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_PCI_NODES);

    assert_in_range(n, 1, 64);
    for (size_t i = 0; r == 0 && i < n; i++) {
        ret_nodes[i] = ROW_INVALID;
        for (size_t j = 0; j < fake->n_devices; j++)
            if (pci_address_compare(devices[i], fake->devices[j]) == 0)
                ret_nodes[i] = fake->device_nodes[j];
    }
    if (r == 0)
        scramble(fake, ret_nodes, n * sizeof(*ret_nodes));
    return r;
}

static int fake_pci_devices(XenCalls *calls, PciAddress **ret_devices, size_t *ret_n)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_PCI_DEVICES);

    if (r < 0)
        return r;
    *ret_devices = new_array(fake->n_devices, sizeof(**ret_devices));
    if (!*ret_devices)
        return -ENOMEM;
    memcpy(*ret_devices, fake->devices, fake->n_devices * sizeof(**ret_devices));
    *ret_n = fake->n_devices;
    return r;
}

static int fake_firmware(XenCalls *calls, Firmware **ret_firmware, int ret_errors[_ACPI_TABLE_MAX])
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_FIRMWARE);
    const uint8_t *srat = fake->srat, *slit = fake->slit;

    if (r < 0)
        return r;
    *ret_firmware = NULL;
    memcpy(ret_errors, fake->firmware_errors, sizeof(fake->firmware_errors));
    if (ret_errors[ACPI_SRAT] < 0)
        srat = NULL;
    if (ret_errors[ACPI_SLIT] < 0)
        slit = NULL;
    return srat || slit ? firmware_new(srat, fake->srat_size, slit, fake->slit_size, ret_firmware) : 0;
}

/* --- xenstore --- */

static void fake_store_close(XenCalls *calls)
{
    FakeXen *fake = fake_xen(calls);

    for (int i = 0; i < 2; i++) {
        if (fake->store[i] >= 0)
            close(fake->store[i]);
        fake->store[i] = -1;
    }
    fake->events = 0;
}

static int fake_store_open(XenCalls *calls)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_STORE_OPEN);

    if (r < 0)
        return r;
    assert_int_equal(pipe(fake->store), 0);
    fake_xen_event(fake); /* a new watch fires at once */
    return 0;
}

static int fake_store_name(XenCalls *calls, domid_t domid, char **ret_name)
{
    FakeXen *fake = fake_xen(calls);
    const FakeDomain *domain;
    int r = enter(fake, FAKE_STORE_NAME);

    domain = find(fake, domid);
    assert_true(fake->store[0] >= 0);
    if (r == 0 && (!domain || !domain->name))
        r = -ENOENT;
    return r < 0 ? r : copy(domain->name, ret_name);
}

static int fake_store_fd(const XenCalls *calls)
{
    return fake_xen(calls)->store[0];
}

static int fake_store_event(XenCalls *calls)
{
    FakeXen *fake = fake_xen(calls);
    int r = enter(fake, FAKE_STORE_EVENT);
    char byte;

    if (r < 0)
        return r;
    if (fake->events == 0)
        return 0;
    if (--fake->events == 0)
        assert_int_equal(read(fake->store[0], &byte, 1), 1);
    return 1;
}

void fake_xen_event(FakeXen *fake)
{
    if (fake->events++ == 0)
        assert_int_equal(write(fake->store[1], "e", 1), 1);
}

static void fake_free(XenCalls *calls)
{
    FakeXen *fake = fake_xen(calls);

    fake_store_close(calls);
    if (fake->freed)
        *fake->freed = true;
    free(fake->domains);
    free(fake);
}

const XenCallsOps fake_xen_ops = {
    .version = fake_version,
    .commandline = fake_commandline,
    .physinfo = fake_physinfo,
    .numacount = fake_numacount,
    .numainfo = fake_numainfo,
    .cputopoinfo = fake_cputopoinfo,
    .availheap = fake_availheap,
    .domains = fake_domains,
    .vcpu_info = fake_vcpu_info,
    .vcpu_affinity = fake_vcpu_affinity,
    .node_affinity = fake_node_affinity,
    .pool = fake_pool,
    .free_cpus = fake_free_cpus,
    .numa_heap = fake_numa_heap,
    .pci_nodes = fake_pci_nodes,
    .pci_devices = fake_pci_devices,
    .firmware = fake_firmware,
    .store_open = fake_store_open,
    .store_close = fake_store_close,
    .store_name = fake_store_name,
    .store_fd = fake_store_fd,
    .store_event = fake_store_event,
    .free = fake_free,
};
