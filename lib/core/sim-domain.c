/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim-parts.h"

#include <string.h>

/* The rows of a simulated host's domains, and what the model knows beside. */

size_t sim_find(const SimHost *host, domid_t domid)
{
    for (size_t i = 0; i < host->rows->n_domains; i++)
        if (host->rows->domains[i].domid == domid)
            return i;
    return SIM_DOMAIN_NONE;
}

/* Upward from the last one given; after the highest comes 1. */
static int next_domid(SimHost *host, domid_t *ret)
{
    _cleanup_bitmap_ Bitmap used = {0};
    unsigned domid = host->rover;

    for (size_t i = 0; i < host->rows->n_domains; i++)
        if (bitmap_set(&used, host->rows->domains[i].domid) < 0)
            return -ENOMEM;
    for (unsigned tried = 0; tried < DOMAINS_MAX; tried++) {
        domid = domid + 1 >= DOMAINS_MAX ? 1 : domid + 1;
        if (!bitmap_isset(&used, domid)) {
            *ret = host->rover = (domid_t)domid;
            return 0;
        }
    }
    return SIM_E_NO_MEMORY;
}

static const Bitmap *pool_cpus(const HostRows *rows, uint32_t pool)
{
    for (size_t i = 0; i < rows->n_pools; i++)
        if (rows->pools[i].pool == pool)
            return &rows->pools[i].cpus;
    return NULL;
}

static bool is_usable(const HostRows *rows, const Bitmap *pool, cpuid_t cpu)
{
    return cpu < rows->n_cpus && rows->cpus[cpu].core != ROW_INVALID && (!pool || bitmap_isset(pool, cpu));
}

