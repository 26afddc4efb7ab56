/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-rounds.h"

#include <math.h>
#include <string.h>

/*
 * What holds of any answer (place-check.h), and how answers of two hosts that are nearly the same hang together. The
 * answers themselves are judged in test-place-optimal.
 */

typedef struct Answer {
    Snapshot *snapshot;
    int result;
    Placement *placement;
    char *why;
} Answer;

static void answer_done(Answer *answer)
{
    snapshot_unref(answer->snapshot);
    placement_free(answer->placement);
    free(answer->why);
}
#define _cleanup_answer_ _cleanup_(answer_done)

static Answer answer_of(const PlaceCase *place, bool explain)
{
    Answer answer = {.snapshot = place_case_snapshot(place)};

    answer.result = place_case_evaluate(place, answer.snapshot, explain, &answer.placement, &answer.why);
    return answer;
}

/* --- any answer --- */

static const char *is_sound(Draw *draw, const PlaceCase *place)
{
    _cleanup_answer_ Answer answer = answer_of(place, false);

    return place_check_answer(place, answer.snapshot, answer.result, answer.placement, answer.why);
}

static const char *candidates_are_sound(Draw *draw, const PlaceCase *place)
{
    _cleanup_answer_ Answer answer = answer_of(place, true);
    const char *fault = place_check_answer(place, answer.snapshot, answer.result, answer.placement, answer.why);

    return fault ? fault : place_check_candidates(place, answer.snapshot, answer.result, answer.placement);
}

/* --- the same host told in another order --- */

static void shuffle_domains(Draw *draw, HostRows *rows)
{
    for (size_t i = rows->n_domains; i > 1; i--) {
        size_t j = draw_below(draw, i);
        DomainRow row = rows->domains[i - 1];

        rows->domains[i - 1] = rows->domains[j];
        rows->domains[j] = row;
    }
}

static const char *compare_text(const Answer *a, const Answer *b, const char *what)
{
    _cleanup_free_ char *text = place_answer_text(a->result, a->placement, a->why);
    _cleanup_free_ char *other = place_answer_text(b->result, b->placement, b->why);

    return strcmp(text, other) == 0 ? NULL : case_fault("%s:\n%s---\n%s", what, text, other);
}

static const char *is_deterministic(Draw *draw, const PlaceCase *place)
{
    _cleanup_(place_case_done) PlaceCase shuffled;
    const char *fault;

    place_case_copy(place, &shuffled);
    shuffle_domains(draw, shuffled.rows);
    {
        _cleanup_answer_ Answer first = answer_of(place, true), other = answer_of(&shuffled, true);
        Answer again = {.snapshot = snapshot_ref(first.snapshot)};

        again.result = place_case_evaluate(place, again.snapshot, true, &again.placement, &again.why);
        fault = compare_text(&first, &again, "asked again");
        answer_done(&again);
        return fault ? fault : compare_text(&first, &other, "domains in another order");
    }
}

/* --- nodes renumbered --- */

static void draw_permutation(Draw *draw, size_t n, nodeid_t *ids)
{
    for (nodeid_t i = 0; i < n; i++)
        ids[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = draw_below(draw, i);
        nodeid_t id = ids[i - 1];

        ids[i - 1] = ids[j];
        ids[j] = id;
    }
}

/*
 * Of what `interleave` and `any` ask for, Xen gives the first nodes more, so numbers matter: they are left out.
 * Which CPUs are local to a node without any goes by its number when two are equally near.
 */
static bool same_localities(const Snapshot *a, const Snapshot *b, const nodeid_t *ids)
{
    for (nodeid_t id = 0; id < a->n_nodes; id++)
        if (!bitmap_equal(&a->nodes[id].local, &b->nodes[ids[id]].local))
            return false;
    return true;
}

static unsigned supply_for(const Oracle *o, const Placement *p)
{
    return oracle_fits_memory(o, &p->nodes, SUPPLY_CHUNKS) ? SUPPLY_CHUNKS : SUPPLY_ANY;
}

/* Distances, devices and chunks are the oracle's, the rest is what the engine itself says. */
static void score_answer(const PlaceCase *place, const Answer *answer, Oracle *o, OracleScore *score)
{
    const Placement *p = answer->placement;

    MUST(oracle_init(o, place, answer->snapshot) == 0);
    oracle_score(o, &p->nodes, supply_for(o, p), score);
    score->vcpus_per_core = isnan(p->candidates[0].vcpus_per_core) ? -1 : p->candidates[0].vcpus_per_core;
    score->left = p->candidates[0].left;
}

