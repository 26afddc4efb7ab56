/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

/* What a person is told: why this answer. */

static void add_nodes(Text *text, const PlacementSearch *q, const uint16_t *members, size_t n)
{
    _cleanup_bitmap_ Bitmap nodes = {0};

    for (size_t i = 0; i < n; i++)
        if (bitmap_set(&nodes, q->sites[members[i]].id) < 0)
            text->failed = true;
    text_printf(text, "node%s ", plural(n));
    bitmap_print(&nodes, text);
}

static void add_fit(Text *text, const PlacementSearch *q)
{
    const Verdict *v = &q->answer.verdict;

    add_nodes(text, q, q->answer.members, v->n);
    text_add(text, v->n == 1 ? " has room for " : " together have room for ");
    add_size(text, q->ask.memory);
    if (v->level != LEVEL_MEMORY && !v->away)
        text_printf(text, " and %" PRIu32 " vCPU%s", q->request.vcpus, plural(q->request.vcpus));
    text_add(text, ", then ");
    add_size(text, v->left);
    text_add(text, " left");
    if (v->cpus.cores && v->level != LEVEL_MEMORY)
        text_printf(text, " and %.2f vCPUs per core", (double)v->cpus.load / LOAD_UNIT / v->cpus.cores);
}

/* Parts of extents of a GiB may differ by one, though no node was passed over. */
static void add_evenness(Text *text, const PlacementSearch *q)
{
    const Verdict *v = &q->answer.verdict;
    uint64_t least = UINT64_MAX, most = 0;
    Split split;

    for (size_t i = 0; i < v->n; i++)
        q->shares[i].site = &q->sites[q->answer.members[i]];
    split_memory(&q->ask, q->shares, v->n, &split);
    for (size_t i = 0; i < v->n; i++) {
        least = MIN(least, q->shares[i].bytes);
        most = MAX(most, q->shares[i].bytes);
    }
    if (!v->even)
        text_add(text, "; its memory cannot be spread evenly");
    else if (most - least <= 2 * (q->ask.page << STEP_ORDER(STEP_2M)))
        text_add(text, "; its memory is spread evenly");
    else
        text_add(text, "; its memory is spread as evenly as extents of 1 GiB can be");
}

static bool is_of_answer(const PlacementSearch *q, nodeid_t id)
{
    for (size_t i = 0; i < q->answer.verdict.n; i++)
        if (q->sites[q->answer.members[i]].id == id)
            return true;
    return false;
}

/* Where the device is, and why its node does not give memory. */
static void add_near(Text *text, PlacementSearch *q)
{
    Verdict v;

    text_printf(text, "; device %s is on node %" PRIu32, q->request.near, q->near);
    if (is_of_answer(q, q->near))
        return;
    node_judge(q, q->near, &v);
    if (q->request.has_nodes && !bitmap_isset(&q->request.nodes, q->near))
        text_add(text, ", which is not among those asked for");
    else if (v.refused_by == REFUSED_MEMORY)
        text_add(text, ", which has no room");
    else if (v.refused_by == REFUSED_CORES)
        text_add(text, ", which has too few cores");
    else if (v.refused_by == REFUSED_POOL)
        text_add(text, ", which has no CPU that it may use");
    else if (v.refused_by == REFUSED_KIND)
        text_add(text, q->snapshot->nodes[q->near].kind == NODE_MEMORY ? ", whose memory is used only when asked for"
                                                                       : ", which has no memory");
}

/* Why these, where it is not the room alone. */
static void add_choice(Text *text, PlacementSearch *q)
{
    const Verdict *v = &q->answer.verdict;
    const Stage *stage = search_stage(q);

    if (stage->spread && q->policy == POLICY_ANY)
        text_add(text, "; no nodes are preferred");
    else if (stage->spread)
        add_evenness(text, q);
    else if (v->n > 1 && q->growth.begun)
        text_printf(text, "; %sfound by growing sets of near nodes, which are at a distance of %" PRIu32 " at most",
                    v->n <= q->n_base + q->size ? "no fewer nodes have it, and these were " : "", v->worst);
    else if (v->n > 1)
        text_printf(text, "; no fewer nodes have it, and of %zu these are the nearest, at a distance of %" PRIu32, v->n,
                    v->worst);
    if (q->near != NODE_NONE)
        add_near(text, q);
    if (q->near_unknown)
        text_printf(text, "; device %s is ignored: nobody knows its node", q->request.near);
}

