/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include "locality.h"

#include <math.h>
#include <string.h>

/* Makes the placement of the answer. */

Placement *placement_free(Placement *placement)
{
    if (!placement)
        return NULL;
    for (size_t i = 0; i < placement->n_sets; i++)
        bitmap_done(&placement->sets[i]);
    for (size_t i = 0; placement->candidates && i < CANDIDATES_MAX; i++)
        bitmap_done(&placement->candidates[i].nodes);
    bitmap_done(&placement->nodes);
    free(placement->memory);
    free(placement->sets);
    free(placement->vcpus);
    free(placement->reason);
    free(placement->candidates);
    free(placement);
    return NULL;
}

/* The split of the answer's nodes, once more: the shares have seen others since. */
static int place_memory(PlacementSearch *q, Placement *placement)
{
    const Found *answer = &q->answer;
    size_t n = answer->verdict.n;
    Split split;
    int r = 0;

    placement->memory = new_array(n, sizeof(*placement->memory));
    if (!placement->memory)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        q->shares[i].site = &q->sites[answer->members[i]];
    split_memory(&q->ask, q->shares, n, &split);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const Share *share = &q->shares[i];

        r = bitmap_set(&placement->nodes, share->site->id);
        placement->memory[placement->n_memory++] =
            (PlacedMemory){.node = share->site->id, .bytes = share->bytes, .overhead = share->overhead};
    }
    placement->overhead = q->overhead;
    return r;
}

/* --- extents --- */

static bool has_extents(const PlacementSearch *q, const PlacedMemory *part, Step step)
{
    uint64_t size = (uint64_t)q->snapshot->page_size << STEP_ORDER(step);

    return part->bytes >= size &&
           placement_extents(q->snapshot, part->node, STEP_ORDER(step)) / size >= part->bytes / size;
}

/* The largest extents in which each node has its part, but for what is smaller than one. */
static uint32_t find_extent_order(const PlacementSearch *q, const Placement *placement)
{
    for (size_t i = 0; i < placement->n_memory; i++)
        if (!q->snapshot->nodes[placement->memory[i].node].free_chunks)
            return UINT32_MAX;
    for (Step step = STEP_1G; step > STEP_PAGE; step--) {
        bool all = true;

        for (size_t i = 0; all && i < placement->n_memory; i++)
            all = has_extents(q, &placement->memory[i], step);
        if (all)
            return STEP_ORDER(step);
    }
    return 0;
}

/* --- locality (contract, section 3), of the planned values --- */

/* Of the domain's memory, the share that is local to CPUs of each node. */
static void find_local_shares(const PlacementSearch *q, const Placement *placement, double *local)
{
    for (size_t i = 0; i < placement->n_memory; i++) {
        const PlacedMemory *part = &placement->memory[i];
        const Site *site = &q->sites[q->answer.members[i]];
        double share = (double)part->bytes / (double)q->ask.memory;

        local[site->id] += share;
        for (size_t k = 0; k < site->n_attached; k++)
            local[q->attached[site->attached + k]] += share;
    }
}

/* The mean over the CPUs of a set. */
static double set_locality(const PlacementSearch *q, const Bitmap *set, const double *local)
{
    const Snapshot *s = q->snapshot;
    double sum = 0;
    unsigned n = 0;

    BITMAP_FOREACH (cpu, set) {
        n++;
        if (s->cpus[cpu].node != ROW_INVALID)
            sum += local[s->cpus[cpu].node];
    }
    return n ? sum / n : NAN;
}

static int find_locality(const PlacementSearch *q, Placement *placement)
{
    const Snapshot *s = q->snapshot;
    const Bitmap *pool = snapshot_pool_cpus(s, q->request.pool == ROW_NO_POOL ? 0 : q->request.pool);
    _cleanup_free_ char *buffer = new_array(s->n_nodes, sizeof(double));
    double *local = (double *)(void *)buffer, sum = 0, one = 0;
    _cleanup_bitmap_ Bitmap set = {0};
    int r = 0;

    if (!local)
        return -ENOMEM;
    find_local_shares(q, placement, local);
    for (size_t i = 0; i < placement->n_vcpus; i++) {
        const PlacedVcpu *vcpu = &placement->vcpus[i];

        if (i == 0 || vcpu->hard != vcpu[-1].hard || vcpu->soft != vcpu[-1].soft) {
            const VcpuRow row = {.hard = placement->sets[vcpu->hard], .soft = placement->sets[vcpu->soft]};

            r = locality_effective_set(pool, &row, &set);
            if (r < 0)
                return r;
            one = set_locality(q, &set, local);
        }
        sum += one;
    }
    placement->expected_locality = sum / (double)placement->n_vcpus;
    return 0;
}

int search_result(PlacementSearch *q, Placement **ret_placement)
{
    _cleanup_(placement_free_p) Placement *placement = calloc(1, sizeof(*placement));
    int r = placement ? place_memory(q, placement) : -ENOMEM;

    if (r == 0)
        r = search_place_vcpus(q, placement);
    if (r == 0)
        r = find_locality(q, placement);
    if (r == 0 && q->explain)
        r = search_candidates(q, placement);
    if (r == 0)
        r = search_reason(q, &placement->reason);
    if (r < 0)
        return r;
    placement->extent_order = find_extent_order(q, placement);
    *ret_placement = TAKE_PTR(placement);
    return 0;
}