/* A set of nodes by its new numbers. */
static void renumbered_set(const Bitmap *set, const nodeid_t *ids, Bitmap *ret)
{
    *ret = (Bitmap){0};
    BITMAP_FOREACH (node, set)
        MUST(bitmap_set(ret, ids[node]) == 0);
}

/* The node with the lowest number gets what is left over of a split, and so a set may fit by one numbering alone. */
static bool is_same_set(const Oracle *o, const Bitmap *set, const Oracle *renumbered, const nodeid_t *ids)
{
    static const unsigned supplies[] = {SUPPLY_CHUNKS, SUPPLY_ANY, SUPPLY_CHUNKS | SUPPLY_CLEAN, SUPPLY_CLEAN};
    _cleanup_bitmap_ Bitmap other = {0};
    bool same = true;

    renumbered_set(set, ids, &other);
    for (size_t i = 0; i < ARRAY_SIZE(supplies); i++)
        same &= oracle_fits_memory(o, set, supplies[i]) == oracle_fits_memory(renumbered, &other, supplies[i]);
    return same;
}

/*
 * Up to so many nodes all sets are looked at. Beyond, sets are grown, and of those that are as good as others step by
 * step the ones with the lowest numbers are followed, which shows in answers of several nodes.
 */
#define EXACT_NODES_MAX 12u
#define TIES_MAX 6u

static const char *compare_scores(const PlaceCase *place, const Answer *a, const PlaceCase *renumbered, const Answer *b,
                                  const nodeid_t *ids, const nodeid_t *old_ids)
{
    OracleScore x, y;
    Oracle o, p;
    bool same;
    int order;

    score_answer(place, a, &o, &x);
    score_answer(renumbered, b, &p, &y);
    order = oracle_compare(&o, &x, &y, true);
    same = is_same_set(&o, &a->placement->nodes, &p, ids) && is_same_set(&p, &b->placement->nodes, &o, old_ids);
    oracle_done(&o);
    oracle_done(&p);
    if (order == 0 || !same)
        return same ? NULL : CASE_VOID;
    if (place->rows->n_nodes > EXACT_NODES_MAX && x.count > TIES_MAX && y.count > TIES_MAX)
        return CASE_VOID;
    return case_fault("renumbered it is %s: %u nodes %" PRIu32 " %f, %f a core, %" PRIu64 " left; %u nodes %" PRIu32
                      " %f, %f a core, %" PRIu64 " left",
                      order < 0 ? "worse" : "better", x.count, x.worst, x.mean, x.vcpus_per_core, x.left, y.count,
                      y.worst, y.mean, y.vcpus_per_core, y.left);
}

/* Where there is an answer on one of two hosts alone: whether its set is none on the other, by the oracle. */
static bool fits_no_more(const PlaceCase *place, const Snapshot *snapshot, const Bitmap *set)
{
    static const unsigned supplies[] = {SUPPLY_CHUNKS, SUPPLY_ANY, SUPPLY_SMALLER};
    bool fits = false;
    Oracle o;

    MUST(oracle_init(&o, place, snapshot) == 0);
    for (size_t i = 0; i < ARRAY_SIZE(supplies); i++)
        fits |= oracle_fits_memory(&o, set, supplies[i] | (place->request.strict ? SUPPLY_CLEAN : 0));
    oracle_done(&o);
    return !fits;
}

static const char *same_renumbered(Draw *draw, const PlaceCase *place)
{
    _cleanup_(place_case_done) PlaceCase renumbered;
    nodeid_t ids[NODES_MAX], old_ids[NODES_MAX];

    place_case_copy(place, &renumbered);
    draw_permutation(draw, place->rows->n_nodes, ids);
    for (nodeid_t id = 0; id < place->rows->n_nodes; id++)
        old_ids[ids[id]] = id;
    place_case_renumber(&renumbered, ids);
    {
        _cleanup_answer_ Answer a = answer_of(place, true), b = answer_of(&renumbered, true);

        if (!same_localities(a.snapshot, b.snapshot, ids))
            return CASE_VOID;
        if (a.result != b.result && (a.result == 0 || b.result == 0)) {
            const Answer *fitting = a.result == 0 ? &a : &b, *other = a.result == 0 ? &b : &a;
            _cleanup_bitmap_ Bitmap set = {0};

            renumbered_set(&fitting->placement->nodes, a.result == 0 ? ids : old_ids, &set);
            if (fits_no_more(a.result == 0 ? &renumbered : place, other->snapshot, &set))
                return CASE_VOID;
        }
        if (a.result != b.result)
            return case_fault("%d, renumbered %d: %s", a.result, b.result, b.why ? b.why : "");
        return a.result == 0 ? compare_scores(place, &a, &renumbered, &b, ids, old_ids) : NULL;
    }
}

