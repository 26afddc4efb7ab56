/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <string.h>

/* Whether a set of nodes holds the domain, and which of two sets that do is better. */

/* It has something to give, in this pass. */
bool site_is_candidate(const PlacementSearch *q, const Site *site)
{
    return site->available >= q->snapshot->page_size && (!site->wide || search_pass(q)->wide);
}

static void add_cpus(PlacementSearch *q, nodeid_t node, CpuSum *sum)
{
    const CpuSum *own = &q->cpus[node];

    if (q->stamps[node] == q->stamp)
        return;
    q->stamps[node] = q->stamp; /* CPUs may be local to several nodes of the set */
    sum->cores += own->cores;
    sum->cpus += own->cpus;
    sum->room += own->room;
    sum->load += own->load;
}

void set_sum_cpus(PlacementSearch *q, const uint16_t *members, size_t n, bool extended, CpuSum *ret_sum)
{
    *ret_sum = (CpuSum){0};
    q->stamp++;
    for (size_t i = 0; i < n; i++) {
        const Site *site = &q->sites[members[i]];

        add_cpus(q, site->id, ret_sum);
        for (size_t k = 0; k < site->n_attached && (extended || q->cpus[site->id].cpus == 0); k++)
            add_cpus(q, q->attached[site->attached + k], ret_sum);
    }
}

/* The nodes' own CPUs, where these are enough, else also those of nodes that are attached to them. */
static void judge_cpus(PlacementSearch *q, const uint16_t *members, size_t n, Verdict *v)
{
    uint32_t vcpus = q->request.vcpus;

    set_sum_cpus(q, members, n, false, &v->cpus);
    v->extended = v->cpus.room < vcpus && q->n_attached > 0;
    if (v->extended)
        set_sum_cpus(q, members, n, true, &v->cpus);
    v->away = q->apart && v->cpus.room < vcpus && (q->all.room >= vcpus || v->cpus.cpus < vcpus);
    if (v->away)
        v->cpus = q->all;
    if (v->cpus.room >= vcpus)
        v->level = LEVEL_CORES;
    else if (v->cpus.cpus >= vcpus)
        v->level = LEVEL_THREADS;
    else
        v->level = v->cpus.cpus == q->n_allowed ? LEVEL_CPUS : LEVEL_MEMORY;
    v->cpus.load += (uint64_t)vcpus * LOAD_UNIT;
}

static void judge_sites(PlacementSearch *q, const uint16_t *members, size_t n, Verdict *v)
{
    v->cpu_distance = v->near = DISTANCE_NONE;
    for (size_t i = 0; i < n; i++) {
        const Site *site = &q->sites[members[i]];

        v->available = add_saturating(v->available, site->available);
        v->chunks += site->chunks[STEP_2M] == UINT64_MAX ? 0 : site->chunks[STEP_2M];
        v->dirty += site->dirty;
        v->devices += site->device;
        v->near = MIN(v->near, site->near);
        v->cpu_distance = MIN(v->cpu_distance, site->cpu_distance);
    }
    v->left = sub_saturating(v->available, q->ask.memory + q->overhead);
}

/* False: two of them do not reach each other. */
static bool judge_distances(PlacementSearch *q, const uint16_t *members, size_t n, Verdict *v)
{
    if (q->growth.growing && n > 1 && n == q->n_base + q->growth.size) {
        v->worst = q->growth.distance; /* known from its growing */
        v->distance_sum = q->growth.distance_sum;
        return v->worst != DISTANCE_NONE;
    }
    v->worst = 10;
    v->distance_sum = n == 1 ? 10 : 0;
    q->work += n * n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            uint32_t distance = search_distance(q, q->sites[members[i]].id, q->sites[members[k]].id);

            if (i == k)
                continue;
            if (distance == DISTANCE_NONE) {
                v->worst = DISTANCE_NONE;
                v->distance_sum = 0;
                return false;
            }
            v->worst = MAX(v->worst, distance);
            v->distance_sum += distance;
        }
    return true;
}

