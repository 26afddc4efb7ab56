/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <string.h>

/*
 * Which CPUs each vCPU gets. Mostly all get the same sets. Those of a guest with threads are laid onto cores, and
 * divided over the nodes; divided are also those of a strict placement on several nodes.
 */

int site_cpus(const PlacementSearch *q, const Site *site, bool extended, Bitmap *cpus)
{
    const Node *nodes = q->snapshot->nodes;
    _cleanup_bitmap_ Bitmap all = {0};
    int r = bitmap_copy(&all, &nodes[site->id].cpus);

    for (size_t i = 0; r == 0 && i < site->n_attached && (extended || q->cpus[site->id].cpus == 0); i++)
        r = bitmap_or(&all, &nodes[q->attached[site->attached + i]].cpus);
    return r == 0 ? bitmap_and(cpus, &all, &q->allowed) : r;
}

/* Of the answer: the CPUs of all its nodes. */
static int answer_cpus(const PlacementSearch *q, Bitmap *cpus)
{
    const Verdict *v = &q->answer.verdict;
    int r = 0;

    for (size_t i = 0; r == 0 && i < v->n; i++) {
        _cleanup_bitmap_ Bitmap own = {0};

        r = site_cpus(q, &q->sites[q->answer.members[i]], v->extended, &own);
        if (r == 0)
            r = bitmap_or(cpus, &own);
    }
    return r;
}

/* A new, empty set of the placement, which has room for it. */
static Bitmap *new_set(Placement *placement, uint32_t *ret_index)
{
    *ret_index = (uint32_t)placement->n_sets;
    return &placement->sets[placement->n_sets++];
}

static void set_all(Placement *placement, uint32_t hard, uint32_t soft)
{
    for (size_t i = 0; i < placement->n_vcpus; i++)
        placement->vcpus[i] = (PlacedVcpu){.hard = hard, .soft = soft};
}

static bool prefers_nodes(const PlacementSearch *q)
{
    bool free_choice = q->policy == POLICY_ANY && !q->request.has_nodes && !q->request.strict;

    return q->answer.verdict.level <= LEVEL_THREADS && !free_choice;
}

static int place_together(PlacementSearch *q, Placement *placement)
{
    uint32_t hard, soft;
    int r = bitmap_copy(new_set(placement, &hard), &q->allowed);

    soft = hard;
    if (r == 0 && prefers_nodes(q) && !q->answer.verdict.away)
        r = answer_cpus(q, new_set(placement, &soft));
    if (r == 0 && q->request.strict)
        hard = soft;
    set_all(placement, hard, soft);
    return r;
}

/* --- divided --- */

/* One node's part of the vCPUs; with threads, of the guest's cores. */
typedef struct Part {
    const Site *site; /* NULL: all CPUs that are allowed, wherever the memory is */
    uint32_t cores, n;
    uint64_t rest; /* what the division by cores left over */
} Part;

/* Gives one to the part that is the furthest below its due, or takes one where most was given above it. */
static void even_out(Part *parts, size_t n, uint32_t units, uint32_t given)
{
    while (given != units) {
        Part *best = NULL;

        for (size_t i = 0; i < n; i++) {
            Part *part = &parts[i];

            if (part->cores == 0 || (given > units && part->n < 2))
                continue;
            if (!best || (given < units ? part->rest > best->rest : part->n > best->n))
                best = part;
        }
        if (!best)
            return;
        best->rest = 0;
        best->n += given < units ? 1 : UINT32_MAX; /* or one less */
        given += given < units ? 1 : UINT32_MAX;
    }
}

/* In proportion to cores; each that has a core gets some, as long as there are as many. */
static void divide(Part *parts, size_t n, uint32_t units)
{
    uint64_t cores = 0;
    uint32_t given = 0, least = 1;
    size_t n_with = 0;

    for (size_t i = 0; i < n; i++) {
        cores += parts[i].cores;
        n_with += parts[i].cores > 0;
    }
    least = n_with <= units;
    for (size_t i = 0; i < n && cores > 0; i++) {
        Part *part = &parts[i];

        part->n = (uint32_t)((uint64_t)units * part->cores / cores);
        part->rest = (uint64_t)units * part->cores % cores;
        if (part->cores > 0 && part->n < least) {
            part->n = least;
            part->rest = 0;
        }
        given += part->n;
    }
    even_out(parts, n, units, given);
}

/* --- a guest's cores on the host's --- */

typedef struct CoreChoice {
    Core *core;
    cpuid_t first; /* of its CPUs that are allowed */
} CoreChoice;

static int compare_choice(const void *a, const void *b)
{
    const CoreChoice *x = a, *y = b;

    if (x->core->used != y->core->used)
        return x->core->used < y->core->used ? -1 : 1;
    if (x->core->load != y->core->load)
        return x->core->load < y->core->load ? -1 : 1;
    if (x->core->allowed != y->core->allowed)
        return x->core->allowed > y->core->allowed ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static cpuid_t first_in(const PlacementSearch *q, const Core *core, const Bitmap *cpus)
{
    for (uint32_t i = 0; i < core->n; i++)
        if (bitmap_isset(cpus, q->by_core[core->first + i]))
            return q->by_core[core->first + i];
    return CPU_NONE;
}

/* Cores of these CPUs, the one with the least to do first. */
static size_t choose_cores(const PlacementSearch *q, const Bitmap *cpus, CoreChoice *choices)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n_cores; i++) {
        cpuid_t first = first_in(q, &q->cores[i], cpus);

        if (first != CPU_NONE)
            choices[n++] = (CoreChoice){.core = &q->cores[i], .first = first};
    }
    qsort(choices, n, sizeof(*choices), compare_choice);
    return n;
}

