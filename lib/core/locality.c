/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "locality.h"

#include <math.h>
#include <string.h>

/*
 * A CPU is local to the memory of its own node. Where a node lacks one of the two, it is tied to the nearest node
 * that has it: a CPU-less node to the nearest node with CPUs, whose CPUs are then local to its memory; a memory-less
 * node with CPUs to the nearest node with memory. Distances are read from the row of the node that has the CPUs,
 * ties go to the node with the fewest tied to it so far, then to the lowest id.
 */

static bool has_cpus(const Node *node)
{
    return node->kind == NODE_CPU_MEMORY || node->kind == NODE_CPU;
}

static bool has_memory(const Node *node)
{
    return node->kind == NODE_CPU_MEMORY || node->kind == NODE_MEMORY;
}

/* The node `node` is tied to, NODE_NONE when none can be reached. */
static nodeid_t nearest(const Snapshot *s, nodeid_t node, bool (*wanted)(const Node *), const unsigned *tied)
{
    bool from_other = wanted == has_cpus; /* then the other node's row is the one with CPUs */
    uint32_t best_distance = DISTANCE_NONE;
    nodeid_t best = NODE_NONE;

    for (nodeid_t other = 0; other < s->n_nodes; other++) {
        uint32_t distance = from_other ? snapshot_distance(s, other, node) : snapshot_distance(s, node, other);

        if (other == node || !wanted(&s->nodes[other]) || distance == DISTANCE_NONE)
            continue;
        if (distance < best_distance || (distance == best_distance && tied[other] < tied[best])) {
            best_distance = distance;
            best = other;
        }
    }
    return best;
}

static int tie(Snapshot *s, bool (*lacks)(const Node *), bool (*wanted)(const Node *))
{
    _cleanup_free_ char *counts = new_array(s->n_nodes, sizeof(unsigned));
    unsigned *tied = (unsigned *)counts;

    if (!counts)
        return -ENOMEM;
    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        Node *node = &s->nodes[id], *cpu_node, *memory_node;
        nodeid_t other;
        int r;

        if (!lacks(node) || wanted(node))
            continue;
        other = nearest(s, id, wanted, tied);
        if (other == NODE_NONE)
            continue;
        tied[other]++;
        cpu_node = wanted == has_cpus ? &s->nodes[other] : node;
        memory_node = wanted == has_cpus ? node : &s->nodes[other];
        memory_node->tied = true;
        r = bitmap_or(&memory_node->local, &cpu_node->cpus);
        if (r < 0)
            return r;
    }
    return 0;
}

int locality_attach(Snapshot *s)
{
    int r;

    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        r = bitmap_copy(&s->nodes[id].local, &s->nodes[id].cpus);
        if (r < 0)
            return r;
    }
    r = tie(s, has_memory, has_cpus);
    return r < 0 ? r : tie(s, has_cpus, has_memory);
}

/* Where one set of CPUs lies. */
typedef struct Spread {
    Bitmap set;
    bool valid;
    double *on;    /* by node: share of the set on the node */
    double *local; /* by node: share of the set that is local to the node's memory */
} Spread;

/* Most vCPUs have their whole pool, or what the vCPU before them has: two sets are kept. */
struct LocalityMeter {
    Snapshot *snapshot;
    Spread whole, narrowed;
    Bitmap scratch;
};

LocalityMeter *locality_meter_free(LocalityMeter *meter)
{
    if (!meter)
        return NULL;
    bitmap_done(&meter->whole.set);
    bitmap_done(&meter->narrowed.set);
    bitmap_done(&meter->scratch);
    free(meter->whole.on); /* one array of four */
    free(meter);
    return NULL;
}

int locality_meter_new(Snapshot *s, LocalityMeter **ret_meter)
{
    double *shares = new_array(4 * s->n_nodes, sizeof(*shares));
    LocalityMeter *meter = calloc(1, sizeof(*meter));

    if (!shares || !meter) {
        free(shares);
        free(meter);
        return -ENOMEM;
    }
    *meter = (LocalityMeter){
        .snapshot = s,
        .whole = {.on = shares, .local = shares + s->n_nodes},
        .narrowed = {.on = shares + 2 * s->n_nodes, .local = shares + 3 * s->n_nodes},
    };
    *ret_meter = meter;
    return 0;
}

