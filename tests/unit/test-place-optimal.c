/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-rounds.h"

#include <math.h>
#include <string.h>

/* Answers held against the oracle, which looks at every set of nodes. */

static const char *judge(const Oracle *o, const OracleAnswer *wanted, int result, const Placement *p, const char *why)
{
    _cleanup_free_ char *best = bitmap_to_text(&wanted->set), *got = p ? bitmap_to_text(&p->nodes) : NULL;
    OracleScore score;
    int order;

    if ((result == 0) != wanted->found)
        return case_fault("%s, level %d, %s chunks: %s", wanted->found ? "nodes fit" : "nothing fits", wanted->level,
                          wanted->supply & SUPPLY_CHUNKS ? "with" : "without", wanted->found ? best : got);
    if (result != 0)
        return NULL;
    oracle_score(o, &p->nodes, wanted->supply, &score);
    if (wanted->level == LEVEL_MEMORY) /* which memory is nearest to what CPUs there are is not told to the end */
        return score.count == wanted->best.count ? NULL : case_fault("%u nodes, %s would do", score.count, best);
    if (!oracle_fits_cpus(o, &p->nodes, wanted->level) || !oracle_fits_memory(o, &p->nodes, wanted->supply))
        return case_fault("nodes %s do not fit, nodes %s do (level %d)", got, best, wanted->level);
    order = oracle_compare(o, &score, &wanted->best, false);
    if (order != 0)
        return case_fault("nodes %s: %u, near %" PRIu32 ", %" PRIu32 ", %f; best are %s: %u, near %" PRIu32 ", %" PRIu32
                          ", %f (level %d)",
                          got, score.count, score.near, score.worst, score.mean, best, wanted->best.count,
                          wanted->best.near, wanted->best.worst, wanted->best.mean, wanted->level);
    return NULL;
}

/* Loads are sums of fractions, as a third of a vCPU: whether two that are nearly the same are the same is not told. */
static bool has_fractions(const Oracle *o, const Bitmap *set)
{
    BITMAP_FOREACH (node, set) {
        double load = 1024 * (o->snapshot->nodes[node].vcpus + o->snapshot->nodes[node].promised_vcpus);

        if (load != floor(load))
            return true;
    }
    return false;
}

static bool is_near_tie(const Oracle *o, const OracleScore *a, const Bitmap *set, const OracleAnswer *wanted)
{
    const OracleScore *b = &wanted->best;

    return oracle_compare(o, a, b, false) == 0 && a->scrubbed == b->scrubbed &&
           fabs(a->vcpus_per_core - b->vcpus_per_core) < 1e-5 * b->vcpus_per_core &&
           (has_fractions(o, set) || has_fractions(o, &wanted->set));
}

static const char *judge_whole(const Oracle *o, const OracleAnswer *wanted, const Placement *p)
{
    _cleanup_free_ char *best = bitmap_to_text(&wanted->set), *got = bitmap_to_text(&p->nodes);
    const OracleScore *b = &wanted->best;
    OracleScore a;

    for (nodeid_t id = 0; id < o->snapshot->n_nodes; id++)
        if (o->snapshot->nodes[id].tied) /* all of a node's CPUs are offline: whose load counts is not told */
            return CASE_VOID;
    oracle_score(o, &p->nodes, wanted->supply, &a);
    /* which of two equal sets has the lower ids is told for single nodes alone */
    if (oracle_compare(o, &a, b, true) == 0 && (a.count > 1 || bitmap_equal(&p->nodes, &wanted->set)))
        return NULL;
    if (is_near_tie(o, &a, &p->nodes, wanted))
        return NULL;
    return case_fault("nodes %s: %s, %f a core, %" PRIu64 " left, %u with a device, %" PRIu64 " chunks, %" PRIu64
                      " dirty; best are %s: %s, %f, %" PRIu64 ", %u, %" PRIu64 ", %" PRIu64,
                      got, a.scrubbed ? "scrubbed" : "dirty", a.vcpus_per_core, a.left, a.with_device, a.large_chunks,
                      a.dirty, best, b->scrubbed ? "scrubbed" : "dirty", b->vcpus_per_core, b->left, b->with_device,
                      b->large_chunks, b->dirty);
}

static const char *compare(const PlaceCase *place, bool whole)
{
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = place_case_snapshot(place);
    _cleanup_(placement_free_p) Placement *p = NULL;
    _cleanup_free_ char *why = NULL;
    const char *fault = CASE_VOID;
    PlacementPolicy policy = place_case_policy(place);
    OracleAnswer wanted;
    Oracle o;

    if (policy == POLICY_INTERLEAVE || policy == POLICY_ANY || oracle_init(&o, place, snapshot) != 0)
        return CASE_VOID;
    oracle_search(&o, &wanted);
    if (wanted.clear) {
        int r = place_case_evaluate(place, snapshot, false, &p, &why);

        fault = judge(&o, &wanted, r, p, why);
        if (!fault && whole && r == 0 && wanted.level != LEVEL_MEMORY)
            fault = judge_whole(&o, &wanted, p);
    }
    bitmap_done(&wanted.set);
    oracle_done(&o);
    return fault;
}

/* Fits or not, fewest nodes, nearest. */
static const char *is_nearest(Draw *draw, const PlaceCase *place)
{
    return compare(place, false);
}

/* And of these the one that the policy wants, to the last tie. */
static const char *is_best(Draw *draw, const PlaceCase *place)
{
    return compare(place, true);
}

#define SMALL .min_nodes = 1, .max_nodes = ORACLE_NODES, .max_cpus = 12, .small = true, .searched = true
#define MANY .min_nodes = 9, .max_nodes = 40, .max_cpus = 8, .small = true, .searched = true

static const Property properties[] = {
    {"fewest nodes, nearest", 12000, {SMALL}, is_nearest},
    {"strict: fewest nodes, nearest", 4000, {SMALL, .strict = true}, is_nearest},
    {"one node where one will do: 9 to 40 nodes", 1500, {MANY}, is_nearest},
    {"the best by policy: 9 to 40 nodes", 1500, {MANY, .plain = true}, is_best},
    {"the best by policy", 8000, {SMALL, .plain = true}, is_best},
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(properties)];

    for (size_t i = 0; i < ARRAY_SIZE(properties); i++)
        tests[i] = (struct CMUnitTest)PROPERTY_TEST(properties[i]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
