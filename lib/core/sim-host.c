/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim-host.h"

#include "sim-parts.h"

/* How the builder takes a domain's memory: a size, and how much of the domain at most. */
typedef struct Step {
    SimSize size;
    uint64_t bytes;
} Step;

#define STEPS_MAX 4u
/* Memory may come in extents of a GiB where it begins at a multiple of one. The first GiB of an hvm guest does not. */
static const Step pv_steps[STEPS_MAX] = {{SIM_2M, UINT64_MAX}, {SIM_PAGE, UINT64_MAX}};
static const Step pvh_steps[STEPS_MAX] = {{SIM_1G, UINT64_MAX}, {SIM_2M, UINT64_MAX}, {SIM_PAGE, UINT64_MAX}};
static const Step hvm_steps[STEPS_MAX] = {{SIM_2M, 1ull << 30},
                                          {SIM_1G, UINT64_MAX},
                                          {SIM_2M, UINT64_MAX},
                                          {SIM_PAGE, UINT64_MAX}};

static const Step *steps_of(DomainType type)
{
    if (type == DOMAIN_TYPE_PV)
        return pv_steps;
    return type == DOMAIN_TYPE_PVH ? pvh_steps : hvm_steps;
}

/* Claims that bind: those of the domains, or of the nodes, as whoever decides about the host counts them. */
static uint64_t count_claims(const HostRows *rows)
{
    uint64_t pages = 0;

    if (rows->features & FEATURE_BIT(FEATURE_CLAIMS)) {
        for (size_t i = 0; i < rows->n_nodes; i++)
            if (rows->nodes[i].size != ROW_HOLE && rows->nodes[i].claimed != VALUE_UNKNOWN)
                pages = add_saturating(pages, rows->nodes[i].claimed / rows->page_size);
        return pages;
    }
    for (size_t i = 0; i < rows->n_domains; i++)
        if (rows->domains[i].claimed_pages != VALUE_UNKNOWN)
            pages = add_saturating(pages, rows->domains[i].claimed_pages);
    return pages;
}

static domid_t highest_domid(const HostRows *rows)
{
    domid_t highest = 0;

    for (size_t i = 0; i < rows->n_domains; i++)
        highest = MAX(highest, rows->domains[i].domid);
    return highest;
}

int sim_host_new(HostRows *rows, SimHost **ret_host)
{
    _cleanup_(sim_host_free_p) SimHost *host = calloc(1, sizeof(*host));

    if (!host) {
        host_rows_free(rows);
        return -ENOMEM;
    }
    host->rows = rows;
    host->capacity = rows->n_domains;
    host->rover = highest_domid(rows);
    host->claims = count_claims(rows);
    host->records = new_array(host->capacity, sizeof(*host->records));
    if (!host->records || sim_nodes_init(&host->nodes, rows) < 0 || sim_holding_init(&host->taken, rows->n_nodes) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < rows->n_domains; i++)
        host->records[i].last = NODE_NONE;
    *ret_host = TAKE_PTR(host);
    return 0;
}

SimHost *sim_host_free(SimHost *host)
{
    if (!host)
        return NULL;
    while (host->records && host->rows->n_domains > 0)
        sim_remove_domain(host, host->rows->n_domains - 1);
    free(host->records);
    sim_nodes_done(&host->nodes);
    sim_holding_done(&host->taken);
    host_rows_free(host->rows);
    free(host);
    return NULL;
}

const HostRows *sim_host_rows(const SimHost *host)
{
    return host->rows;
}

uint64_t sim_unclaimed(const SimHost *host)
{
    return sub_saturating(sim_nodes_free(&host->nodes), host->claims);
}

/* Adds to a total of the host that its rows may not tell. */
static void change(uint64_t *total, uint64_t plus, uint64_t minus)
{
    if (*total != VALUE_UNKNOWN)
        *total = sub_saturating(add_saturating(*total, plus), minus);
}

void sim_set_claim(SimHost *host, size_t index, uint64_t pages)
{
    uint64_t *claimed = &host->rows->domains[index].claimed_pages;
    uint64_t before = *claimed == VALUE_UNKNOWN ? 0 : *claimed;

    host->claims = sub_saturating(add_saturating(host->claims, pages), before);
    change(&host->rows->claimed, pages * host->rows->page_size, before * host->rows->page_size);
    *claimed = pages;
}

void sim_count_free(SimHost *host, uint64_t before)
{
    uint64_t now = sim_nodes_free(&host->nodes);

    change(&host->rows->free, now * host->rows->page_size, before * host->rows->page_size);
}

int sim_host_begin(SimHost *host, const SimDomain *domain, domid_t *ret_domid)
{
    size_t index = 0;
    int r = domain->memory >= host->rows->page_size ? sim_add_domain(host, domain, &index) : SIM_E_LIMIT;

    if (r != 0)
        return r;
    if (host->records[index].left > sim_unclaimed(host)) {
        sim_remove_domain(host, index);
        return SIM_E_CLAIM;
    }
    sim_set_claim(host, index, host->records[index].left);
    sim_tell(host, index);
    *ret_domid = host->rows->domains[index].domid;
    return 0;
}

static const Step *step_of(const SimHost *host, size_t index)
{
    unsigned step = host->records[index].step;

    return step == STEPS_MAX ? NULL : &steps_of(host->rows->domains[index].type)[step];
}