/* Some node that was asked for gives nothing, or some other one gives. */
static bool is_beside_asked(const PlacementSearch *q)
{
    for (size_t i = 0; i < q->answer.verdict.n; i++)
        if (!q->sites[q->answer.members[i]].asked)
            return q->request.has_nodes;
    return false;
}

static bool has_local_cpus(const PlacementSearch *q)
{
    return q->answer.verdict.cpu_distance == 10 || q->answer.verdict.cpus.cpus > 0;
}

/* A guest may be built in extents that nobody knows the free ones of. */
static bool may_need_huge_extents(const PlacementSearch *q)
{
    const Snapshot *s = q->snapshot;

    return q->request.type != DOMAIN_TYPE_PV && q->ask.memory >= (uint64_t)s->page_size << STEP_ORDER(STEP_1G) &&
           !(s->features & FEATURE_BIT(FEATURE_FREE_CHUNKS)) && !s->simulated;
}

/* Xen would take some of its larger extents from elsewhere. */
static bool needs_smaller(const PlacementSearch *q)
{
    const Found *answer = &q->answer;
    SplitAsk ask = q->ask;
    Split split;

    ask.smaller = false;
    for (size_t i = 0; i < answer->verdict.n; i++)
        q->shares[i].site = &q->sites[answer->members[i]];
    split_memory(&ask, q->shares, answer->verdict.n, &split);
    return split.missing > 0;
}

/* What was asked for, or would be better, and is not to be had. */
static void add_caveats(Text *text, PlacementSearch *q)
{
    const Verdict *v = &q->answer.verdict;
    const Pass *pass = search_pass(q);
    uint32_t vcpus = q->request.vcpus;

    if (is_beside_asked(q))
        text_add(text, "; the nodes asked for do not suffice, so others are added");
    if (v->away)
        text_add(text, "; its vCPUs go to the CPUs asked for, and these are not all near its memory");
    if (v->level == LEVEL_THREADS)
        text_printf(text, "; nowhere are there cores for %" PRIu32 " vCPU%s, so threads are counted", vcpus,
                    plural(vcpus));
    if (v->level == LEVEL_CPUS)
        text_printf(text, "; it has more vCPUs than there are CPUs that it may use, so it may run on all %" PRIu32,
                    q->n_allowed);
    if (v->level == LEVEL_MEMORY && q->all.cpus > 0 && has_local_cpus(q))
        text_printf(text, "; nowhere are there CPUs for %" PRIu32 " vCPU%s, so it may run on any of %" PRIu32, vcpus,
                    plural(vcpus), q->n_allowed);
    else if (v->level == LEVEL_MEMORY && q->all.cpus == 0)
        text_add(text, "; it is not known on which nodes the CPUs are that it may use");
    else if (v->level == LEVEL_MEMORY)
        text_add(text, "; near the CPUs that it may use there is no room for its memory");
    if (!v->scrubbed) {
        text_add(text, "; ");
        add_size(text, v->dirty);
        text_add(text, " of its free memory is still being scrubbed, and until then Xen may take other nodes' memory");
    }
    if (may_need_huge_extents(q))
        text_add(text, "; whether extents of 1 GiB are free there cannot be known");
    if ((!pass->chunks && q->chunked) || (pass->smaller && needs_smaller(q)))
        text_add(
            text,
            "; its free memory is in small pieces, and Xen may take other nodes' memory, or what it keeps for DMA");
}

int search_reason(PlacementSearch *q, char **ret_text)
{
    _cleanup_text_ Text text = {0};

    add_fit(&text, q);
    add_choice(&text, q);
    add_caveats(&text, q);
    return text_take(&text, ret_text, NULL);
}
