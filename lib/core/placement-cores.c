/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include "locality.h"

#include <math.h>
#include <string.h>

/*
 * CPUs as cores. A node that the domain may use wholly has its numbers in the snapshot; which CPU is on which core is
 * looked at only where a pool or a hard set takes a part of a node, or the guest has threads.
 */

static uint64_t to_load(double vcpus)
{
    return vcpus > 0 ? (uint64_t)llround(vcpus * LOAD_UNIT) : 0;
}

/* Counts the cores that have a CPU that is allowed. */
static void count_cores(PlacementSearch *q)
{
    for (size_t i = 0; i < q->n_cores; i++) {
        const Core *core = &q->cores[i];
        CpuSum *sum = &q->cpus[core->node];

        sum->cores += core->allowed > 0;
        sum->room += MIN(core->allowed, q->threads);
    }
}

static int find_node_cpus(PlacementSearch *q)
{
    const Snapshot *s = q->snapshot;
    bool partly = q->threads > 1;
    int r;

    q->cpus = new_array(s->n_nodes, sizeof(*q->cpus));
    if (!q->cpus)
        return -ENOMEM;
    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        const Node *node = &s->nodes[id];
        unsigned allowed = bitmap_weight_and(&node->cpus, &q->allowed);

        q->cpus[id] = (CpuSum){.cpus = allowed, .load = to_load(node->vcpus + node->promised_vcpus)};
        partly = partly || (allowed > 0 && allowed < bitmap_weight(&node->cpus));
    }
    if (partly) {
        r = search_find_cores(q);
        if (r < 0)
            return r;
        count_cores(q);
        return 0;
    }
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (q->cpus[id].cpus)
            q->cpus[id].cores = q->cpus[id].room = s->nodes[id].cores;
    return 0;
}

int search_find_cpus(PlacementSearch *q)
{
    int r = find_node_cpus(q);

    for (nodeid_t id = 0; r == 0 && id < q->snapshot->n_nodes; id++) {
        const CpuSum *own = &q->cpus[id];

        if (own->cpus == 0)
            continue;
        q->all.cores += own->cores;
        q->all.cpus += own->cpus;
        q->all.room += own->room;
        q->all.load += own->load;
    }
    q->apart = q->request.has_nodes && q->request.has_cpus && q->all.cpus == q->n_allowed;
    return r;
}

/* For qsort(): a CPU with what it is sorted by. */
typedef struct SortedCpu {
    CpuRow row;
    cpuid_t cpu;
} SortedCpu;

static bool on_one_core(const CpuRow *a, const CpuRow *b)
{
    return a->node == b->node && a->socket == b->socket && a->core == b->core && a->core != ROW_INVALID;
}

