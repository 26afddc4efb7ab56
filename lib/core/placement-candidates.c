/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <math.h>
#include <string.h>

/*
 * What was looked at, for a person. Of sets that fit the best are kept, by level and rank; of those that do not, the
 * first. Nodes that no stage has looked at, or that do not fit alone, are told of one by one.
 */

void search_forget(PlacementSearch *q)
{
    while (q->n_fitting > 0)
        free(q->fitting[--q->n_fitting].members);
    while (q->n_refused > 0)
        free(q->refused[--q->n_refused].members);
}

static bool is_before(const PlacementSearch *q, const Verdict *v, const uint16_t *members, const Noted *other)
{
    if (v->level != other->verdict.level)
        return v->level < other->verdict.level;
    return set_is_better(q, v, members, &other->verdict, other->members);
}

static uint16_t *copy_members(const uint16_t *members, size_t n)
{
    uint16_t *copy = new_array(n, sizeof(*copy));

    if (copy)
        memcpy(copy, members, n * sizeof(*copy));
    return copy;
}

static bool is_noted(const Noted *noted, size_t n_noted, const uint16_t *members, size_t n)
{
    for (size_t i = 0; i < n_noted; i++)
        if (noted[i].verdict.n == n && memcmp(noted[i].members, members, n * sizeof(*members)) == 0)
            return true;
    return false;
}

static int note_fitting(PlacementSearch *q, const uint16_t *members, const Verdict *v)
{
    size_t at = q->n_fitting;
    Noted noted = {.verdict = *v};

    while (at > 0 && is_before(q, v, members, &q->fitting[at - 1]))
        at--;
    if (at == CANDIDATE_SETS_MAX || is_noted(q->fitting, q->n_fitting, members, v->n))
        return 0;
    noted.members = copy_members(members, v->n);
    if (!noted.members)
        return -ENOMEM;
    if (q->n_fitting == CANDIDATE_SETS_MAX)
        free(q->fitting[--q->n_fitting].members);
    memmove(q->fitting + at + 1, q->fitting + at, (q->n_fitting - at) * sizeof(*q->fitting));
    q->fitting[at] = noted;
    q->n_fitting++;
    return 0;
}

int search_note(PlacementSearch *q, const uint16_t *members, const Verdict *v)
{
    if (v->refused_by == REFUSED_NOT)
        return note_fitting(q, members, v);
    if (v->n < 2 || q->n_refused == CANDIDATE_SETS_MAX) /* single nodes are told of anyway */
        return 0;
    q->refused[q->n_refused] = (Noted){.members = copy_members(members, v->n), .verdict = *v};
    return q->refused[q->n_refused].members ? (q->n_refused++, 0) : -ENOMEM;
}

static void add(Placement *placement, const Verdict *v)
{
    Candidate *candidate = &placement->candidates[placement->n_candidates];
    const CpuSum *cpus = &v->cpus;

    *candidate = (Candidate){
        .nodes = candidate->nodes,
        .refused_by = v->refused_by,
        .short_bytes = v->short_bytes,
        .worst_distance = v->worst,
        .mean_distance = NAN,
        .vcpus_per_core = cpus->cores ? (double)cpus->load / LOAD_UNIT / cpus->cores : NAN,
        .left = v->left,
        .rank = (unsigned)++placement->n_candidates,
    };
    if (v->worst != DISTANCE_NONE)
        candidate->mean_distance = (double)v->distance_sum / (double)(v->n > 1 ? v->n * (v->n - 1) : 1);
}

static int add_set(PlacementSearch *q, Placement *placement, const Noted *noted)
{
    Verdict v = noted->verdict;
    Bitmap *nodes;
    int r = 0;

    if (placement->n_candidates == CANDIDATES_MAX)
        return 0;
    nodes = &placement->candidates[placement->n_candidates].nodes;
    if (v.refused_by == REFUSED_NOT && q->answer.found && v.level > q->answer.verdict.level)
        v.refused_by = v.cpus.cpus ? REFUSED_CORES : REFUSED_POOL;
    for (size_t i = 0; r == 0 && i < v.n; i++)
        r = bitmap_set(nodes, q->sites[noted->members[i]].id);
    if (r == 0)
        add(placement, &v);
    return r;
}

static bool is_told(const Placement *placement, nodeid_t id)
{
    for (size_t i = 0; i < placement->n_candidates; i++)
        if (bitmap_isset(&placement->candidates[i].nodes, id) && bitmap_weight(&placement->candidates[i].nodes) == 1)
            return true;
    return false;
}

static int add_nodes(PlacementSearch *q, Placement *placement)
{
    int r = 0;

    for (nodeid_t id = 0; r == 0 && id < q->snapshot->n_nodes; id++) {
        Verdict v;

        if (!q->snapshot->nodes[id].exists || is_told(placement, id) || placement->n_candidates == CANDIDATES_MAX)
            continue;
        node_judge(q, id, &v);
        r = bitmap_set(&placement->candidates[placement->n_candidates].nodes, id);
        if (r == 0)
            add(placement, &v);
    }
    return r;
}

int search_candidates(PlacementSearch *q, Placement *placement)
{
    int r = 0;

    placement->candidates = new_array(CANDIDATES_MAX, sizeof(*placement->candidates));
    if (!placement->candidates)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < q->n_fitting; i++)
        if (q->answer.found && q->fitting[i].verdict.level <= q->answer.verdict.level)
            r = add_set(q, placement, &q->fitting[i]);
    if (r == 0)
        r = add_nodes(q, placement);
    for (size_t i = 0; r == 0 && i < q->n_fitting; i++)
        if (q->fitting[i].verdict.n > 1 && q->answer.found && q->fitting[i].verdict.level > q->answer.verdict.level)
            r = add_set(q, placement, &q->fitting[i]);
    for (size_t i = 0; r == 0 && i < q->n_refused; i++)
        r = add_set(q, placement, &q->refused[i]);
    return r;
}