/* --- more memory --- */

static bool has_promises(const PlaceCase *place, const Bitmap *set)
{
    BITMAP_FOREACH (node, set)
        if (place_case_available(place, node) < place_case_usable(place, node))
            return true;
    return false;
}

/* Whether memory is promised on a node whose free chunks are counted: nobody knows of which chunks it will be made. */
static bool has_promised_chunks(const PlaceCase *place)
{
    for (nodeid_t id = 0; id < place->rows->n_nodes; id++)
        if (place->rows->nodes[id].free_chunks && place_case_available(place, id) < place_case_usable(place, id))
            return true;
    return false;
}

/*
 * But where the node has more Xen may take a larger extent of it, and so more than is not promised there: then the set
 * is none any more, and that no other is either is for test-place-optimal to see. Where chunks are counted, what is
 * promised is taken off the largest, so that one more large chunk may forbid what small ones allowed.
 */
static const char *more_memory_fits(Draw *draw, const PlaceCase *place)
{
    static const uint64_t grains[] = {4096, MIB, 2 * MIB, 64 * MIB, GIB};
    _cleanup_(place_case_done) PlaceCase richer;
    unsigned n = (unsigned)draw_between(draw, 1, 3);

    place_case_copy(place, &richer);
    while (n-- > 0) {
        nodeid_t node = (nodeid_t)draw_below(draw, place->rows->n_nodes);
        uint64_t grain = grains[draw_below(draw, ARRAY_SIZE(grains))];

        if (place->rows->nodes[node].size != ROW_HOLE && place->rows->nodes[node].size)
            place_case_add_memory(&richer, node, grain * draw_between(draw, 1, 20));
    }
    {
        _cleanup_answer_ Answer before = answer_of(place, false), after = {0};

        if (before.result != 0)
            return CASE_VOID;
        after = answer_of(&richer, false);
        if (after.result == 0)
            return NULL;
        if (has_promises(place, &before.placement->nodes) &&
            fits_no_more(&richer, after.snapshot, &before.placement->nodes))
            return CASE_VOID;
        if (has_promised_chunks(&richer))
            return CASE_VOID;
        place_case_print(&richer, stderr);
        return case_fault("refused with more memory (above): %s", after.why);
    }
}

#define USUAL .min_nodes = 1, .max_nodes = 8, .max_cpus = 16
#define MANY .min_nodes = 9, .max_nodes = 40, .max_cpus = 8

static const Property properties[] = {
    {"any answer is sound", 20000, {USUAL}, is_sound},
    {"any answer is sound: 9 to 40 nodes", 3000, {MANY}, is_sound},
    {"strict answers are exact", 8000, {USUAL, .strict = true}, is_sound},
    {"candidates are sound", 8000, {USUAL}, candidates_are_sound},
    {"candidates are sound: 9 to 40 nodes", 1000, {MANY}, candidates_are_sound},
    {"deterministic, in any order of domains", 8000, {USUAL}, is_deterministic},
    {"deterministic: 9 to 40 nodes", 1000, {MANY}, is_deterministic},
    {"the same score with nodes renumbered", 12000, {USUAL, .searched = true}, same_renumbered},
    {"the same score with nodes renumbered: 9 to 40 nodes", 2000, {MANY, .searched = true}, same_renumbered},
    {"more memory never refuses", 14000, {USUAL}, more_memory_fits},
    {"more memory never refuses: 9 to 40 nodes", 2000, {MANY}, more_memory_fits},
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(properties)];

    for (size_t i = 0; i < ARRAY_SIZE(properties); i++)
        tests[i] = (struct CMUnitTest)PROPERTY_TEST(properties[i]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