int locality_effective_set(const Bitmap *pool, const VcpuRow *vcpu, Bitmap *set)
{
    int r = bitmap_and(set, &vcpu->hard, pool);

    if (r == 0 && bitmap_isempty(set))
        r = bitmap_copy(set, pool);
    if (r == 0 && bitmap_weight_and(set, &vcpu->soft) > 0)
        r = bitmap_and(set, set, &vcpu->soft);
    return r;
}

/* By CPU, not by node: a set that was narrowed to a node is small, however many nodes there are. */
static void count_cpus(Spread *spread, const Snapshot *s)
{
    double weight = MAX(bitmap_weight(&spread->set), 1u);

    memset(spread->on, 0, s->n_nodes * sizeof(*spread->on));
    BITMAP_FOREACH (cpu, &spread->set) {
        if (s->cpus[cpu].node != ROW_INVALID)
            spread->on[s->cpus[cpu].node]++;
    }
    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        const Node *node = &s->nodes[id];
        double local = node->tied ? bitmap_weight_and(&spread->set, &node->local) : spread->on[id];

        spread->on[id] /= weight;
        spread->local[id] = local / weight;
    }
}

/* Where the set in meter->scratch lies. */
static int find_spread(LocalityMeter *meter, const Bitmap *pool, const Spread **ret_spread)
{
    Spread *spread = bitmap_equal(&meter->scratch, pool) ? &meter->whole : &meter->narrowed;

    if (!spread->valid || !bitmap_equal(&spread->set, &meter->scratch)) {
        int r = bitmap_copy(&spread->set, &meter->scratch);

        if (r < 0)
            return r;
        count_cpus(spread, meter->snapshot);
        spread->valid = true;
    }
    *ret_spread = spread;
    return 0;
}

static double local_share(const Snapshot *s, const Spread *spread, const uint64_t *pages, double sum)
{
    double share = 0;

    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (pages[id])
            share += (double)pages[id] / sum * spread->local[id];
    return share;
}

static double sum_pages(const Snapshot *s, const DomainRow *domain)
{
    double sum = 0;

    for (nodeid_t id = 0; domain->node_pages && id < s->n_nodes; id++)
        sum += (double)domain->node_pages[id];
    return sum;
}

/* vCPUs of one domain, one after the other, that run on the same set. */
typedef struct Run {
    const Spread *spread;
    unsigned n;
} Run;

/* Adds the vCPUs of the run to their nodes' load; returns the sum of their shares of local memory. */
static double end_run(Snapshot *s, Run *run, const uint64_t *pages, double sum)
{
    double n = run->n;

    if (!run->n)
        return 0;
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        s->nodes[id].vcpus += n * run->spread->on[id];
    run->n = 0;
    return sum > 0 ? n * local_share(s, run->spread, pages, sum) : 0;
}

int locality_measure(LocalityMeter *meter, Domain *domain, size_t *work)
{
    Snapshot *s = meter->snapshot;
    const DomainRow *row = &domain->row;
    const Bitmap *pool = snapshot_pool_cpus(s, row->pool);
    double sum = sum_pages(s, row), share = 0;
    unsigned n_online = 0;
    bool nowhere = false; /* a vCPU has no CPU to run on: its pool has none online */
    Run run = {0};

    domain->locality = NAN;
    *work += s->n_nodes;
    if (!pool) /* in none, or in one that is not known: nobody can say where it runs */
        return 0;
    for (size_t i = 0; row->vcpus && i < row->vcpus->n; i++) {
        int r = 0;

        if (!row->vcpus->rows[i].online)
            continue;
        *work += 10 + s->n_cpus / 16; /* some passes over its sets */
        r = locality_effective_set(pool, &row->vcpus->rows[i], &meter->scratch);
        if (r == 0 && !(run.n && bitmap_equal(&run.spread->set, &meter->scratch))) {
            share += end_run(s, &run, row->node_pages, sum);
            *work += 2 * s->n_nodes;
            r = find_spread(meter, pool, &run.spread);
        }
        if (r < 0)
            return r;
        run.n++;
        n_online++;
        nowhere |= bitmap_isempty(&meter->scratch);
    }
    share += end_run(s, &run, row->node_pages, sum);
    if (sum > 0 && n_online && !nowhere && row->state != DOMAIN_DYING)
        domain->locality = share / n_online;
    return 0;
}
