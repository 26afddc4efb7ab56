/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

/* What a person is told: why this answer, or why none, node by node. */

#define NODES_TOLD_MAX 16u

static const char *const refused_texts[_REFUSED_MAX] = {
    [REFUSED_MEMORY] = "memory",     [REFUSED_CORES] = "cores", [REFUSED_POOL] = "pool",
    [REFUSED_DISTANCE] = "distance", [REFUSED_KIND] = "kind",   [REFUSED_POLICY] = "policy",
};

const char *refused_by_to_text(RefusedBy refused_by)
{
    return refused_texts[refused_by];
}

/* "512M", "1.5G", as the command line's tables have it: whole mebibytes are what memory is given in. */
static void add_size(Text *text, uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    double value = (double)bytes / 1024;
    unsigned unit = 0;

    if (bytes < 1024) {
        text_add(text, bytes ? "<1K" : "0");
        return;
    }
    for (; value >= 999.5 && unit + 2 < sizeof(units); unit++)
        value /= 1024;
    if (value >= 99.95 || (unit < 2 && value == (double)(uint64_t)value))
        text_printf(text, "%.0f%c", value, units[unit]);
    else
        text_printf(text, "%.1f%c", value, units[unit]);
}

static void add_nodes(Text *text, const PlacementSearch *q, const uint16_t *members, size_t n)
{
    _cleanup_bitmap_ Bitmap nodes = {0};

    for (size_t i = 0; i < n; i++)
        if (bitmap_set(&nodes, q->sites[members[i]].id) < 0)
            text->failed = true;
    text_printf(text, "node%s ", plural(n));
    bitmap_print(&nodes, text);
}

/* --- the answer --- */

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

/* Why these, where it is not the room alone. */
static void add_choice(Text *text, const PlacementSearch *q)
{
    const Verdict *v = &q->answer.verdict;
    const Stage *stage = search_stage(q);

    if (stage->spread && q->policy == POLICY_ANY)
        text_add(text, "; no nodes are preferred");
    else if (stage->spread)
        text_add(text, v->even ? "; its memory is spread evenly" : "; its memory cannot be spread evenly");
    else if (v->n > 1)
        text_printf(text, "; no fewer nodes have it, and of %zu these are the nearest, at a distance of %" PRIu32, v->n,
                    v->worst);
    if (q->near != NODE_NONE)
        text_printf(text, "; device %s is on node %" PRIu32, q->request.near, q->near);
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
static void add_caveats(Text *text, const PlacementSearch *q)
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
    if (v->level == LEVEL_MEMORY && has_local_cpus(q))
        text_printf(text, "; nowhere are there CPUs for %" PRIu32 " vCPU%s, so it may run on any of %" PRIu32, vcpus,
                    plural(vcpus), q->n_allowed);
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
        text_add(text, "; its free memory is in small pieces");
}

int search_reason(PlacementSearch *q, char **ret_text)
{
    _cleanup_text_ Text text = {0};

    add_fit(&text, q);
    add_choice(&text, q);
    add_caveats(&text, q);
    return text_take(&text, ret_text, NULL);
}

/* --- the refusal --- */

static const Site *find_site(const PlacementSearch *q, nodeid_t id)
{
    for (size_t i = 0; i < q->n_sites; i++)
        if (q->sites[i].id == id)
            return &q->sites[i];
    return NULL;
}

void node_judge(PlacementSearch *q, nodeid_t id, Verdict *v)
{
    const Site *site = find_site(q, id);
    const Node *node = &q->snapshot->nodes[id];
    uint16_t member;

    *v = (Verdict){.n = 1, .worst = 10, .distance_sum = 10, .refused_by = REFUSED_KIND, .available = node->available};
    if (!site || (site->wide && !search_pass(q)->wide))
        return;
    member = (uint16_t)(site - q->sites);
    set_judge(q, &member, 1, v);
    if (v->refused_by == REFUSED_NOT && v->cpus.cpus == 0)
        v->refused_by = REFUSED_POOL;
    else if (v->refused_by == REFUSED_NOT && v->level > LEVEL_CORES)
        v->refused_by = REFUSED_CORES;
    else if (v->refused_by == REFUSED_NOT)
        v->refused_by = REFUSED_POLICY;
}

