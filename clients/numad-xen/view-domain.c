/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view.h"

#include <math.h>
#include <string.h>

/*
 * A domain's home are the nodes whose CPUs its vCPUs would use: its hard affinity cut to its pool, the soft affinity
 * within that where it names any (contract, "Locality"). Most vCPUs of a host have the affinity of the one before
 * them, so what the last one came to is kept.
 */
typedef struct HomeFinder {
    const PoolView *pools;
    size_t n_pools;
    Bitmap all;        /* CPUs of the nodes, when a pool is not known */
    uint32_t *node_of; /* by CPU; NODE_NONE */
    Bytes hard, soft;  /* the last vCPU's, of pool `pool` */
    uint64_t pool;
    Bitmap home;
} HomeFinder;

static void finder_done(HomeFinder *finder)
{
    bitmap_done(&finder->all);
    bitmap_done(&finder->home);
    free(finder->node_of);
}

static int finder_init(HomeFinder *finder, const NodeViews *nodes, const PoolView *pools, size_t n_pools)
{
    int r;

    *finder = (HomeFinder){.pools = pools, .n_pools = n_pools, .node_of = new_array(CPUS_MAX, sizeof(uint32_t))};
    if (!finder->node_of)
        return -ENOMEM;
    memset(finder->node_of, 0xff, CPUS_MAX * sizeof(uint32_t)); /* NODE_NONE */
    for (size_t i = 0; i < nodes->n; i++) {
        BITMAP_FOREACH (cpu, &nodes->items[i].cpus)
            finder->node_of[cpu] = nodes->items[i].id;
        r = bitmap_or(&finder->all, &nodes->items[i].cpus);
        if (r < 0)
            return r;
    }
    return 0;
}

static const Bitmap *pool_cpus(const HomeFinder *finder, uint64_t pool)
{
    for (size_t i = 0; i < finder->n_pools; i++)
        if (finder->pools[i].pool == pool)
            return &finder->pools[i].cpus;
    return &finder->all;
}

/* CPUs a vCPU would use into *ret_cpus; a mask that cannot be read allows all. */
static int effective_cpus(const Bitmap *pool, struct json_object *vcpu, Bitmap *ret_cpus)
{
    _cleanup_bitmap_ Bitmap hard = {0}, soft = {0};
    int r;

    r = bitmap_copy(ret_cpus, pool);
    if (r == 0 && value_set(vcpu, "hard", CPUS_MAX - 1, &hard) && bitmap_weight_and(&hard, pool))
        r = bitmap_and(ret_cpus, &hard, pool);
    if (r == 0 && value_set(vcpu, "soft", CPUS_MAX - 1, &soft) && bitmap_weight_and(&soft, ret_cpus))
        r = bitmap_and(ret_cpus, &soft, ret_cpus);
    return r;
}

static int find_home(HomeFinder *finder, uint64_t pool, struct json_object *vcpu)
{
    Bytes hard = value_bytes(vcpu, "hard"), soft = value_bytes(vcpu, "soft");
    _cleanup_bitmap_ Bitmap cpus = {0}, home = {0};
    int r;

    if (finder->pool == pool && bytes_same(finder->hard, hard) && bytes_same(finder->soft, soft))
        return 0;
    r = effective_cpus(pool_cpus(finder, pool), vcpu, &cpus);
    for (unsigned cpu = bitmap_next(&cpus, 0); r == 0 && cpu < CPUS_MAX; cpu = bitmap_next(&cpus, cpu + 1))
        if (finder->node_of[cpu] != NODE_NONE)
            r = bitmap_set(&home, finder->node_of[cpu]);
    if (r == 0)
        r = bitmap_copy(&finder->home, &home);
    finder->hard = hard;
    finder->soft = soft;
    finder->pool = pool;
    return r;
}

