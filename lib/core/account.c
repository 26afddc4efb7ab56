/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "account.h"

#include <string.h>

/* A domain that is the same in both is known by its id and its UUID. */
static bool is_same_domain(const DomainMemory *memory, const DomainRow *row)
{
    return memory->domid == row->domid && memory->has_uuid == row->has_uuid &&
           memcmp(memory->uuid, row->uuid, sizeof(memory->uuid)) == 0;
}

static int copy_counts(uint64_t **to, const uint64_t *from, size_t n)
{
    if (!from)
        return 0;
    *to = new_array(n, sizeof(**to));
    if (!*to)
        return -ENOMEM;
    memcpy(*to, from, n * sizeof(**to));
    return 0;
}

static int fill_domain(DomainMemory *to, const DomainRow *row, size_t n_nodes)
{
    to->domid = row->domid;
    to->dying = row->state == DOMAIN_DYING;
    to->has_uuid = row->has_uuid;
    memcpy(to->uuid, row->uuid, sizeof(to->uuid));
    to->total_pages = row->total_pages;
    to->claimed_pages = row->claimed_pages;
    if (row->name && !(to->name = strdup(row->name)))
        return -ENOMEM;
    return copy_counts(&to->node_pages, row->node_pages, n_nodes);
}

static int fill_node(NodeRow *to, const Node *node)
{
    to->size = node->exists ? node->span : ROW_HOLE;
    to->free = node->free;
    to->present = node->present;
    to->low = node->low;
    to->dirty = node->dirty;
    to->claimed = node->claimed;
    to->fragments = node->fragments;
    to->n_free_chunks = node->free_chunks ? node->n_free_chunks : 0;
    return copy_counts(&to->free_chunks, node->free_chunks, node->n_free_chunks);
}

HostMemory *account_memory(const Snapshot *s)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = host_memory_new(s->n_nodes, s->n_domains);

    if (!memory)
        return NULL;
    memory->page_size = s->page_size;
    memory->claimed = s->claimed;
    memory->node_claims = s->features & FEATURE_BIT(FEATURE_CLAIMS);
    for (size_t i = 0; i < s->n_nodes; i++)
        if (fill_node(&memory->nodes[i], &s->nodes[i]) < 0)
            return NULL;
    for (size_t i = 0; i < s->n_domains; i++)
        if (fill_domain(&memory->domains[i], &s->domains[i].row, s->n_nodes) < 0)
            return NULL;
    return TAKE_PTR(memory);
}

int account_name_domains(HostMemory *memory, const Snapshot *s)
{
    for (size_t i = 0; i < memory->n_domains; i++) {
        DomainMemory *domain = &memory->domains[i];
        const Domain *known = domain->name ? NULL : snapshot_find_domain(s, domain->domid);

        if (known && known->row.name && is_same_domain(domain, &known->row) &&
            !(domain->name = strdup(known->row.name)))
            return -ENOMEM;
    }
    return 0;
}

/* The derived snapshot's nodes: what is shared with the base's, and no chunks yet. */
static int copy_nodes(Snapshot *s, const Snapshot *base)
{
    s->nodes = new_array(base->n_nodes, sizeof(*s->nodes));
    if (!s->nodes)
        return -ENOMEM;
    for (; s->n_nodes < base->n_nodes; s->n_nodes++) {
        Node *node = &s->nodes[s->n_nodes];

        *node = base->nodes[s->n_nodes];
        node->free_chunks = NULL;
        node->n_free_chunks = 0;
    }
    return 0;
}