static void add_available(Text *text, const Verdict *v)
{
    text_add(text, "has ");
    add_size(text, v->available);
    text_add(text, " available");
}

static void add_memory_clause(Text *text, const PlacementSearch *q, const Verdict *v)
{
    uint64_t dirty = MIN(v->dirty, v->available);

    add_available(text, v);
    if (q->ask.clean && dirty > 0) {
        text_add(text, ", of which ");
        add_size(text, dirty);
        text_add(text, " is still being scrubbed");
    }
    if (v->scrubbing) {
        text_add(text, ": ask again soon");
        return;
    }
    text_add(text, ", ");
    add_size(text, v->short_bytes);
    text_add(text, v->available < q->ask.memory + q->overhead ? " short" : " short in pieces large enough");
}

static void add_clause(Text *text, const PlacementSearch *q, nodeid_t id, const Verdict *v)
{
    const Node *node = &q->snapshot->nodes[id];
    uint32_t vcpus = q->request.vcpus;

    text_printf(text, "node %" PRIu32 " ", id);
    if (v->refused_by == REFUSED_MEMORY)
        add_memory_clause(text, q, v);
    else if (v->refused_by == REFUSED_CORES)
        text_printf(text, "has %" PRIu32 " core%s for %" PRIu32 " vCPU%s", v->cpus.cores, plural(v->cpus.cores), vcpus,
                    plural(vcpus));
    else if (v->refused_by == REFUSED_POOL)
        text_add(text, "has no CPU that it may use");
    else if (v->refused_by == REFUSED_KIND)
        text_add(text, node->kind == NODE_MEMORY ? "has no CPUs, and is used only when asked for" : "has no memory");
    else if (q->request.has_nodes)
        text_add(text, "is not among those asked for");
    else
        add_available(text, v);
}

static void add_clauses(Text *text, PlacementSearch *q)
{
    size_t n = 0;

    for (nodeid_t id = 0; id < q->snapshot->n_nodes; id++) {
        Verdict v;

        if (!q->snapshot->nodes[id].exists)
            continue;
        if (n++ >= NODES_TOLD_MAX)
            continue;
        text_add(text, n > 1 ? "; " : "");
        node_judge(q, id, &v);
        add_clause(text, q, id, &v);
    }
    if (n > NODES_TOLD_MAX)
        text_printf(text, "; and %zu more", n - NODES_TOLD_MAX);
}

/* Several nodes have what is needed, but Xen would not leave alone what is promised of them. */
static bool is_promised_apart(const PlacementSearch *q)
{
    uint64_t available = 0;
    bool promised = false;

    if (q->request.strict && !q->request.has_nodes)
        return false;
    for (size_t i = 0; i < q->n_sites; i++) {
        const Site *site = &q->sites[i];

        if (!site_is_candidate(q, site) || (q->request.strict && !site->asked))
            continue;
        available = add_saturating(available, site->available);
        promised = promised || site->usable > site->available;
    }
    return promised && available >= q->ask.memory + q->overhead;
}

int search_refusal(PlacementSearch *q, char **ret_text)
{
    const Snapshot *s = q->snapshot;
    uint64_t need = q->ask.memory + q->overhead;
    _cleanup_text_ Text text = {0};

    if (bitmap_isempty(&q->allowed)) {
        text_printf(&text, "pool %" PRIu32 " has no CPU", q->request.pool == ROW_NO_POOL ? 0 : q->request.pool);
        return text_take(&text, ret_text, NULL);
    }
    if (s->spare != VALUE_UNKNOWN && need > s->spare) {
        text_add(&text, "it needs ");
        add_size(&text, need);
        text_add(&text, ", and the host has ");
        add_size(&text, s->spare);
        text_add(&text, " that is not claimed or promised; ");
    }
    add_clauses(&text, q);
    if (q->scrubbing)
        text_add(&text, "; together they have enough, but not all of it is scrubbed: ask again soon");
    else if (is_promised_apart(q))
        text_add(&text,
                 "; together they have enough, but not in equal parts, and Xen would also take what is promised to "
                 "others");
    return text_take(&text, ret_text, NULL);
}