/* Goes on with a step, as far as it and the budget go. True: only the budget is in the way. */
static bool run_step(SimHost *host, size_t index, const Step *step, uint64_t *budget)
{
    SimRecord *record = &host->records[index];
    const DomainRow *row = &host->rows->domains[index];
    unsigned order = sim_order(step->size, host->rows->page_size);
    uint64_t done = host->rows->domains[index].total_pages;
    uint64_t want = MIN(record->left, sub_saturating(step->bytes / host->rows->page_size, done)) >> order;
    uint64_t n = MIN(want, *budget >> order);
    uint64_t pages = sim_nodes_take(&host->nodes, &row->node_affinity, step->size, n, &record->last, &record->memory)
                     << order;

    record->left -= pages;
    *budget -= pages;
    sim_set_claim(host, index, record->left);
    sim_tell(host, index);
    return pages >> order == n && n < want;
}

/* In proportion to the memory; what is left over goes to the last node that has some. */
static void take_shares(SimHost *host, SimRecord *record)
{
    const uint64_t *memory = record->memory.pages;
    uint64_t total = 0, left = record->overhead_pages;
    nodeid_t last = NODE_NONE;

    for (nodeid_t node = 0; node < host->nodes.n; node++) {
        total += memory[node];
        last = memory[node] > 0 ? node : last;
    }
    for (nodeid_t node = 0; node < host->nodes.n; node++) {
        uint64_t share = (uint64_t)((__uint128_t)record->overhead_pages * memory[node] / total);

        left -= sim_nodes_take_pages(&host->nodes, node, node == last ? left : share, SIM_ANY, &record->overhead);
    }
}

/* What Xen needs for the domain. 0 or SIM_E_NO_MEMORY. */
static int take_overhead(SimHost *host, size_t index)
{
    SimRecord *record = &host->records[index];
    uint64_t got = 0, missing;

    if (record->overhead_pages > sim_unclaimed(host))
        return SIM_E_NO_MEMORY;
    take_shares(host, record);
    for (nodeid_t node = 0; node < host->nodes.n; node++)
        got += record->overhead.pages[node];
    missing = record->overhead_pages - got;
    return sim_nodes_take(&host->nodes, &host->rows->domains[index].node_affinity, SIM_PAGE, missing, &record->last,
                          &record->overhead) == missing
               ? 0
               : SIM_E_NO_MEMORY;
}

static int finish(SimHost *host, size_t index)
{
    int r = host->records[index].left > 0 ? SIM_E_NO_MEMORY : 0;

    sim_set_claim(host, index, 0);
    if (r == 0)
        r = take_overhead(host, index);
    host->records[index].building = false;
    return r;
}

int sim_host_build(SimHost *host, domid_t domid, uint64_t bytes)
{
    size_t index = sim_find(host, domid);
    uint64_t budget = bytes / host->rows->page_size, before = sim_nodes_free(&host->nodes);
    SimRecord *record;
    int r;

    if (index == SIM_DOMAIN_NONE)
        return SIM_E_UNKNOWN_DOMAIN;
    record = &host->records[index];
    if (!record->building)
        return 0;
    for (const Step *step; (step = step_of(host, index)); record->step++)
        if (run_step(host, index, step, &budget)) {
            sim_count_free(host, before);
            return SIM_E_UNFINISHED;
        }
    r = finish(host, index);
    sim_count_free(host, before);
    if (r != 0)
        sim_host_destroy(host, domid);
    return r;
}

bool sim_host_is_building(const SimHost *host, domid_t domid)
{
    size_t index = sim_find(host, domid);

    return index != SIM_DOMAIN_NONE && host->records[index].building;
}

int sim_host_create(SimHost *host, const SimDomain *domain, domid_t *ret_domid)
{
    int r = sim_host_begin(host, domain, ret_domid);

    return r == 0 ? sim_host_build(host, *ret_domid, UINT64_MAX) : r;
}

static void give_all(SimHost *host, SimHolding *holding)
{
    for (nodeid_t node = 0; holding->pages && node < host->nodes.n; node++)
        sim_nodes_give(&host->nodes, node, holding->pages[node], holding);
}

int sim_host_destroy(SimHost *host, domid_t domid)
{
    size_t index = sim_find(host, domid);
    uint64_t before = sim_nodes_free(&host->nodes);
    int r;

    if (index == SIM_DOMAIN_NONE)
        return SIM_E_UNKNOWN_DOMAIN;
    r = sim_know_holding(host, index);
    if (r < 0)
        return r;
    sim_set_claim(host, index, 0);
    give_all(host, &host->records[index].memory);
    give_all(host, &host->records[index].overhead);
    sim_remove_domain(host, index);
    sim_count_free(host, before);
    return 0;
}

const uint64_t *sim_host_pages(const SimHost *host, domid_t domid)
{
    size_t index = sim_find(host, domid);

    if (index == SIM_DOMAIN_NONE)
        return NULL;
    return host->records[index].memory.pages ? host->records[index].memory.pages
                                             : host->rows->domains[index].node_pages;
}

const uint64_t *sim_host_overhead(const SimHost *host, domid_t domid)
{
    size_t index = sim_find(host, domid);

    return index == SIM_DOMAIN_NONE ? NULL : host->records[index].overhead.pages;
}