/* Numbers of a feature that the snapshot does not have are ignored here as well. */
static int account_node(Node *node, const NodeRow *row, uint64_t reserved, unsigned features, uint64_t headroom)
{
    node->free = row->free;
    node->low = row->low;
    node->dirty = features & FEATURE_BIT(FEATURE_NODE_MEMORY) ? row->dirty : VALUE_UNKNOWN;
    node->claimed = features & FEATURE_BIT(FEATURE_CLAIMS) ? row->claimed : VALUE_UNKNOWN;
    node->reserved = reserved;
    node_set_available(node, headroom);
    if (!row->free_chunks || !(features & FEATURE_BIT(FEATURE_FREE_CHUNKS)))
        return 0;
    node->n_free_chunks = row->n_free_chunks;
    return copy_counts(&node->free_chunks, row->free_chunks, row->n_free_chunks);
}

/* All outstanding claims, in bytes: the host's own figure where there is one, but no less than what domains have. */
static uint64_t all_claims(const HostMemory *memory, uint64_t host)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < memory->n_domains; i++)
        if (memory->domains[i].claimed_pages != VALUE_UNKNOWN)
            sum = add_saturating(sum, memory->domains[i].claimed_pages * memory->page_size);
    return host == VALUE_UNKNOWN ? sum : MAX(sum, host);
}

/*
 * Xen builds a guest only where its host-wide claim fits: what is free, less what is promised, less the claims of those
 * that are built without a promise. `unpromised`: of them, those of known domains; a claim of no known domain is one
 * too.
 */
static uint64_t host_spare(const Snapshot *s, const HostMemory *memory, uint64_t unpromised)
{
    uint64_t free = 0, reserved = 0, known = all_claims(memory, VALUE_UNKNOWN);
    uint64_t unknown = sub_saturating(all_claims(memory, memory->claimed), known);

    for (size_t i = 0; i < s->n_nodes; i++) {
        free = add_saturating(free, s->nodes[i].exists ? s->nodes[i].free : 0);
        reserved = add_saturating(reserved, s->nodes[i].reserved);
    }
    return sub_saturating(free, add_saturating(reserved, add_saturating(unpromised, unknown)));
}

/* Domains that have memory on the node, or may have. */
static uint64_t count_domains_on(const HostMemory *memory, nodeid_t node)
{
    uint64_t n = 0;

    for (size_t i = 0; i < memory->n_domains; i++)
        n += !memory->domains[i].node_pages || memory->domains[i].node_pages[node] > 0;
    return n;
}

/* Younger numbers of a real host have no estimate with them. */
static uint64_t fragments(const HostMemory *memory, nodeid_t id, unsigned features)
{
    if (memory->nodes[id].fragments != VALUE_UNKNOWN)
        return memory->nodes[id].fragments;
    if (features & FEATURE_BIT(FEATURE_FREE_CHUNKS))
        return 0;
    return FRAGMENTS_NODE + FRAGMENTS_DOMAIN * count_domains_on(memory, id);
}

static int fill_nodes(Snapshot *s, const HostMemory *memory, const AccountOptions *options)
{
    _cleanup_free_ char *buffer = new_array(s->n_nodes, sizeof(uint64_t));
    uint64_t *reserved = (uint64_t *)(void *)buffer, claimed = 0;
    int r = reserved ? 0 : -ENOMEM;

    if (r < 0)
        return r;
    ledger_reserve(s->ledger, memory, reserved, &claimed);
    for (nodeid_t id = 0; r == 0 && id < s->n_nodes; id++) {
        if (!s->nodes[id].exists)
            continue;
        s->nodes[id].fragments = fragments(memory, id, s->features);
        r = account_node(&s->nodes[id], &memory->nodes[id], reserved[id], s->features, options->headroom);
    }
    s->spare = host_spare(s, memory, claimed);
    return r;
}

/* --- the load to come --- */