static bool judge_memory(PlacementSearch *q, const uint16_t *members, size_t n, Verdict *v)
{
    uint64_t need = q->ask.memory + q->overhead;
    Split split;

    if (v->available < need) {
        v->short_bytes = need - v->available;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        q->shares[i].site = &q->sites[members[i]];
    split_memory(&q->ask, q->shares, n, &split);
    v->short_bytes = split.missing;
    v->even = split.even;
    v->scrubbed = split.dirty == 0;
    if (split.missing == 0 && q->ask.clean && !v->scrubbed) { /* Xen would take some of other nodes */
        v->short_bytes = split.dirty;
        v->scrubbing = true;
        q->scrubbing = q->scrubbing || n > 1;
    }
    return v->short_bytes == 0;
}

/* The distances of a large set take long, so they come first only where they are shown. */
void set_judge(PlacementSearch *q, const uint16_t *members, size_t n, Verdict *v)
{
    bool show = q->explain && n <= CANDIDATES_MAX && !q->growth.begun, reach = true;

    *v = (Verdict){.n = n, .worst = n > 1 ? DISTANCE_NONE : 10, .distance_sum = 10};
    judge_sites(q, members, n, v);
    judge_cpus(q, members, n, v);
    q->work += 20 + 10 * n;
    if (show)
        reach = judge_distances(q, members, n, v) || q->policy == POLICY_ANY;
    if (reach && !judge_memory(q, members, n, v))
        v->refused_by = REFUSED_MEMORY;
    else if (reach && !show)
        reach = judge_distances(q, members, n, v) || q->policy == POLICY_ANY;
    if (!reach)
        v->refused_by = REFUSED_DISTANCE;
}

/* --- ranking --- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* vCPUs per core, without dividing; a set without a core is last. */
static int compare_load(const CpuSum *a, const CpuSum *b)
{
    if (a->cores == 0 || b->cores == 0)
        return compare(a->cores == 0, b->cores == 0);
    return compare(a->load * b->cores, b->load * a->cores);
}

static bool is_crowded(const CpuSum *sum)
{
    return sum->load > (uint64_t)sum->cores * LOAD_UNIT;
}

/* Both have as many nodes, so that sums stand for means. */
static int compare_distance(bool apart, const Verdict *a, const Verdict *b)
{
    int r = a->level == LEVEL_MEMORY ? compare(a->cpu_distance, b->cpu_distance) : 0;

    if (r == 0)
        r = compare(a->near, b->near);
    if (r == 0)
        r = compare(a->worst, b->worst);
    if (r == 0)
        r = compare(a->distance_sum, b->distance_sum);
    return r || !apart ? r : compare(a->cpu_distance, b->cpu_distance);
}

static int compare_balance(const Verdict *a, const Verdict *b)
{
    int r = compare_load(&a->cpus, &b->cpus);

    return r ? r : compare(b->left, a->left);
}

static int compare_pack(const Verdict *a, const Verdict *b)
{
    int r = compare(is_crowded(&a->cpus), is_crowded(&b->cpus));

    if (r == 0)
        r = compare(a->left, b->left);
    return r ? r : compare_load(&a->cpus, &b->cpus);
}

static int compare_rest(const PlacementSearch *q, const Verdict *a, const Verdict *b)
{
    int r = q->request.near ? 0 : compare(a->devices, b->devices);

    if (r == 0)
        r = compare(b->chunks, a->chunks);
    return r ? r : compare(a->dirty, b->dirty);
}

bool set_is_better(const PlacementSearch *q, const Verdict *a, const uint16_t *members_a, const Verdict *b,
                   const uint16_t *members_b)
{
    int r = compare(a->n, b->n);

    if (r == 0)
        r = compare_distance(q->apart, a, b);
    if (r == 0) /* Xen takes other nodes' memory before it takes what is not scrubbed */
        r = compare(b->scrubbed, a->scrubbed);
    if (r == 0)
        r = q->policy == POLICY_PACK ? compare_pack(a, b) : compare_balance(a, b);
    if (r == 0)
        r = compare_rest(q, a, b);
    for (size_t i = 0; r == 0 && i < a->n; i++)
        r = compare(members_a[i], members_b[i]);
    return r < 0;
}

/* --- keeping the best --- */

/* Takes out of q->scratch the nodes that give nothing. False: a node that has to is among them. */
static bool drop_idle(PlacementSearch *q, size_t *n, bool may_drop)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        if (q->shares[i].bytes == 0 && (!may_drop || q->sites[q->scratch[i]].base))
            return false;
        if (q->shares[i].bytes > 0)
            q->scratch[kept++] = q->scratch[i];
    }
    *n = kept;
    return true;
}

int search_try(PlacementSearch *q, const Stage *stage, const uint16_t *members, size_t n)
{
    Verdict v;
    Found *best;
    size_t n_given = n;

    memcpy(q->scratch, members, n * sizeof(*members));
    set_judge(q, q->scratch, n, &v);
    if (v.refused_by == REFUSED_NOT && !drop_idle(q, &n_given, stage->spread || q->growth.begun))
        return 0;
    if (v.refused_by == REFUSED_NOT && n_given < n)
        set_judge(q, q->scratch, n_given, &v);
    if (v.refused_by == REFUSED_NOT && v.level > stage->to)
        v.refused_by = v.cpus.cpus ? REFUSED_CORES : REFUSED_POOL;
    if (q->explain && (!q->growth.begun || v.refused_by == REFUSED_NOT)) {
        int r = search_note(q, q->scratch, &v);

        if (r < 0)
            return r;
    }
    best = &q->best[v.level];
    if (v.refused_by != REFUSED_NOT || v.level < stage->from ||
        (best->found && !set_is_better(q, &v, q->scratch, &best->verdict, best->members)))
        return 0;
    memcpy(best->members, q->scratch, v.n * sizeof(*members));
    best->verdict = v;
    best->found = true;
    return 0;
}
