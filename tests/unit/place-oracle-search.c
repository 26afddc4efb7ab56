/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-oracle.h"

#include <math.h>
#include <string.h>

/* CPUs of a set of nodes, how good a set is, and the best of all sets. */

/* --- CPUs --- */

void oracle_cpus(const Oracle *o, const Bitmap *set, Bitmap *cpus)
{
    bitmap_done(cpus);
    *cpus = (Bitmap){0};
    BITMAP_FOREACH (node, set)
        MUST(bitmap_or(cpus, &o->snapshot->nodes[node].local) == 0);
    MUST(bitmap_and(cpus, cpus, &o->allowed) == 0);
}

static bool same_core(const CpuRow *a, const CpuRow *b)
{
    return a->core != ROW_INVALID && a->core == b->core && a->socket == b->socket && a->node == b->node;
}

unsigned oracle_cores(const Oracle *o, const Bitmap *cpus, unsigned threads)
{
    unsigned n = 0;

    BITMAP_FOREACH (cpu, cpus) {
        unsigned before = 0;

        BITMAP_FOREACH (other, cpus)
            before += other < cpu && same_core(&o->snapshot->cpus[other], &o->snapshot->cpus[cpu]);
        n += before < threads;
    }
    return n;
}

static bool is_apart(const Oracle *o)
{
    BITMAP_FOREACH (cpu, &o->allowed)
        if (o->snapshot->cpus[cpu].node == ROW_INVALID) /* nobody knows where it is */
            return false;
    return o->request->has_nodes && o->request->has_cpus;
}

bool oracle_is_away(const Oracle *o, const Bitmap *set)
{
    unsigned threads = MAX(o->request->threads_per_core, 1u);
    _cleanup_bitmap_ Bitmap cpus = {0};

    oracle_cpus(o, set, &cpus);
    if (!is_apart(o) || o->request->vcpus <= oracle_cores(o, &cpus, threads))
        return false;
    return o->request->vcpus <= oracle_cores(o, &o->allowed, threads) || o->request->vcpus > bitmap_weight(&cpus);
}

bool oracle_fits_cpus(const Oracle *o, const Bitmap *set, OracleLevel level)
{
    _cleanup_bitmap_ Bitmap cpus = {0};

    if (level == LEVEL_MEMORY)
        return true;
    oracle_cpus(o, set, &cpus);
    if (oracle_is_away(o, set))
        MUST(bitmap_copy(&cpus, &o->allowed) == 0);
    if (level == LEVEL_THREADS) { /* of more vCPUs than may be used at all, all that may be used */
        unsigned need = o->request->strict ? o->request->vcpus : MIN(o->request->vcpus, bitmap_weight(&o->allowed));

        return need <= bitmap_weight(&cpus);
    }
    return o->request->vcpus <= oracle_cores(o, &cpus, MAX(o->request->threads_per_core, 1u));
}

/* --- how good a set is --- */

bool oracle_reaches(const Oracle *o, const Bitmap *set)
{
    BITMAP_FOREACH (from, set)
        BITMAP_FOREACH (to, set)
            if (oracle_distance(o, from, to) == DISTANCE_NONE)
                return false;
    return true;
}

static void score_distances(const Oracle *o, const Bitmap *set, OracleScore *score)
{
    double sum = 0;
    unsigned pairs = 0;

    score->near = DISTANCE_NONE;
    score->worst = 10;
    BITMAP_FOREACH (from, set) {
        if (o->near != NODE_NONE)
            score->near = MIN(score->near, oracle_distance(o, o->near, from));
        BITMAP_FOREACH (to, set) {
            score->worst = MAX(score->worst, oracle_distance(o, from, to));
            if (from != to) {
                sum += oracle_distance(o, from, to);
                pairs++;
            }
        }
    }
    score->mean = pairs ? sum / pairs : 10;
    score->to_cpus = is_apart(o) ? DISTANCE_NONE : 0;
    for (unsigned cpu = 0; is_apart(o) && cpu < o->snapshot->n_cpus; cpu++)
        BITMAP_FOREACH (node, set)
            if (bitmap_isset(&o->allowed, cpu))
                score->to_cpus = MIN(score->to_cpus, oracle_distance(o, o->snapshot->cpus[cpu].node, node));
}

static bool has_device(const Snapshot *s, nodeid_t node)
{
    for (size_t i = 0; i < s->n_devices; i++)
        if (s->devices[i].node == node)
            return true;
    return false;
}

