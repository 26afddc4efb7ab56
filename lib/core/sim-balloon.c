/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim-parts.h"

/* Memory of a simulated host that comes and goes after the start of a domain. */

static int grow_by(SimHost *host, size_t index, uint64_t pages)
{
    SimRecord *record = &host->records[index];
    const DomainRow *row = &host->rows->domains[index];
    uint64_t allowed = MIN(pages, sim_unclaimed(host)), left = allowed;

    for (SimSize size = row->type == DOMAIN_TYPE_PV ? SIM_PAGE : SIM_2M; left > 0; size--) {
        unsigned order = sim_order(size, host->rows->page_size);

        left -= sim_nodes_take(&host->nodes, &row->node_affinity, size, left >> order, &record->last, &record->memory)
                << order;
        if (size == SIM_PAGE)
            break;
    }
    return left > 0 || allowed < pages ? SIM_E_NO_MEMORY : 0;
}

static void shrink_by(SimHost *host, size_t index, uint64_t pages)
{
    SimHolding *memory = &host->records[index].memory;

    for (nodeid_t node = (nodeid_t)host->nodes.n; node-- > 0 && pages > 0;) {
        uint64_t n = MIN(pages, memory->pages[node]);

        sim_nodes_give(&host->nodes, node, n, memory);
        pages -= n;
    }
}

static uint64_t held(const SimHost *host, size_t index)
{
    uint64_t pages = 0;

    for (nodeid_t node = 0; node < host->nodes.n; node++)
        pages += host->records[index].memory.pages[node];
    return pages;
}

/* Where a domain that was there before, and tells no node affinity, gets memory from. */
static int know_affinity(SimHost *host, size_t index)
{
    DomainRow *row = &host->rows->domains[index];
    const SimDomain domain = {.pool = row->pool};
    _cleanup_(vcpu_rows_unref_p) VcpuRows *vcpus = row->vcpus ? vcpu_rows_ref(row->vcpus) : vcpu_rows_new(0);
    int r;

    if (row->has_node_affinity)
        return 0;
    r = vcpus ? sim_affinity(host, &domain, vcpus, &row->node_affinity) : -ENOMEM;
    row->has_node_affinity = r == 0;
    return r;
}

int sim_host_balloon(SimHost *host, domid_t domid, uint64_t bytes)
{
    size_t index = sim_find(host, domid);
    uint64_t target = bytes / host->rows->page_size, before = sim_nodes_free(&host->nodes), now;
    int r;

    if (index == SIM_DOMAIN_NONE)
        return SIM_E_UNKNOWN_DOMAIN;
    if (host->records[index].building)
        return SIM_E_UNFINISHED;
    if (target == 0 || target > host->rows->domains[index].max_pages)
        return SIM_E_LIMIT;
    r = sim_know_holding(host, index);
    if (r == 0)
        r = know_affinity(host, index);
    if (r != 0)
        return r;
    now = held(host, index);
    if (target > now)
        r = grow_by(host, index, target - now);
    else
        shrink_by(host, index, now - target);
    sim_tell(host, index);
    sim_count_free(host, before);
    return r;
}

static bool node_exists(const SimHost *host, nodeid_t node)
{
    return node < host->nodes.n && sim_node_exists(&host->nodes.nodes[node]);
}

int sim_host_take(SimHost *host, nodeid_t node, uint64_t bytes)
{
    uint64_t pages = bytes / host->rows->page_size, before = sim_nodes_free(&host->nodes), got;

    if (!node_exists(host, node))
        return SIM_E_NO_NODE;
    if (pages > sim_node_supply(&host->nodes.nodes[node], 0, SIM_ANY) +
                    sim_node_supply(&host->nodes.nodes[node], 0, SIM_LOW_ANY))
        return SIM_E_NO_MEMORY;
    got = sim_nodes_take_pages(&host->nodes, node, pages, SIM_ANY, &host->taken);
    sim_nodes_take_pages(&host->nodes, node, pages - got, SIM_LOW_ANY, &host->taken);
    sim_count_free(host, before);
    return 0;
}

int sim_host_give(SimHost *host, nodeid_t node, uint64_t bytes)
{
    uint64_t pages = bytes / host->rows->page_size, before = sim_nodes_free(&host->nodes);

    if (!node_exists(host, node))
        return SIM_E_NO_NODE;
    if (pages >
        sub_saturating(host->rows->nodes[node].size / host->rows->page_size, sim_node_free(&host->nodes.nodes[node])))
        return SIM_E_NO_MEMORY;
    if (pages > host->taken.pages[node]) /* it was taken before the model began */
        sim_holding_add(&host->taken, node, pages - host->taken.pages[node], host->rows->page_size);
    sim_nodes_give(&host->nodes, node, pages, &host->taken);
    sim_count_free(host, before);
    return 0;
}

void sim_host_scrub(SimHost *host, uint64_t bytes)
{
    for (nodeid_t node = 0; node < host->nodes.n; node++)
        sim_node_scrub(&host->nodes.nodes[node], bytes);
}