/* Existing nodes of a set of usable CPUs. */
static int nodes_of(const HostRows *rows, const Bitmap *pool, const Bitmap *cpus, Bitmap *nodes)
{
    BITMAP_FOREACH (cpu, cpus) {
        nodeid_t node = is_usable(rows, pool, cpu) ? rows->cpus[cpu].node : NODE_NONE;

        if (node < rows->n_nodes && rows->nodes[node].size != ROW_HOLE && bitmap_set(nodes, node) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int all_nodes(const HostRows *rows, Bitmap *nodes)
{
    for (nodeid_t node = 0; node < rows->n_nodes; node++)
        if (rows->nodes[node].size != ROW_HOLE && bitmap_set(nodes, node) < 0)
            return -ENOMEM;
    return 0;
}

/* Both sets of all vCPUs where they meet; else the hard ones; else there is no preference. */
static int affinity_of_vcpus(const HostRows *rows, const Bitmap *pool, const VcpuRows *vcpus, Bitmap *nodes)
{
    _cleanup_bitmap_ Bitmap hard = {0}, both = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < vcpus->n; i++) {
        r = bitmap_or(&hard, &vcpus->rows[i].hard);
        if (r == 0)
            r = bitmap_or(&both, &vcpus->rows[i].soft);
    }
    if (r == 0)
        r = bitmap_and(&both, &both, &hard);
    if (r == 0)
        r = nodes_of(rows, pool, &both, nodes);
    if (r == 0 && bitmap_isempty(nodes))
        r = nodes_of(rows, pool, &hard, nodes);
    return r;
}

int sim_affinity(const SimHost *host, const SimDomain *domain, const VcpuRows *vcpus, Bitmap *ret_nodes)
{
    const Bitmap *pool = pool_cpus(host->rows, domain->pool == ROW_NO_POOL ? 0 : domain->pool);
    _cleanup_bitmap_ Bitmap all = {0};
    int r = all_nodes(host->rows, &all);

    if (r == 0 && domain->node_affinity) {
        r = bitmap_and(ret_nodes, domain->node_affinity, &all);
        return r == 0 && bitmap_isempty(ret_nodes) ? SIM_E_NO_NODE : r;
    }
    if (r == 0)
        r = affinity_of_vcpus(host->rows, pool, vcpus, ret_nodes);
    if (r == 0 && bitmap_isempty(ret_nodes))
        r = bitmap_copy(ret_nodes, &all);
    return r == 0 && bitmap_isempty(ret_nodes) ? SIM_E_NO_NODE : r;
}

/* The CPU that a vCPU runs on: one that it may run on, and not the last one's. */
static int find_cpu(const VcpuRow *vcpu, const Bitmap *usable, cpuid_t *last)
{
    _cleanup_bitmap_ Bitmap hard = {0}, both = {0};
    int r = bitmap_and(&hard, &vcpu->hard, usable);
    const Bitmap *set = &hard;

    if (r == 0)
        r = bitmap_and(&both, &hard, &vcpu->soft);
    if (r < 0)
        return r;
    if (bitmap_isempty(&hard))
        set = usable;
    else if (!bitmap_isempty(&both))
        set = &both;
    *last = bitmap_next(set, *last + 1);
    if (*last == CPU_NONE)
        *last = bitmap_next(set, 0);
    return 0;
}

static int usable_cpus(const HostRows *rows, uint32_t pool, Bitmap *cpus)
{
    const Bitmap *set = pool_cpus(rows, pool);

    for (cpuid_t cpu = 0; cpu < rows->n_cpus; cpu++)
        if (is_usable(rows, set, cpu) && bitmap_set(cpus, cpu) < 0)
            return -ENOMEM;
    return 0;
}

static int fill_vcpu(VcpuRow *vcpu, const VcpuRow *sets, unsigned max_cpu_id)
{
    vcpu->online = true;
    if (!sets) {
        int r = bitmap_set_range(&vcpu->hard, 0, max_cpu_id);

        return r < 0 ? r : bitmap_set_range(&vcpu->soft, 0, max_cpu_id);
    }
    return bitmap_copy(&vcpu->hard, &sets->hard) < 0 ? -ENOMEM : bitmap_copy(&vcpu->soft, &sets->soft);
}

static int make_vcpus(const HostRows *rows, const SimDomain *domain, VcpuRows **ret_vcpus)
{
    _cleanup_(vcpu_rows_unref_p) VcpuRows *vcpus = vcpu_rows_new(domain->vcpus);
    _cleanup_bitmap_ Bitmap usable = {0};
    cpuid_t last = CPU_NONE;
    int r = vcpus ? usable_cpus(rows, domain->pool == ROW_NO_POOL ? 0 : domain->pool, &usable) : -ENOMEM;

    for (uint32_t i = 0; r == 0 && i < domain->vcpus; i++) {
        const VcpuRow *sets = domain->n_sets ? &domain->sets[MIN((size_t)i, domain->n_sets - 1)] : NULL;

        r = fill_vcpu(&vcpus->rows[i], sets, rows->max_cpu_id);
        if (r == 0)
            r = find_cpu(&vcpus->rows[i], &usable, &last);
        vcpus->rows[i].cpu = last;
    }
    if (r == 0)
        *ret_vcpus = TAKE_PTR(vcpus);
    return r;
}

static uint64_t pages_up(uint64_t bytes, uint32_t page_size)
{
    return bytes / page_size + (bytes % page_size != 0);
}

static int fill_row(const SimHost *host, const SimDomain *domain, DomainRow *row)
{
    const HostRows *rows = host->rows;
    int r;

    row->has_uuid = domain->has_uuid;
    memcpy(row->uuid, domain->uuid, sizeof(row->uuid));
    row->type = domain->type;
    row->state = domain->state;
    row->pool = domain->pool == ROW_NO_POOL ? 0 : domain->pool;
    row->max_pages = pages_up(MAX(domain->memory, domain->max_memory), rows->page_size);
    row->claimed_pages = 0;
    row->has_node_affinity = true;
    row->n_vcpus = domain->vcpus;
    if (domain->name && !(row->name = strdup(domain->name)))
        return -ENOMEM;
    if (rows->features & FEATURE_BIT(FEATURE_NODE_PAGES) &&
        !(row->node_pages = new_array(rows->n_nodes, sizeof(*row->node_pages))))
        return -ENOMEM;
    r = make_vcpus(rows, domain, &row->vcpus);
    return r < 0 ? r : sim_affinity(host, domain, row->vcpus, &row->node_affinity);
}

static int init_record(const SimHost *host, const SimDomain *domain, SimRecord *record)
{
    const PlacementRequest request = {.vcpus = domain->vcpus,
                                      .memory = domain->memory,
                                      .max_memory = domain->max_memory,
                                      .type = domain->type,
                                      .pool = domain->pool};
    int r = sim_holding_init(&record->memory, host->rows->n_nodes);

    record->last = NODE_NONE;
    record->building = true;
    record->left = pages_up(domain->memory, host->rows->page_size);
    record->overhead_pages = pages_up(placement_overhead(&request), host->rows->page_size);
    return r < 0 ? r : sim_holding_init(&record->overhead, host->rows->n_nodes);
}

static void record_done(SimRecord *record)
{
    sim_holding_done(&record->memory);
    sim_holding_done(&record->overhead);
}

static int grow(SimHost *host)
{
    size_t capacity = MAX(host->capacity * 2, (size_t)16);
    DomainRow *domains;
    SimRecord *records;

    if (host->rows->n_domains < host->capacity)
        return 0;
    domains = reallocarray(host->rows->domains, capacity, sizeof(*domains));
    if (!domains)
        return -ENOMEM;
    host->rows->domains = domains;
    records = reallocarray(host->records, capacity, sizeof(*records));
    if (!records)
        return -ENOMEM;
    host->records = records;
    host->capacity = capacity;
    return 0;
}

int sim_add_domain(SimHost *host, const SimDomain *domain, size_t *ret_index)
{
    DomainRow row = {0};
    SimRecord record = {0};
    int r = grow(host);

    if (r == 0)
        r = fill_row(host, domain, &row);
    if (r == 0)
        r = init_record(host, domain, &record);
    if (r == 0)
        r = next_domid(host, &row.domid);
    if (r != 0) {
        domain_row_done(&row);
        record_done(&record);
        return r;
    }
    *ret_index = host->rows->n_domains;
    host->records[*ret_index] = record;
    host->rows->domains[host->rows->n_domains++] = row;
    return 0;
}

void sim_remove_domain(SimHost *host, size_t index)
{
    DomainRow *row = &host->rows->domains[index];
    SimRecord *record = &host->records[index];
    size_t n_behind = --host->rows->n_domains - index;

    domain_row_done(row);
    record_done(record);
    memmove(row, row + 1, n_behind * sizeof(*row));
    memmove(record, record + 1, n_behind * sizeof(*record));
}

/* Where nobody tells, Xen would have striped it over the nodes that the domain prefers. */
static int spread(const SimHost *host, const DomainRow *row, SimHolding *holding)
{
    const SimDomain nowhere = {.pool = row->pool, .node_affinity = row->has_node_affinity ? &row->node_affinity : NULL};
    _cleanup_(vcpu_rows_unref_p) VcpuRows *vcpus = row->vcpus ? vcpu_rows_ref(row->vcpus) : vcpu_rows_new(0);
    _cleanup_bitmap_ Bitmap nodes = {0};
    uint64_t pages = row->total_pages == VALUE_UNKNOWN ? 0 : row->total_pages;
    unsigned n;
    int r = vcpus ? sim_affinity(host, &nowhere, vcpus, &nodes) : -ENOMEM;

    if (r < 0)
        return r;
    n = bitmap_weight(&nodes);
    BITMAP_FOREACH (node, &nodes) {
        uint64_t share = pages / n;

        sim_holding_add(holding, node, share, host->rows->page_size);
        pages -= share;
        n--;
    }
    return 0;
}

int sim_know_holding(SimHost *host, size_t index)
{
    const DomainRow *row = &host->rows->domains[index];
    SimRecord *record = &host->records[index];
    int r;

    if (record->memory.pages)
        return 0;
    r = sim_holding_init(&record->memory, host->rows->n_nodes);
    if (r < 0)
        return r;
    if (!row->node_pages)
        return spread(host, row, &record->memory);
    for (nodeid_t node = 0; node < host->rows->n_nodes; node++)
        if (host->rows->nodes[node].size != ROW_HOLE)
            sim_holding_add(&record->memory, node, row->node_pages[node], host->rows->page_size);
    return 0;
}

static uint64_t sum(const uint64_t *pages, size_t n)
{
    uint64_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += pages[i];
    return total;
}

void sim_tell(SimHost *host, size_t index)
{
    DomainRow *row = &host->rows->domains[index];
    const SimHolding *memory = &host->records[index].memory;
    size_t n = host->rows->n_nodes;

    row->total_pages = sum(memory->pages, n);
    if (row->node_pages)
        memcpy(row->node_pages, memory->pages, n * sizeof(*row->node_pages));
}