void oracle_score(const Oracle *o, const Bitmap *set, unsigned supply, OracleScore *ret)
{
    _cleanup_bitmap_ Bitmap cpus = {0};
    const Snapshot *s = o->snapshot;
    double load = o->request->vcpus;
    uint64_t available = 0;

    *ret = (OracleScore){.count = bitmap_weight(set)};
    score_distances(o, set, ret);
    oracle_cpus(o, set, &cpus);
    if (oracle_is_away(o, set))
        MUST(bitmap_copy(&cpus, &o->allowed) == 0);
    for (nodeid_t node = 0; node < s->n_nodes; node++)
        if (oracle_is_away(o, set) ? bitmap_weight_and(&s->nodes[node].cpus, &o->allowed) > 0 : bitmap_isset(set, node))
            load += s->nodes[node].vcpus + s->nodes[node].promised_vcpus;
    BITMAP_FOREACH (node, set) {
        available += place_case_available(o->place, node);
        ret->with_device += has_device(s, node);
        ret->dirty += s->nodes[node].dirty == VALUE_UNKNOWN ? 0 : s->nodes[node].dirty;
        for (size_t order = 9; s->nodes[node].free_chunks && order < s->nodes[node].n_free_chunks; order++)
            ret->large_chunks += s->nodes[node].free_chunks[order] << (order - 9);
    }
    ret->scrubbed = oracle_fits_memory(o, set, supply | SUPPLY_CLEAN);
    ret->vcpus_per_core = load / oracle_cores(o, &cpus, 1);
    ret->left = available - o->request->memory - oracle_overhead(o->request);
}

static int compare_numbers(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) ? 0 : a < b ? -1 : 1;
}

