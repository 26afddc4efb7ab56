/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows.h"

#include <string.h>

static const char *const feature_texts[_FEATURE_MAX] = {
    [FEATURE_NODE_PAGES] = "node-pages",
    [FEATURE_NODE_MEMORY] = "node-memory",
    [FEATURE_FREE_CHUNKS] = "free-chunks",
    [FEATURE_CLAIMS] = "claims",
};

static const char *const type_texts[_DOMAIN_TYPE_MAX] = {
    [DOMAIN_TYPE_PV] = "pv",
    [DOMAIN_TYPE_PVH] = "pvh",
    [DOMAIN_TYPE_HVM] = "hvm",
};

static const char *const state_texts[_DOMAIN_STATE_MAX] = {
    [DOMAIN_RUNNING] = "running",   [DOMAIN_BLOCKED] = "blocked", [DOMAIN_PAUSED] = "paused",
    [DOMAIN_SHUTDOWN] = "shutdown", [DOMAIN_CRASHED] = "crashed", [DOMAIN_DYING] = "dying",
};

const char *feature_to_text(Feature feature)
{
    return feature_texts[feature];
}

const char *domain_type_to_text(DomainType type)
{
    return type_texts[type];
}

const char *domain_state_to_text(DomainState state)
{
    return state_texts[state];
}

VcpuRows *vcpu_rows_new(size_t n)
{
    VcpuRows *rows = calloc(1, sizeof(*rows) + n * sizeof(rows->rows[0]));

    if (!rows)
        return NULL;
    rows->refs = 1;
    rows->n = n;
    for (size_t i = 0; i < n; i++)
        rows->rows[i].cpu = CPU_NONE;
    return rows;
}

VcpuRows *vcpu_rows_ref(VcpuRows *rows)
{
    if (rows)
        rows->refs++;
    return rows;
}

void vcpu_rows_unref(VcpuRows *rows)
{
    if (!rows || --rows->refs)
        return;
    for (size_t i = 0; i < rows->n; i++) {
        bitmap_done(&rows->rows[i].hard);
        bitmap_done(&rows->rows[i].soft);
    }
    free(rows);
}

void domain_row_done(DomainRow *domain)
{
    free(domain->name);
    free(domain->node_pages);
    bitmap_done(&domain->node_affinity);
    vcpu_rows_unref(domain->vcpus);
    *domain = (DomainRow){0};
}

void node_row_init(NodeRow *node)
{
    *node = (NodeRow){.present = VALUE_UNKNOWN,
                      .low = VALUE_UNKNOWN,
                      .dirty = VALUE_UNKNOWN,
                      .claimed = VALUE_UNKNOWN,
                      .fragments = VALUE_UNKNOWN};
}

/* Domains that have memory on the node, or may have. */
static uint64_t count_domains_on(const HostRows *rows, nodeid_t node)
{
    uint64_t n = 0;

    for (size_t i = 0; i < rows->n_domains; i++)
        n += !rows->domains[i].node_pages || rows->domains[i].node_pages[node] > 0;
    return n;
}

void host_rows_estimate_fragments(HostRows *rows)
{
    bool none = rows->simulated || rows->features & FEATURE_BIT(FEATURE_FREE_CHUNKS);

    for (nodeid_t id = 0; id < rows->n_nodes; id++)
        if (rows->nodes[id].fragments == VALUE_UNKNOWN)
            rows->nodes[id].fragments = none ? 0 : FRAGMENTS_NODE + FRAGMENTS_DOMAIN * count_domains_on(rows, id);
}

HostRows *host_rows_new(void)
{
    HostRows *rows = calloc(1, sizeof(*rows));

    if (rows) {
        rows->page_size = 4096;
        rows->total = rows->free = rows->claimed = VALUE_UNKNOWN;
    }
    return rows;
}

HostRows *host_rows_free(HostRows *rows)
{
    if (!rows)
        return NULL;
    for (size_t i = 0; i < rows->n_nodes; i++)
        free(rows->nodes[i].free_chunks);
    for (size_t i = 0; i < rows->n_pools; i++)
        bitmap_done(&rows->pools[i].cpus);
    for (size_t i = 0; i < rows->n_devices; i++)
        free(rows->devices[i].pci);
    for (size_t i = 0; i < rows->n_domains; i++)
        domain_row_done(&rows->domains[i]);
    firmware_unref(rows->firmware);
    warning_list_done(&rows->warnings);
    free(rows->xen_version);
    free(rows->cpus);
    free(rows->nodes);
    free(rows->distances);
    free(rows->pools);
    free(rows->devices);
    free(rows->domains);
    free(rows);
    return NULL;
}

/* Copies an array of plain values; leaves *to NULL when there is nothing to copy. */
static int copy_array(void *to, const void *from, size_t n, size_t size)
{
    void *copy;

    if (!from)
        return 0;
    copy = new_array(n, size);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, from, n * size);
    memcpy(to, &copy, sizeof(copy));
    return 0;
}

