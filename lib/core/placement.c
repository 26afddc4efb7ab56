/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <math.h>

/*
 * The course of a search. What the request wants is tried stage by stage, in the order in which it would rather have
 * it; when no stage has an answer, all of them again with more overlooked (a pass). The first answer ends it.
 */

static const Stage plain_stages[] = {{.to = LEVEL_MEMORY}};
static const Stage strict_stages[] = {{.single = true, .to = LEVEL_THREADS}};
static const Stage strict_nodes_stages[] = {{.asked_only = true, .to = LEVEL_THREADS}};
static const Stage nodes_stages[] = {
    {.asked_only = true, .to = LEVEL_CPUS},
    {.with_asked = true, .to = LEVEL_CPUS},
    {.asked_only = true, .from = LEVEL_MEMORY, .to = LEVEL_MEMORY},
    {.with_asked = true, .from = LEVEL_MEMORY, .to = LEVEL_MEMORY},
    {.to = LEVEL_MEMORY}, /* the asked nodes do not reach those that would have to be added */
};
static const Stage any_stages[] = {
    {.spread = true, .uneven = true, .to = LEVEL_MEMORY},
    {.to = LEVEL_MEMORY},
};
static const Stage interleave_stages[] = {
    {.spread = true, .to = LEVEL_MEMORY},
    {.spread = true, .uneven = true, .to = LEVEL_MEMORY},
    {.to = LEVEL_MEMORY},
};
static const Stage interleave_nodes_stages[] = {
    {.asked_only = true, .spread = true, .uneven = true, .to = LEVEL_MEMORY},
    {.asked_only = true, .to = LEVEL_MEMORY},
};
static const Stage strict_interleave_stages[] = {{.asked_only = true, .spread = true, .to = LEVEL_THREADS}};

static const Pass relaxed_passes[] = {
    {.chunks = true},
    {.chunks = false},
    {.smaller = true, .wide = true},
};
static const Pass strict_passes[] = {
    {.chunks = true},
    {.chunks = true, .wide = true},
};

typedef struct Stages {
    const Stage *items;
    size_t n;
} Stages;
#define STAGES(array) ((Stages){array, ARRAY_SIZE(array)})

static Stages stages_of(const PlacementSearch *q)
{
    const PlacementRequest *request = &q->request;

    if (request->strict && !request->has_nodes)
        return STAGES(strict_stages);
    if (q->policy == POLICY_INTERLEAVE && request->has_nodes)
        return request->strict ? STAGES(strict_interleave_stages) : STAGES(interleave_nodes_stages);
    if (request->has_nodes)
        return request->strict ? STAGES(strict_nodes_stages) : STAGES(nodes_stages);
    if (q->policy == POLICY_INTERLEAVE)
        return STAGES(interleave_stages);
    return q->policy == POLICY_ANY ? STAGES(any_stages) : STAGES(plain_stages);
}

const Stage *search_stage(const PlacementSearch *q)
{
    return &stages_of(q).items[q->stage];
}

const Pass *search_pass(const PlacementSearch *q)
{
    return q->request.strict ? &strict_passes[q->pass] : &relaxed_passes[q->pass];
}

static size_t count_passes(const PlacementSearch *q)
{
    return q->request.strict ? ARRAY_SIZE(strict_passes) : ARRAY_SIZE(relaxed_passes);
}

PlacementSearch *placement_search_free(PlacementSearch *q)
{
    if (!q)
        return NULL;
    search_forget(q);
    search_end_growth(q, false);
    snapshot_unref(q->snapshot);
    placement_request_done(&q->request);
    bitmap_done(&q->allowed);
    bitmap_done(&q->answer_cpus);
    for (Level level = 0; level < _LEVEL_MAX; level++)
        free(q->best[level].members);
    free(q->cpus);
    free(q->sites);
    free(q->attached);
    free(q->base);
    free(q->pick);
    free(q->scratch);
    free(q->shares);
    free(q->stamps);
    free(q->cores);
    free(q->by_core);
    free(q->core_of);
    free(q);
    return NULL;
}

static int allocate(PlacementSearch *q)
{
    size_t n = q->snapshot->n_nodes;
    bool done = true;

    q->base = new_array(n, sizeof(*q->base));
    q->pick = new_array(n, sizeof(*q->pick));
    q->scratch = new_array(n, sizeof(*q->scratch));
    q->shares = new_array(n, sizeof(*q->shares));
    q->stamps = new_array(n, sizeof(*q->stamps));
    for (Level level = 0; level < _LEVEL_MAX; level++) {
        q->best[level].members = new_array(n, sizeof(uint16_t));
        done = done && q->best[level].members;
    }
    return done && q->base && q->pick && q->scratch && q->shares && q->stamps ? 0 : -ENOMEM;
}