static int compare_bytes(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_balance(const Oracle *o, const OracleScore *a, const OracleScore *b)
{
    bool pack = place_case_policy(o->place) == POLICY_PACK;
    int r = (int)b->scrubbed - (int)a->scrubbed;

    if (r == 0 && pack)
        r = (a->vcpus_per_core > 1 + 1e-9) - (b->vcpus_per_core > 1 + 1e-9);
    if (r == 0 && pack)
        r = compare_bytes(a->left, b->left);
    if (r == 0)
        r = compare_numbers(a->vcpus_per_core, b->vcpus_per_core);
    if (r == 0)
        r = compare_bytes(b->left, a->left);
    if (r == 0 && !o->request->near)
        r = (int)a->with_device - (int)b->with_device;
    if (r == 0)
        r = compare_bytes(b->large_chunks, a->large_chunks);
    return r ? r : compare_bytes(a->dirty, b->dirty);
}

int oracle_compare(const Oracle *o, const OracleScore *a, const OracleScore *b, bool whole)
{
    int r = (int)a->count - (int)b->count;

    if (r == 0)
        r = (a->near > b->near) - (a->near < b->near);
    if (r == 0)
        r = (a->worst > b->worst) - (a->worst < b->worst);
    if (r == 0)
        r = compare_numbers(a->mean, b->mean);
    if (r == 0)
        r = (a->to_cpus > b->to_cpus) - (a->to_cpus < b->to_cpus);
    return r || !whole ? r : compare_balance(o, a, b);
}

/* --- all sets --- */

/*
 * Which sets compete: those inside the asked nodes; those that hold all of them that can give memory; or, when none of
 * these reach each other, all.
 */
typedef enum Stage { INSIDE, AROUND, ELSEWHERE } Stage;

static bool competes(const Oracle *o, const Bitmap *set, Stage stage)
{
    const PlacementRequest *q = o->request;

    if (q->strict && !q->has_nodes && bitmap_weight(set) > 1)
        return false;
    if (!q->has_nodes || stage == ELSEWHERE)
        return true;
    if (stage == INSIDE)
        return bitmap_weight_and(set, &q->nodes) == bitmap_weight(set);
    BITMAP_FOREACH (node, &q->nodes)
        if (place_case_available(o->place, node) > 0 && !bitmap_isset(set, node))
            return false;
    return true;
}

/* The i-th set of the universe. */
static void set_of(const Oracle *o, unsigned i, Bitmap *set)
{
    bitmap_done(set);
    *set = (Bitmap){0};
    BITMAP_FOREACH (node, &o->universe) {
        if (i & 1)
            MUST(bitmap_set(set, node) == 0);
        i >>= 1;
    }
}

typedef struct Turn {
    Stage stage;
    OracleLevel level;
} Turn;

static void try_set(const Oracle *o, const Bitmap *set, Turn turn, unsigned supply, OracleAnswer *answer)
{
    OracleScore score;

    if ((answer->found && bitmap_weight(set) > answer->best.count) || !competes(o, set, turn.stage) ||
        !oracle_reaches(o, set) || !oracle_fits_cpus(o, set, turn.level) || !oracle_fits_memory(o, set, supply))
        return;
    oracle_score(o, set, supply, &score);
    if (answer->found && oracle_compare(o, &score, &answer->best, true) >= 0)
        return;
    answer->found = true;
    answer->level = turn.level;
    answer->supply = supply;
    answer->best = score;
    MUST(bitmap_copy(&answer->set, set) == 0);
}

static void try_all(const Oracle *o, Turn turn, unsigned supply, OracleAnswer *answer)
{
    _cleanup_bitmap_ Bitmap set = {0};

    for (unsigned i = 1; i < 1u << bitmap_weight(&o->universe); i++) {
        set_of(o, i, &set);
        try_set(o, &set, turn, supply, answer);
    }
}

/* Of more nodes than all sets can be looked at: only whether one node fits, which comes before all else. */
static void try_singles(const Oracle *o, unsigned supply, OracleAnswer *answer)
{
    BITMAP_FOREACH (node, &o->universe) {
        _cleanup_bitmap_ Bitmap set = {0};

        MUST(bitmap_set(&set, node) == 0);
        try_set(o, &set, (Turn){INSIDE, LEVEL_CORES}, supply, answer);
    }
    answer->clear &= answer->found;
}

static void try_levels(const Oracle *o, unsigned supply, OracleAnswer *answer)
{
    static const Turn turns[] = {
        {INSIDE, LEVEL_CORES},    {INSIDE, LEVEL_THREADS},    {AROUND, LEVEL_CORES},
        {AROUND, LEVEL_THREADS},  {INSIDE, LEVEL_MEMORY},     {AROUND, LEVEL_MEMORY},
        {ELSEWHERE, LEVEL_CORES}, {ELSEWHERE, LEVEL_THREADS}, {ELSEWHERE, LEVEL_MEMORY},
    };

    for (size_t i = 0; i < ARRAY_SIZE(turns) && !answer->found; i++) {
        if (turns[i].stage != INSIDE && (!o->request->has_nodes || o->request->strict))
            continue;
        if (turns[i].level == LEVEL_MEMORY && o->request->strict)
            continue;
        try_all(o, turns[i], supply, answer);
    }
}

/* Asked nodes with next to nothing, or without extents: whether they "can give memory" is not told to the end. */
static bool is_clear(const Oracle *o)
{
    if (o->request->has_nodes && o->request->vcpus > bitmap_weight(&o->allowed))
        return false; /* whether memory of asked nodes or all CPUs come first */
    BITMAP_FOREACH (node, &o->request->nodes) {
        uint64_t available = place_case_available(o->place, node);

        if (o->request->has_nodes && available > 0 && oracle_large_bytes(o, node) < 64 * MIB)
            return false;
    }
    return o->kinds_clear;
}

void oracle_search(const Oracle *o, OracleAnswer *ret)
{
    unsigned first = SUPPLY_CHUNKS | (o->request->strict ? SUPPLY_CLEAN : 0);

    *ret = (OracleAnswer){.clear = is_clear(o)};
    if (bitmap_isempty(&o->allowed) || !oracle_spare(o))
        return;
    if (bitmap_weight(&o->universe) > ORACLE_NODES) {
        try_singles(o, first, ret);
        return;
    }
    try_levels(o, first, ret);
    if (!ret->found && !o->request->strict)
        try_levels(o, SUPPLY_ANY, ret);
    if (!ret->found && !o->request->strict)
        try_levels(o, SUPPLY_SMALLER, ret);
    ret->clear &= o->both || (ret->found && ret->supply & SUPPLY_CHUNKS);
}

/* --- locality --- */

double oracle_locality(const Oracle *o, const Placement *p)
{
    const Bitmap *pool = snapshot_pool_cpus(o->snapshot, o->request->pool == ROW_NO_POOL ? 0 : o->request->pool);
    _cleanup_bitmap_ Bitmap hard = {0}, set = {0};
    double sum = 0, memory = 0;

    for (size_t j = 0; j < p->n_memory; j++)
        memory += (double)p->memory[j].bytes;
    for (size_t i = 0; i < p->n_vcpus; i++) {
        MUST(bitmap_and(&hard, &p->sets[p->vcpus[i].hard], pool) == 0);
        if (bitmap_isempty(&hard))
            MUST(bitmap_copy(&hard, pool) == 0);
        MUST(bitmap_and(&set, &hard, &p->sets[p->vcpus[i].soft]) == 0);
        if (bitmap_isempty(&set))
            MUST(bitmap_copy(&set, &hard) == 0);
        for (size_t j = 0; j < p->n_memory; j++)
            sum += (double)p->memory[j].bytes / memory *
                   bitmap_weight_and(&set, &o->snapshot->nodes[p->memory[j].node].local) / bitmap_weight(&set);
    }
    return p->n_vcpus ? sum / (double)p->n_vcpus : NAN;
}