static int compare_cpu(const void *a, const void *b)
{
    const SortedCpu *x = a, *y = b;

    if (x->row.node != y->row.node)
        return x->row.node < y->row.node ? -1 : 1;
    if (x->row.socket != y->row.socket)
        return x->row.socket < y->row.socket ? -1 : 1;
    if (x->row.core != y->row.core)
        return x->row.core < y->row.core ? -1 : 1;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void add_core_cpu(PlacementSearch *q, const SortedCpu *sorted, size_t i)
{
    Core *core;

    if (i == 0 || !on_one_core(&sorted[i - 1].row, &sorted[i].row))
        q->cores[q->n_cores++] = (Core){.node = sorted[i].row.node, .first = (uint32_t)i};
    core = &q->cores[q->n_cores - 1];
    core->n++;
    core->allowed += bitmap_isset(&q->allowed, sorted[i].cpu);
    q->by_core[i] = sorted[i].cpu;
    q->core_of[sorted[i].cpu] = (uint32_t)(q->n_cores - 1);
}

int search_find_cores(PlacementSearch *q)
{
    const Snapshot *s = q->snapshot;
    _cleanup_free_ char *buffer = new_array(s->n_cpus, sizeof(SortedCpu));
    SortedCpu *sorted = (SortedCpu *)(void *)buffer;
    size_t n = 0;

    q->cores = new_array(s->n_cpus, sizeof(*q->cores));
    q->by_core = new_array(s->n_cpus, sizeof(*q->by_core));
    q->core_of = new_array(s->n_cpus, sizeof(*q->core_of));
    if (!sorted || !q->cores || !q->by_core || !q->core_of)
        return -ENOMEM;
    memset(q->core_of, 0xff, s->n_cpus * sizeof(*q->core_of));
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        BITMAP_FOREACH (cpu, &s->nodes[id].cpus)
            sorted[n++] = (SortedCpu){.row = s->cpus[cpu], .cpu = cpu};
    qsort(sorted, n, sizeof(*sorted), compare_cpu);
    for (size_t i = 0; i < n; i++)
        add_core_cpu(q, sorted, i);
    q->work += 20 * n;
    return 0;
}

/* --- how much each core has to do --- */

#define LOAD_WORK 150000u

static void add_load(PlacementSearch *q, const Bitmap *set, unsigned n_vcpus)
{
    unsigned weight = bitmap_weight(set);
    uint64_t load = to_load((double)n_vcpus / MAX(weight, 1u));

    BITMAP_FOREACH (cpu, set)
        if (cpu < q->snapshot->n_cpus && q->core_of[cpu] != UINT32_MAX)
            q->cores[q->core_of[cpu]].load += load;
    q->work += weight;
}

/* Whether a set has any of the answer's CPUs, which are mostly beside each other. */
static bool has_answer_cpus(const PlacementSearch *q, const Bitmap *set)
{
    size_t n = MIN(q->answer_words, set->n_words);

    for (size_t i = q->answer_word; i < n; i++)
        if (q->answer_cpus.words[i] & set->words[i])
            return true;
    return false;
}

/*
 * Most vCPUs run far from the answer's CPUs, and prefer to: their soft set has none of these, and some that they may
 * use. Little is read of these.
 */
static bool is_elsewhere(const PlacementSearch *q, const Bitmap *pool, const VcpuRow *vcpu)
{
    const Bitmap *soft = &vcpu->soft, *hard = &vcpu->hard;
    size_t n = MIN(MIN(soft->n_words, hard->n_words), pool->n_words);

    if (has_answer_cpus(q, soft))
        return false;
    for (size_t i = 0; i < n; i++)
        if (soft->words[i] & hard->words[i] & pool->words[i])
            return true;
    return false;
}

/* vCPUs of one domain, one after the other, mostly run on the same set. */
static int load_domain(PlacementSearch *q, const DomainRow *row, Bitmap *set, Bitmap *last)
{
    const Bitmap *pool = snapshot_pool_cpus(q->snapshot, row->pool);
    unsigned n = 0;

    for (size_t i = 0; pool && row->vcpus && i < row->vcpus->n; i++) {
        const VcpuRow *vcpu = &row->vcpus->rows[i];
        int r;

        q->work += 10 + q->snapshot->n_cpus / 64;
        if (!vcpu->online || is_elsewhere(q, pool, vcpu))
            continue;
        r = locality_effective_set(pool, vcpu, set);
        if (r == 0 && n && !bitmap_equal(set, last)) {
            add_load(q, last, n);
            n = 0;
        }
        if (r == 0 && n == 0)
            r = bitmap_copy(last, set);
        if (r < 0)
            return r;
        n++;
        q->work += q->snapshot->n_cpus / 16;
    }
    if (n)
        add_load(q, last, n);
    return 0;
}

/* The online CPUs of the nodes that the answer's CPUs are on. */
static int find_answer_cpus(PlacementSearch *q)
{
    const Verdict *v = &q->answer.verdict;
    int r = 0;

    for (size_t i = 0; r == 0 && i < v->n; i++) {
        const Site *site = &q->sites[q->answer.members[i]];

        r = bitmap_or(&q->answer_cpus, &q->snapshot->nodes[site->id].local);
    }
    if (r == 0 && v->away)
        r = bitmap_or(&q->answer_cpus, &q->allowed);
    q->answer_words = q->answer_cpus.n_words;
    while (q->answer_words > 0 && !q->answer_cpus.words[q->answer_words - 1])
        q->answer_words--;
    while (q->answer_word < q->answer_words && !q->answer_cpus.words[q->answer_word])
        q->answer_word++;
    return r;
}

int search_load_cores(PlacementSearch *q)
{
    const Snapshot *s = q->snapshot;
    _cleanup_bitmap_ Bitmap set = {0}, last = {0};
    int r = 0;

    if (!q->cores || q->threads == 1)
        return 0;
    if (q->domain == 0 && bitmap_isempty(&q->answer_cpus))
        r = find_answer_cpus(q);
    for (; r == 0 && q->domain < s->n_domains; q->domain++) {
        if (q->work > LOAD_WORK)
            return 1;
        r = load_domain(q, &s->domains[q->domain].row, &set, &last);
    }
    return r;
}