int placement_search_new(Snapshot *s, const PlacementRequest *request, const PlacementOptions *options,
                         PlacementSearch **ret_search)
{
    _cleanup_(placement_search_free_p) PlacementSearch *q = calloc(1, sizeof(*q));

    if (!q)
        return -ENOMEM;
    q->snapshot = snapshot_ref(s);
    if (placement_request_copy(request, &q->request) < 0 || allocate(q) < 0)
        return -ENOMEM;
    q->policy = request->has_policy ? request->policy : options->policy;
    q->explain = options->explain;
    q->threads = MAX(request->threads_per_core, 1u);
    q->overhead = placement_overhead(request);
    q->ask = (SplitAsk){
        .memory = request->memory,
        .overhead = q->overhead,
        .page = s->page_size,
        .type = request->type,
        .clean = request->strict,
    };
    *ret_search = TAKE_PTR(q);
    return 0;
}

/* --- the phases: 0: done, go on with the next; 1: there is more to do in this one --- */

static int prepare(PlacementSearch *q, char **ret_why)
{
    int r = search_check(q, ret_why);

    if (r == 0)
        r = search_find_cpus(q);
    return r == 0 ? search_find_sites(q) : r;
}

static void begin_stage(PlacementSearch *q)
{
    const Pass *pass = search_pass(q);

    search_end_growth(q, true);
    search_forget(q);
    q->begun = false;
    for (Level level = 0; level < _LEVEL_MAX; level++)
        q->best[level].found = false;
    q->ask.chunks = pass->chunks;
    q->ask.smaller = pass->smaller;
}

static bool take_answer(PlacementSearch *q)
{
    const Stage *stage = search_stage(q);

    for (Level level = stage->from; level <= stage->to; level++)
        if (q->best[level].found) {
            q->answer = q->best[level];
            return true;
        }
    return false;
}

static bool has_wide_sites(const PlacementSearch *q)
{
    for (size_t i = 0; i < q->n_sites; i++)
        if (q->sites[i].wide)
            return true;
    return false;
}

/* A pass that overlooks what this host has not is nothing new. */
static bool next_stage(PlacementSearch *q)
{
    if (q->stage + 1 < stages_of(q).n) {
        q->stage++;
        return true;
    }
    if (q->pass + 1 == count_passes(q) || (q->request.strict && !has_wide_sites(q)))
        return false;
    q->pass++;
    if (!q->request.strict && q->pass == 1 && !q->chunked)
        q->pass++;
    q->stage = 0;
    return true;
}

/* Nothing will fit, whatever is overlooked. */
static bool is_hopeless(const PlacementSearch *q)
{
    uint64_t spare = q->snapshot->spare;

    return bitmap_isempty(&q->allowed) || (spare != VALUE_UNKNOWN && q->ask.memory + q->overhead > spare);
}

static int look(PlacementSearch *q)
{
    if (is_hopeless(q))
        return 0;
    for (;;) {
        const Stage *stage = search_stage(q);
        int r;

        if (!q->stage_begun) {
            begin_stage(q);
            q->stage_begun = true;
        }
        r = stage->spread ? search_spread(q, stage) : search_sets(q, stage);
        if (r != 0)
            return r;
        if (take_answer(q) || !next_stage(q))
            return 0;
        q->stage_begun = false;
    }
}

static int refuse(PlacementSearch *q, Placement **ret_placement, char **ret_why)
{
    _cleanup_(placement_free_p) Placement *placement = NULL;
    int r = 0;

    if (q->explain) {
        placement = calloc(1, sizeof(*placement));
        if (!placement)
            return -ENOMEM;
        placement->extent_order = UINT32_MAX;
        placement->expected_locality = NAN;
        r = search_candidates(q, placement);
    }
    if (r == 0)
        r = search_refusal(q, ret_why);
    if (r < 0)
        return r;
    *ret_placement = TAKE_PTR(placement);
    return PLACEMENT_E_NOFIT;
}

int placement_search_step(PlacementSearch *q, Placement **ret_placement, char **ret_why)
{
    int r = 0;

    *ret_placement = NULL;
    *ret_why = NULL;
    q->work = 0;
    if (q->phase == 0) {
        r = prepare(q, ret_why);
        q->phase += r == 0;
    }
    if (r == 0 && q->phase == 1) {
        r = look(q);
        q->phase += r == 0;
    }
    if (r == 0 && q->phase == 2 && !q->answer.found)
        return refuse(q, ret_placement, ret_why);
    if (r == 0 && q->phase == 2) {
        r = search_load_cores(q);
        q->phase += r == 0;
    }
    if (r == 0)
        return search_result(q, ret_placement);
    return r == 1 && q->phase > 0 ? -EAGAIN : r;
}

int placement_evaluate(Snapshot *s, const PlacementRequest *request, const PlacementOptions *options,
                       Placement **ret_placement, char **ret_why)
{
    _cleanup_(placement_search_free_p) PlacementSearch *q = NULL;
    int r = placement_search_new(s, request, options, &q);

    *ret_placement = NULL;
    *ret_why = NULL;
    if (r < 0)
        return r;
    do
        r = placement_search_step(q, ret_placement, ret_why);
    while (r == -EAGAIN);
    return r;
}
