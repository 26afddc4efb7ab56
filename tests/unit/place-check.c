/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-check.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *say(const char *format, ...)
{
    static char said[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(said, sizeof(said), format, arguments);
    va_end(arguments);
    return said;
}

/* --- memory --- */

static const char *check_shares(const Oracle *o, const Placement *p)
{
    uint64_t memory = 0, overhead = 0;
    nodeid_t before = 0;

    for (size_t i = 0; i < p->n_memory; i++) {
        const PlacedMemory *m = &p->memory[i];
        uint64_t available;

        if (m->node >= o->snapshot->n_nodes || (i > 0 && m->node <= before) || !bitmap_isset(&p->nodes, m->node))
            return say("memory is not by node: node %" PRIu32, m->node);
        before = m->node;
        available = place_case_available(o->place, m->node);
        if (m->bytes == 0)
            return say("node %" PRIu32 " gives nothing", m->node);
        if (m->bytes + m->overhead > available)
            return say("node %" PRIu32 ": %" PRIu64 "+%" PRIu64 " promised of %" PRIu64, m->node, m->bytes, m->overhead,
                       available);
        memory += m->bytes;
        overhead += m->overhead;
    }
    if (bitmap_weight(&p->nodes) != p->n_memory)
        return say("nodes and memory differ");
    if (memory != o->request->memory)
        return say("memory is %" PRIu64 " in sum", memory);
    if (overhead != p->overhead || overhead != oracle_overhead(o->request))
        return say("overhead is %" PRIu64 " in sum, %" PRIu64 " said, %" PRIu64 " wanted", overhead, p->overhead,
                   oracle_overhead(o->request));
    return oracle_spare(o) ? NULL : say("more than host-wide claims leave");
}

/* In proportion to the memory, as far as there is room; more only when another node has not enough. */
static const char *check_overhead(const Oracle *o, const Placement *p)
{
    bool full = false;

    for (size_t i = 0; i < p->n_memory; i++) {
        const PlacedMemory *m = &p->memory[i];
        uint64_t share = (uint64_t)((unsigned __int128)p->overhead * m->bytes / o->request->memory);
        uint64_t room = place_case_available(o->place, m->node) - m->bytes;

        full |= room <= share;
        if (m->overhead + 1 < MIN(share, room))
            return say("node %" PRIu32 ": overhead %" PRIu64 " of %" PRIu64, m->node, m->overhead, share);
    }
    for (size_t i = 0; !full && i + 1 < p->n_memory; i++) {
        uint64_t share = (uint64_t)((unsigned __int128)p->overhead * p->memory[i].bytes / o->request->memory);

        if (p->memory[i].overhead > share + 1)
            return say("node %" PRIu32 ": overhead %" PRIu64 " instead of %" PRIu64, p->memory[i].node,
                       p->memory[i].overhead, share);
    }
    return NULL;
}

static const char *check_nodes(const Oracle *o, const Placement *p)
{
    const PlacementRequest *q = o->request;

    BITMAP_FOREACH (node, &p->nodes) {
        if (o->snapshot->nodes[node].span == 0 || (o->both && !bitmap_isset(&o->universe, node)))
            return say("node %u is not for guests", node);
        if (q->strict && q->has_nodes && !bitmap_isset(&q->nodes, node))
            return say("strict: node %u was not asked for", node);
    }
    if (q->strict && !q->has_nodes && p->n_memory != 1)
        return say("strict: %zu nodes", p->n_memory);
    if (place_case_policy(o->place) != POLICY_ANY && !oracle_reaches(o, &p->nodes))
        return say("nodes that do not reach each other");
    return NULL;
}

static bool is_split(const Oracle *o, const Placement *p, unsigned supply, uint64_t *pages)
{
    OracleSplit split;
    bool same = oracle_split(o, &p->nodes, supply, pages, &split);

    for (size_t i = 0; same && i < p->n_memory; i++)
        same = (p->memory[i].bytes + 4095) / 4096 == pages[p->memory[i].node];
    return same;
}

/* The split is what Xen does with this node affinity; where chunks do not suffice, as if they did. */
static const char *check_split(const Oracle *o, const Placement *p)
{
    static const unsigned relaxed[] = {SUPPLY_SMALLER, SUPPLY_ANY, SUPPLY_CHUNKS}, strict[] = {SUPPLY_CHUNKS};
    const unsigned *supplies = o->request->strict ? strict : relaxed;
    _cleanup_free_ char *buffer = new_array(o->snapshot->n_nodes, sizeof(uint64_t));
    uint64_t *pages = (uint64_t *)(void *)buffer;
    size_t n = o->request->strict ? ARRAY_SIZE(strict) : ARRAY_SIZE(relaxed);

    MUST(pages);
    for (size_t i = 0; i < n; i++)
        if (is_split(o, p, supplies[i], pages))
            return NULL;
    return say("Xen would split it otherwise: %" PRIu64 " pages of node %" PRIu32, pages[p->memory[0].node],
               p->memory[0].node);
}

static const char *check_interleave(const Oracle *o, const Placement *p)
{
    const PlacementRequest *q = o->request;
    uint64_t least = UINT64_MAX, most = 0;

    if (place_case_policy(o->place) != POLICY_INTERLEAVE || (q->has_nodes && !q->strict) ||
        (!q->strict && !oracle_interleaves(o)))
        return NULL;
    if (q->has_nodes && !bitmap_equal(&p->nodes, &q->nodes))
        return say("interleave: not all nodes that were asked for");
    for (size_t i = 0; i < p->n_memory; i++) {
        least = MIN(least, p->memory[i].bytes);
        most = MAX(most, p->memory[i].bytes);
    }
    return most - least <= (q->type == DOMAIN_TYPE_PV ? 2 * MIB : GIB + 2 * MIB) + 4096
               ? NULL
               : say("interleave: %" PRIu64 " to %" PRIu64 " is not even", least, most);
}

/* --- all of an answer --- */

static const char *check_rest(const Oracle *o, const Placement *p)
{
    double locality = oracle_locality(o, p);

    if (!(fabs(locality - p->expected_locality) < 1e-9))
        return say("locality %.9f, said %.9f", locality, p->expected_locality);
    if (!p->reason || !*p->reason || strchr(p->reason, '\n'))
        return say("no reason of one line");
    if (p->extent_order != UINT32_MAX && p->extent_order > 18)
        return say("extents of order %" PRIu32, p->extent_order);
    return NULL;
}

static const char *check_placement(const Oracle *o, const Placement *p)
{
    static const char *(*const checks[])(const Oracle *, const Placement *) = {check_shares,     check_overhead,
                                                                               check_nodes,      check_split,
                                                                               check_interleave, place_check_vcpus,
                                                                               check_rest};
    const char *fault = NULL;

    for (size_t i = 0; !fault && i < ARRAY_SIZE(checks); i++)
        fault = checks[i](o, p);
    return fault;
}

static bool is_key(const char *why)
{
    static const char *const keys[] = {"nodes: ", "cpus: ", "pool: ", "near: "};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (why && strncmp(why, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

const char *place_check_answer(const PlaceCase *place, const Snapshot *snapshot, int result, const Placement *p,
                               const char *why)
{
    Oracle o;
    int wanted = oracle_init(&o, place, snapshot);
    const char *fault = NULL;

    if (wanted == 0 && bitmap_isempty(&o.allowed)) /* a hard set outside the pool is not fitting, or not sensible */
        fault = result == PLACEMENT_E_INVALID || result == PLACEMENT_E_NOFIT ? NULL : say("no CPU is allowed");
    else if ((wanted != 0) != (result == PLACEMENT_E_INVALID))
        fault = say("%d: %s", result, wanted ? "it is not refused as invalid" : "it is not invalid");
    else if (result == PLACEMENT_E_INVALID)
        fault = is_key(why) && !p ? NULL : say("refused without the key that is wrong");
    else if (result == PLACEMENT_E_NOFIT)
        fault = why && *why && (!p || (p->n_memory == 0 && p->n_vcpus == 0)) ? NULL : say("refused without a reason");
    else if (result != 0 || !p)
        fault = say("%d: no such result", result);
    else
        fault = check_placement(&o, p);
    oracle_done(&o);
    return fault;
}

/* --- candidates --- */

static const char *check_candidate(const Oracle *o, const Placement *p, const Candidate *c)
{
    _cleanup_bitmap_ Bitmap cpus = {0};
    bool reaches = oracle_reaches(o, &c->nodes);
    OracleScore score;

    if (bitmap_isempty(&c->nodes))
        return say("rank %u: no nodes", c->rank);
    if ((c->refused_by == REFUSED_DISTANCE) && reaches)
        return say("rank %u: its nodes reach each other", c->rank);
    if (c->refused_by == REFUSED_MEMORY && c->short_bytes == 0)
        return say("rank %u: memory refuses it and nothing is short", c->rank);
    if (c->refused_by == REFUSED_NOT && c->short_bytes != 0)
        return say("rank %u: fits, and is short", c->rank);
    oracle_score(o, &c->nodes, SUPPLY_CHUNKS, &score);
    if (reaches && (c->worst_distance != score.worst || !(fabs(c->mean_distance - score.mean) < 1e-9)))
        return say("rank %u: distances %" PRIu32 " and %f, not %" PRIu32 " and %f", c->rank, c->worst_distance,
                   c->mean_distance, score.worst, score.mean);
    if (c->refused_by == REFUSED_NOT && c->left != score.left)
        return say("rank %u: %" PRIu64 " left, not %" PRIu64, c->rank, c->left, score.left);
    return NULL;
}

const char *place_check_candidates(const PlaceCase *place, const Snapshot *snapshot, int result, const Placement *p)
{
    bool refused = false;
    const char *fault = NULL;
    Oracle o;

    if ((result != 0 && result != PLACEMENT_E_NOFIT) || oracle_init(&o, place, snapshot) != 0)
        return NULL;
    if (!p || p->n_candidates > CANDIDATES_MAX || (result == 0 && p->n_candidates == 0))
        fault = say("no candidates, or too many");
    for (size_t i = 0; !fault && i < p->n_candidates; i++) {
        const Candidate *c = &p->candidates[i];

        if (c->rank != i + 1 || (refused && c->refused_by == REFUSED_NOT))
            fault = say("candidate %zu is out of order", i);
        refused |= c->refused_by != REFUSED_NOT;
        if (!fault)
            fault = check_candidate(&o, p, c);
    }
    if (!fault && result == 0 &&
        (p->candidates[0].refused_by != REFUSED_NOT || !bitmap_equal(&p->candidates[0].nodes, &p->nodes)))
        fault = say("the first candidate is not the answer");
    oracle_done(&o);
    return fault;
}

/* --- comparing --- */

static void add_sets(Text *text, const Placement *p)
{
    for (size_t i = 0; i < p->n_vcpus; i++) {
        text_printf(text, "vcpu %zu: ", i);
        bitmap_print(&p->sets[p->vcpus[i].hard], text);
        text_add(text, " ");
        bitmap_print(&p->sets[p->vcpus[i].soft], text);
        text_add(text, "\n");
    }
}

static void add_candidates(Text *text, const Placement *p)
{
    for (size_t i = 0; i < p->n_candidates; i++) {
        const Candidate *c = &p->candidates[i];

        text_printf(text, "%u: ", c->rank);
        bitmap_print(&c->nodes, text);
        text_printf(text, " %d %" PRIu64 " %" PRIu32 " %.9g %.9g %" PRIu64 "\n", (int)c->refused_by, c->short_bytes,
                    c->worst_distance, c->mean_distance, c->vcpus_per_core, c->left);
    }
}

char *place_answer_text(int result, const Placement *p, const char *why)
{
    Text text = {0};
    char *string = NULL;

    text_printf(&text, "%d %s\n", result, why ? why : "");
    if (p) {
        for (size_t i = 0; i < p->n_memory; i++)
            text_printf(&text, "%" PRIu32 ": %" PRIu64 " %" PRIu64 "\n", p->memory[i].node, p->memory[i].bytes,
                        p->memory[i].overhead);
        add_sets(&text, p);
        text_printf(&text, "%" PRIu32 " %.9f %s\n", p->extent_order, p->expected_locality, p->reason ? p->reason : "");
        add_candidates(&text, p);
    }
    MUST(text_take(&text, &string, NULL) == 0);
    return string;
}