static int copy_text(char **to, const char *from)
{
    if (from && !(*to = strdup(from)))
        return -ENOMEM;
    return 0;
}

static int copy_nodes(HostRows *copy, const HostRows *rows)
{
    copy->nodes = new_array(rows->n_nodes, sizeof(*copy->nodes));
    if (!copy->nodes)
        return -ENOMEM;
    for (; copy->n_nodes < rows->n_nodes; copy->n_nodes++) {
        const NodeRow *from = &rows->nodes[copy->n_nodes];
        NodeRow *to = &copy->nodes[copy->n_nodes];

        *to = *from;
        to->free_chunks = NULL;
        if (copy_array(&to->free_chunks, from->free_chunks, from->n_free_chunks, sizeof(uint64_t)) < 0)
            return -ENOMEM;
    }
    return copy_array(&copy->distances, rows->distances, rows->n_nodes * rows->n_nodes, sizeof(uint32_t));
}

static int copy_pools(HostRows *copy, const HostRows *rows)
{
    copy->pools = new_array(rows->n_pools, sizeof(*copy->pools));
    if (!copy->pools)
        return -ENOMEM;
    for (; copy->n_pools < rows->n_pools; copy->n_pools++) {
        copy->pools[copy->n_pools].pool = rows->pools[copy->n_pools].pool;
        if (bitmap_copy(&copy->pools[copy->n_pools].cpus, &rows->pools[copy->n_pools].cpus) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int copy_devices(HostRows *copy, const HostRows *rows)
{
    copy->devices = new_array(rows->n_devices, sizeof(*copy->devices));
    if (!copy->devices)
        return -ENOMEM;
    for (; copy->n_devices < rows->n_devices; copy->n_devices++) {
        copy->devices[copy->n_devices].node = rows->devices[copy->n_devices].node;
        if (copy_text(&copy->devices[copy->n_devices].pci, rows->devices[copy->n_devices].pci) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int copy_domain(DomainRow *to, const DomainRow *from, size_t n_nodes)
{
    *to = *from;
    to->name = NULL;
    to->node_pages = NULL;
    to->node_affinity = (Bitmap){0};
    to->vcpus = vcpu_rows_ref(from->vcpus);
    if (copy_text(&to->name, from->name) < 0 ||
        copy_array(&to->node_pages, from->node_pages, n_nodes, sizeof(uint64_t)) < 0 ||
        bitmap_copy(&to->node_affinity, &from->node_affinity) < 0) {
        domain_row_done(to);
        return -ENOMEM;
    }
    return 0;
}

static int copy_domains(HostRows *copy, const HostRows *rows)
{
    copy->domains = new_array(rows->n_domains, sizeof(*copy->domains));
    if (!copy->domains)
        return -ENOMEM;
    for (; copy->n_domains < rows->n_domains; copy->n_domains++)
        if (copy_domain(&copy->domains[copy->n_domains], &rows->domains[copy->n_domains], rows->n_nodes) < 0)
            return -ENOMEM;
    return 0;
}

static int copy_warnings(HostRows *copy, const HostRows *rows)
{
    for (size_t i = 0; i < rows->warnings.n; i++) {
        const Warning *warning = &rows->warnings.items[i];
        int r = warning_list_add(&copy->warnings, warning->code, "%s", warning->text);

        if (r < 0)
            return r;
    }
    return 0;
}

int host_rows_copy(const HostRows *rows, HostRows **ret_copy)
{
    _cleanup_(host_rows_free_p) HostRows *copy = host_rows_new();

    if (!copy)
        return -ENOMEM;
    *copy = (HostRows){
        .backend = rows->backend,
        .simulated = rows->simulated,
        .page_size = rows->page_size,
        .features = rows->features,
        .max_cpu_id = rows->max_cpu_id,
        .total = rows->total,
        .free = rows->free,
        .claimed = rows->claimed,
        .has_dom0_view = rows->has_dom0_view,
        .dom0_nodes = rows->dom0_nodes,
        .dom0_cpus = rows->dom0_cpus,
        .n_cpus = rows->n_cpus,
        .firmware = firmware_ref(rows->firmware),
    };
    if (copy_text(&copy->xen_version, rows->xen_version) < 0 ||
        copy_array(&copy->cpus, rows->cpus, rows->n_cpus, sizeof(CpuRow)) < 0 || copy_nodes(copy, rows) < 0 ||
        copy_pools(copy, rows) < 0 || copy_devices(copy, rows) < 0 || copy_domains(copy, rows) < 0 ||
        copy_warnings(copy, rows) < 0)
        return -ENOMEM;
    *ret_copy = TAKE_PTR(copy);
    return 0;
}

const char *domain_uuid_to_text(const DomainRow *domain, char text[UUID_TEXT_SIZE])
{
    return domain->has_uuid ? uuid_to_text(domain->uuid, text) : NULL;
}
