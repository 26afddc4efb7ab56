/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "place.h"

#include <stdio.h>
#include <string.h>

/*
 * xl has no word for the node that memory is to come from. With a list of CPUs for each vCPU it leaves its own
 * placement alone, and Xen then takes memory from the nodes of the CPUs that the vCPUs prefer, as many of these as have
 * memory (domain_update_node_aff() in its sched/core.c). So the lines say what the placement says only where these
 * nodes are the placement's; a CPU node without memory among them gives none and does no harm.
 */

static const PoolView *find_pool(const TopologyView *topology, uint32_t id)
{
    for (size_t i = 0; i < topology->n_pools; i++)
        if (topology->pools[i].pool == id)
            return &topology->pools[i];
    return NULL;
}

static int add_set(Bitmap *to, Bytes text)
{
    _cleanup_bitmap_ Bitmap set = {0};
    int r = text.data ? bitmap_parse(&set, text.data, CPUS_MAX - 1) : -EBADMSG;

    return r == 0 ? bitmap_or(to, &set) : r < 0 ? r : -EBADMSG;
}

/* What all vCPUs together may use and prefer. Most have the sets of the one before them. */
static int unite(const PlacementView *placement, Bitmap *hard, Bitmap *soft)
{
    const VcpuSets *last = NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < placement->n_vcpus; i++) {
        const VcpuSets *vcpu = &placement->vcpus[i];

        if (last && bytes_same(last->hard, vcpu->hard) && bytes_same(last->soft, vcpu->soft))
            continue;
        last = vcpu;
        r = add_set(hard, vcpu->hard);
        if (r == 0)
            r = add_set(soft, vcpu->soft);
    }
    return r;
}

/* The nodes that Xen would take memory from. */
static int giving_nodes(const PlacementView *placement, const TopologyView *topology, uint32_t pool, Bitmap *ret_nodes)
{
    _cleanup_bitmap_ Bitmap hard = {0}, soft = {0};
    const PoolView *in = find_pool(topology, pool);
    const Bitmap *used = &soft;
    int r = unite(placement, &hard, &soft);

    if (r == 0 && in)
        r = bitmap_and(&hard, &hard, &in->cpus);
    if (r == 0)
        r = bitmap_and(&soft, &soft, &hard);
    if (bitmap_isempty(&soft))
        used = &hard;
    for (size_t i = 0; r == 0 && i < topology->nodes.n; i++) {
        const NodeView *node = &topology->nodes.items[i];

        if (bytes_equal(node->kind, "cpu+memory") && bitmap_weight_and(&node->cpus, used))
            r = bitmap_set(ret_nodes, node->id);
    }
    return r;
}

static int without_cpus(const PlacementView *placement, const TopologyView *topology, Bitmap *ret_nodes)
{
    int r = 0;

    for (unsigned id = bitmap_next(&placement->nodes, 0); r == 0 && id < NODES_MAX;
         id = bitmap_next(&placement->nodes, id + 1)) {
        const NodeView *node = node_views_find(&topology->nodes, id);

        if (!node || bitmap_isempty(&node->cpus))
            r = bitmap_set(ret_nodes, id);
    }
    return r;
}

#define INSTEAD \
    "that needs libxl with numad-xen's carrier: give other --nodes or --cpus, --policy any, or use --format json"

static int refuse(const PlacementView *placement, const TopologyView *topology, const Bitmap *giving, char **ret_why)
{
    _cleanup_free_ char *wanted = bitmap_to_text(&placement->nodes), *got = bitmap_to_text(giving), *bare = NULL;
    _cleanup_bitmap_ Bitmap none = {0};
    int r = without_cpus(placement, topology, &none);
    size_t n_none = bitmap_weight(&none);

    bare = bitmap_to_text(&none);
    if (r < 0 || !wanted || !got || !bare)
        return -ENOMEM;
    if (n_none)
        r = asprintf(
            ret_why,
            "xl takes memory from the nodes of the CPUs that the vCPUs prefer, and node%s %s %s none: " INSTEAD,
            plural(n_none), bare, n_none == 1 ? "has" : "have");
    else if (!*got)
        r = asprintf(
            ret_why,
            "the nodes of the CPUs that the vCPUs prefer have no memory, and xl has no word for node%s %s: " INSTEAD,
            plural(bitmap_weight(&placement->nodes)), wanted);
    else
        r = asprintf(
            ret_why,
            "xl would take memory from node%s %s, where the CPUs are that the vCPUs prefer, and not from %s: " INSTEAD,
            plural(bitmap_weight(giving)), got, wanted);
    return r < 0 ? -ENOMEM : XL_E_OTHER;
}

/* An empty preference is none. */
static Bytes soft_of(const VcpuSets *vcpu)
{
    return vcpu->soft.size ? vcpu->soft : vcpu->hard;
}

static Bytes hard_of(const VcpuSets *vcpu)
{
    return vcpu->hard;
}

static void add_list(const PlacementView *placement, const char *key, Bytes (*set_of)(const VcpuSets *), Text *to)
{
    text_printf(to, "%s = [ ", key);
    for (size_t i = 0; i < placement->n_vcpus; i++) {
        Bytes set = set_of(&placement->vcpus[i]);

        text_add(to, i ? ", \"" : "\"");
        text_add_bytes(to, set.data, set.size);
        text_add(to, "\"");
    }
    text_add(to, " ]\n");
}

/* Whether the soft sets say more than the hard ones. */
static bool prefers(const PlacementView *placement)
{
    for (size_t i = 0; i < placement->n_vcpus; i++)
        if (!bytes_same(placement->vcpus[i].hard, soft_of(&placement->vcpus[i])))
            return true;
    return false;
}

static void add_lines(const PlacementView *placement, const PlacementRequest *request, Text *to)
{
    bool hard = request->strict || request->has_cpus;
    char uuid[UUID_TEXT_SIZE];

    if (placement->token.data) {
        text_add(to, "# token ");
        text_add_bytes(to, placement->token.data, placement->token.size);
        text_add(to, "\n");
    }
    if (hard)
        add_list(placement, "cpus", hard_of, to);
    if (!hard || prefers(placement))
        add_list(placement, "cpus_soft", soft_of, to);
    if (request->has_uuid)
        text_printf(to, "uuid = \"%s\"\n", uuid_to_text(request->uuid, uuid));
    if (request->pool != ROW_NO_POOL) /* libxl takes a number for the pool's id, whatever pools are called */
        text_printf(to, "pool = \"%" PRIu32 "\"\n", request->pool);
}

int xl_lines(const PlacementView *placement, const TopologyView *topology, const PlacementRequest *request, Text *to,
             char **ret_why)
{
    _cleanup_bitmap_ Bitmap giving = {0};
    int r;

    if (placement->n_vcpus != request->vcpus)
        return -EBADMSG;
    r = giving_nodes(placement, topology, request->pool == ROW_NO_POOL ? 0 : request->pool, &giving);
    if (r < 0)
        return r;
    if (!bitmap_equal(&giving, &placement->nodes))
        return refuse(placement, topology, &giving, ret_why);
    add_lines(placement, request, to);
    return 0;
}
