/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

/* What a person is told: why there is no answer, node by node. */

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
void add_size(Text *text, uint64_t bytes)
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

/* Host-wide claims leave too little. */
static bool is_spent(const PlacementSearch *q)
{
    return q->snapshot->spare != VALUE_UNKNOWN && q->ask.memory + q->overhead > q->snapshot->spare;
}

/* As far as the request's `nodes` say. */
static bool may_give(const PlacementSearch *q, nodeid_t id)
{
    return !q->request.has_nodes || bitmap_isset(&q->request.nodes, id);
}

/* The shares' nodes would do if Xen took no extents of a GiB. */
static bool lacks_huge(const PlacementSearch *q, size_t n)
{
    SplitAsk ask = q->ask;
    Split huge, large;

    if (n == 0)
        return false;
    split_memory(&ask, q->shares, n, &huge);
    ask.type = DOMAIN_TYPE_PV;
    split_memory(&ask, q->shares, n, &large);
    return huge.missing > 0 && large.missing == 0;
}

static bool lacks_huge_alone(const PlacementSearch *q, const Site *site)
{
    q->shares[0].site = site;
    return lacks_huge(q, 1);
}

/* All that were asked for together would do, if Xen took no extents of a GiB. */
static bool lacks_huge_together(const PlacementSearch *q)
{
    size_t n = 0;

    for (size_t i = 0; q->request.has_nodes && q->request.strict && i < q->n_sites; i++)
        if (q->sites[i].asked && site_is_candidate(q, &q->sites[i]))
            q->shares[n++].site = &q->sites[i];
    return n > 1 && lacks_huge(q, n);
}

static void add_available(Text *text, const Verdict *v)
{
    text_add(text, "has ");
    add_size(text, v->available);
    text_add(text, " available");
}

static void add_memory_clause(Text *text, PlacementSearch *q, const Site *site, const Verdict *v)
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
    if (v->available < q->ask.memory + q->overhead)
        text_add(text, " short");
    else
        text_add(text, lacks_huge_alone(q, site) ? " short in extents of 1 GiB" : " short in pieces large enough");
}

static void add_clause(Text *text, PlacementSearch *q, nodeid_t id, const Verdict *v)
{
    const Node *node = &q->snapshot->nodes[id];
    uint32_t vcpus = q->request.vcpus;

    text_printf(text, "node %" PRIu32 " ", id);
    if (v->refused_by == REFUSED_MEMORY)
        add_memory_clause(text, q, find_site(q, id), v);
    else if (v->refused_by == REFUSED_CORES)
        text_printf(text, "has %" PRIu32 " core%s for %" PRIu32 " vCPU%s", v->cpus.cores, plural(v->cpus.cores), vcpus,
                    plural(vcpus));
    else if (v->refused_by == REFUSED_POOL)
        text_add(text, "has no CPU that it may use");
    else if (v->refused_by == REFUSED_KIND)
        text_add(text, node->kind == NODE_MEMORY ? "has no CPUs, and is used only when asked for" : "has no memory");
    else if (q->request.has_nodes && !bitmap_isset(&q->request.nodes, id))
        text_add(text, "is not among those asked for");
    else
        add_available(text, v);
}

static void add_clauses(Text *text, PlacementSearch *q)
{
    size_t n = 0;

    for (nodeid_t id = 0; id < q->snapshot->n_nodes; id++) {
        Verdict v;

        if (!q->snapshot->nodes[id].exists || (is_spent(q) && !may_give(q, id)))
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
    if (is_spent(q)) {
        text_add(&text, "it needs ");
        add_size(&text, need);
        text_add(&text, ", and the host has ");
        add_size(&text, s->spare);
        text_add(&text, " that is not claimed or promised; ");
    }
    add_clauses(&text, q);
    if (q->scrubbing)
        text_add(&text, "; together they have enough, but not all of it is scrubbed: ask again soon");
    else if (lacks_huge_together(q))
        text_add(&text, "; together they have enough, but not in extents of 1 GiB, which Xen would take elsewhere");
    else if (is_promised_apart(q))
        text_add(&text,
                 "; together they have enough, but not in equal parts, and Xen would also take what is promised to "
                 "others");
    return text_take(&text, ret_text, NULL);
}