/* How many vCPUs of the reservation's domain the snapshot has counted. */
static uint32_t counted_vcpus(const Snapshot *base, const Reservation *r)
{
    const Domain *domain = r->domid == DOMID_NONE ? NULL : snapshot_find_domain(base, (domid_t)r->domid);
    uint32_t n = 0;

    if (!domain || (r->has_uuid && memcmp(domain->row.uuid, r->uuid, sizeof(r->uuid)) != 0))
        return 0;
    /* A PV domain that was never unpaused has one online; those that are offline in one that runs may stay so. */
    if (!reservation_is_open(r) && domain->row.state != DOMAIN_PAUSED)
        return r->vcpus;
    for (size_t i = 0; domain->row.vcpus && i < domain->row.vcpus->n; i++)
        n += domain->row.vcpus->rows[i].online;
    return n;
}

/* The CPUs that go with a promised node: its own, else those that are local to it. */
static const Bitmap *cpus_of(const Snapshot *s, nodeid_t id)
{
    return bitmap_isempty(&s->nodes[id].cpus) ? &s->nodes[id].local : &s->nodes[id].cpus;
}

static void promise_vcpus_on(Snapshot *s, nodeid_t id, double per_cpu)
{
    Node *node = &s->nodes[id];

    if (!bitmap_isempty(&node->cpus)) {
        node->promised_vcpus += per_cpu * bitmap_weight(&node->cpus);
        return;
    }
    BITMAP_FOREACH (cpu, &node->local) {
        nodeid_t on = s->cpus[cpu].node;

        if (on < s->n_nodes)
            s->nodes[on].promised_vcpus += per_cpu;
    }
}

static void promise_vcpus(Snapshot *s, const Reservation *r, uint32_t n_vcpus)
{
    unsigned n_cpus = 0;

    for (size_t i = 0; i < r->n_memory; i++)
        if (r->memory[i].node < s->n_nodes)
            n_cpus += bitmap_weight(cpus_of(s, r->memory[i].node));
    for (size_t i = 0; n_cpus && i < r->n_memory; i++)
        if (r->memory[i].node < s->n_nodes)
            promise_vcpus_on(s, r->memory[i].node, (double)n_vcpus / n_cpus);
}

/* vCPUs that are promised and do not run yet: without them all of a burst would go to the node that is idle now. */
static void promise_load(Snapshot *s, const Snapshot *base)
{
    for (size_t i = 0; i < s->n_nodes; i++)
        s->nodes[i].promised_vcpus = 0;
    for (size_t i = 0; i < s->ledger->n; i++) {
        const Reservation *r = s->ledger->items[i];
        uint32_t counted = counted_vcpus(base, r);

        if (r->vcpus > counted)
            promise_vcpus(s, r, r->vcpus - counted);
    }
}

/* The derived snapshot's warnings are its own. */
static int copy_warnings(Snapshot *s, const Snapshot *base, const char *ledger_lost)
{
    int r = warning_list_add_all(&s->warnings, &base->warnings);

    return r == 0 && ledger_lost ? warning_list_add(&s->warnings, WARNING_LEDGER_LOST, "%s", ledger_lost) : r;
}

int account_snapshot(Snapshot *base, const HostMemory *given, Ledger *ledger, const AccountOptions *options,
                     Snapshot **ret_snapshot)
{
    _cleanup_(host_memory_free_p) HostMemory *own = NULL;
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;
    const HostMemory *memory = given;
    int r;

    if (given && given->n_nodes != base->n_nodes)
        return -ESTALE;
    if (!given && !(memory = own = account_memory(base)))
        return -ENOMEM;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    *s = *base;
    s->refs = 1;
    s->base = snapshot_ref(base->base ? base->base : base);
    s->nodes = NULL;
    s->n_nodes = 0;
    s->warnings = (WarningList){0};
    s->generation = options->generation;
    s->time_us = options->time_us;
    s->boottime_us = options->boottime_us;
    s->ledger = ledger_ref(ledger);
    r = copy_nodes(s, base);
    if (r == 0)
        r = copy_warnings(s, base, options->ledger_lost);
    if (r == 0)
        r = fill_nodes(s, memory, options);
    if (r < 0)
        return r;
    promise_load(s, s->base);
    *ret_snapshot = TAKE_PTR(s);
    return 0;
}