static int read_vcpus(struct json_object *row, HomeFinder *finder, DomainView *domain)
{
    struct json_object *vcpus = value_array(row, "vcpu_affinity");
    size_t n = value_count(vcpus);
    int r = 0;

    domain->n_online = VALUE_UNKNOWN;
    if (!vcpus)
        return 0;
    domain->n_online = 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        if (!value_true(value_at(vcpus, i), "online"))
            continue;
        domain->n_online++;
        r = find_home(finder, domain->pool, value_at(vcpus, i));
        if (r == 0)
            r = bitmap_or(&domain->home, &finder->home);
    }
    domain->has_home = domain->n_online > 0;
    return r;
}

static int compare_bytes(const void *a, const void *b)
{
    const NodeBytes *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

static int read_memory(struct json_object *row, DomainView *domain)
{
    struct json_object *memory = value_get(row, "memory"), *rows = value_array(memory, "nodes");
    size_t n = value_count(rows);

    domain->total = value_u64(memory, "total");
    if (!rows)
        return 0;
    domain->nodes = new_array(n, sizeof(*domain->nodes));
    if (!domain->nodes)
        return -ENOMEM;
    domain->has_nodes = true;
    for (size_t i = 0; i < n; i++) {
        uint64_t node = value_u64(value_at(rows, i), "node");

        if (node < NODES_MAX)
            domain->nodes[domain->n_nodes++] =
                (NodeBytes){.node = (nodeid_t)node, .bytes = value_u64(value_at(rows, i), "bytes")};
    }
    qsort(domain->nodes, domain->n_nodes, sizeof(*domain->nodes), compare_bytes);
    return 0;
}

static void read_placement(struct json_object *row, DomainView *domain)
{
    struct json_object *placement = value_get(row, "placement"), *kept = value_get(placement, "kept");

    domain->placed = json_object_is_type(placement, json_type_object);
    domain->kept = json_object_is_type(kept, json_type_boolean) ? json_object_get_boolean(kept) : -1;
}

static int read_domain(struct json_object *row, HomeFinder *finder, DomainView *domain)
{
    int r;

    domain->name = value_bytes(row, "name");
    domain->type = value_bytes(row, "type");
    domain->state = value_bytes(row, "state");
    domain->n_vcpus = value_u64(row, "vcpus");
    domain->pool = value_u64(row, "pool");
    domain->locality = value_ratio(row, "locality");
    read_placement(row, domain);
    r = read_memory(row, domain);
    return r < 0 ? r : read_vcpus(row, finder, domain);
}

static int compare_domain(const void *a, const void *b)
{
    const DomainView *x = a, *y = b;

    return (x->domid > y->domid) - (x->domid < y->domid);
}

int domain_views_read(struct json_object *document, const NodeViews *nodes, const PoolView *pools, size_t n_pools,
                      DomainView **ret_domains, size_t *ret_n)
{
    struct json_object *rows = value_array(document, "domains");
    size_t n = value_count(rows), kept = 0;
    DomainView *domains = new_array(n, sizeof(*domains));
    HomeFinder finder = {0};
    int r = domains ? finder_init(&finder, nodes, pools, n_pools) : -ENOMEM;

    for (size_t i = 0; i < n && r == 0; i++) {
        uint64_t domid = value_u64(value_at(rows, i), "domid");

        if (domid > UINT16_MAX)
            continue;
        domains[kept].domid = (uint32_t)domid;
        r = read_domain(value_at(rows, i), &finder, &domains[kept++]);
    }
    finder_done(&finder);
    if (r < 0) {
        domain_views_free(domains, kept);
        return r;
    }
    qsort(domains, kept, sizeof(*domains), compare_domain);
    *ret_domains = domains;
    *ret_n = kept;
    return 0;
}

void domain_views_free(DomainView *domains, size_t n)
{
    for (size_t i = 0; domains && i < n; i++) {
        free(domains[i].nodes);
        bitmap_done(&domains[i].home);
    }
    free(domains);
}

uint64_t domain_view_on(const DomainView *domain, nodeid_t node)
{
    NodeBytes key = {.node = node}, *row = NULL;

    if (!domain->has_nodes)
        return VALUE_UNKNOWN;
    if (domain->n_nodes)
        row = bsearch(&key, domain->nodes, domain->n_nodes, sizeof(key), compare_bytes);
    return row ? row->bytes : 0;
}