static int core_set(const PlacementSearch *q, const Core *core, const Bitmap *cpus, Bitmap *set)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < core->n; i++)
        if (bitmap_isset(cpus, q->by_core[core->first + i]))
            r = bitmap_set(set, q->by_core[core->first + i]);
    return r;
}

static uint32_t count_in(const PlacementSearch *q, const Core *core, const Bitmap *cpus)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < core->n; i++)
        n += bitmap_isset(cpus, q->by_core[core->first + i]);
    return n;
}

/*
 * vCPUs from *vcpu on: the part's guest cores, one host core each, and all once before one twice. A guest core with
 * more threads than the host core has gets as many host cores as it needs.
 */
static int place_cores(PlacementSearch *q, Placement *placement, const Part *part, uint32_t hard, const Bitmap *cpus,
                       size_t *vcpu)
{
    _cleanup_free_ char *buffer = new_array(q->n_cores, sizeof(CoreChoice));
    CoreChoice *choices = (CoreChoice *)(void *)buffer;
    uint32_t first = (uint32_t)placement->n_sets;
    size_t n = choices ? choose_cores(q, cpus, choices) : 0, end = *vcpu + (size_t)part->n * q->threads;
    size_t begin = *vcpu;
    int r = choices ? 0 : -ENOMEM;

    end = MIN(end, placement->n_vcpus);
    for (size_t i = 0; r == 0 && *vcpu < end; i++) {
        Core *core = choices[i % n].core;
        uint32_t soft = first + (uint32_t)(i % n), whole = q->threads - (uint32_t)((*vcpu - begin) % q->threads);

        core->used++;
        if (i < n)
            r = core_set(q, core, cpus, new_set(placement, &soft));
        for (uint32_t t = MIN(whole, count_in(q, core, cpus)); t > 0 && *vcpu < end; t--)
            placement->vcpus[(*vcpu)++] = (PlacedVcpu){.hard = hard, .soft = soft};
    }
    return r;
}

static int place_part(PlacementSearch *q, Placement *placement, const Part *part, uint32_t hard, size_t *vcpu)
{
    _cleanup_bitmap_ Bitmap cpus = {0};
    uint32_t own = hard;
    int r = part->site ? site_cpus(q, part->site, q->answer.verdict.extended, &cpus) : bitmap_copy(&cpus, &q->allowed);

    if (r == 0 && (q->request.strict || q->threads == 1))
        r = bitmap_copy(new_set(placement, &own), &cpus);
    if (r < 0)
        return r;
    if (q->request.strict)
        hard = own;
    if (q->threads > 1)
        return place_cores(q, placement, part, hard, &cpus, vcpu);
    for (uint32_t i = 0; i < part->n && *vcpu < placement->n_vcpus; i++)
        placement->vcpus[(*vcpu)++] = (PlacedVcpu){.hard = hard, .soft = own};
    return 0;
}

static int place_divided(PlacementSearch *q, Placement *placement)
{
    const Verdict *v = &q->answer.verdict;
    size_t n = v->away ? 1 : v->n;
    _cleanup_free_ char *buffer = new_array(n, sizeof(Part));
    Part *parts = (Part *)(void *)buffer;
    uint32_t hard = 0, units = (q->request.vcpus + q->threads - 1) / q->threads;
    size_t vcpu = 0;
    int r = parts ? 0 : -ENOMEM;

    if (r == 0 && v->away)
        parts[0] = (Part){.cores = v->cpus.cores};
    for (size_t i = 0; r == 0 && !v->away && i < n; i++) {
        uint16_t member = q->answer.members[i];
        CpuSum sum;

        set_sum_cpus(q, &member, 1, v->extended, &sum);
        parts[i] = (Part){.site = &q->sites[member], .cores = sum.cores};
    }
    if (r == 0 && !q->request.strict)
        r = bitmap_copy(new_set(placement, &hard), &q->allowed);
    if (r < 0)
        return r;
    divide(parts, n, units);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (parts[i].n > 0)
            r = place_part(q, placement, &parts[i], hard, &vcpu);
    return r;
}

int search_place_vcpus(PlacementSearch *q, Placement *placement)
{
    const Verdict *v = &q->answer.verdict;
    bool divided = prefers_nodes(q) && (q->threads > 1 || (q->request.strict && v->n > 1 && !v->away));

    placement->n_vcpus = q->request.vcpus;
    placement->vcpus = new_array(placement->n_vcpus, sizeof(*placement->vcpus));
    placement->sets = new_array(divided ? 2 + v->n + q->request.vcpus : 2, sizeof(*placement->sets));
    if (!placement->vcpus || !placement->sets)
        return -ENOMEM;
    return divided ? place_divided(q, placement) : place_together(q, placement);
}
