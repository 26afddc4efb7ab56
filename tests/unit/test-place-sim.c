/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-rounds.h"

#include "lib/core/sim-host.h"

#include <string.h>

/* Answers followed on a simulated host: the pages come to lie where `memory` said. */

/*
 * Nobody else's memory: what is promised to others is not in use yet, and the model knows nothing of it. Its claims are
 * host-wide.
 */
static void clear_promises(PlaceCase *place)
{
    ledger_unref(place->ledger);
    MUST(place->ledger = ledger_new());
    place->headroom = 0;
    place->rows->features &= ~FEATURE_BIT(FEATURE_CLAIMS);
    for (size_t i = 0; i < place->rows->n_nodes; i++) {
        place->rows->nodes[i].claimed = 0;
        place->rows->nodes[i].dirty = 0; /* until it is scrubbed, Xen takes other nodes' memory; `reason` says so */
    }
}

/* Where Xen would have the memory by the vCPUs' soft sets alone. */
static void nodes_of_sets(const PlaceCase *place, const VcpuRow *sets, size_t n, Bitmap *nodes)
{
    for (size_t i = 0; i < n; i++)
        BITMAP_FOREACH (cpu, &sets[i].soft)
            if (place->rows->cpus[cpu].node != ROW_INVALID)
                MUST(bitmap_set(nodes, place->rows->cpus[cpu].node) == 0);
}

/* As the printed xl lines would start it; with the node affinity where the lines cannot say it. */
static int start(SimHost *host, const PlaceCase *place, const Placement *p, domid_t *ret_domid)
{
    _cleanup_free_ char *buffer = new_array(p->n_vcpus, sizeof(VcpuRow));
    VcpuRow *sets = (VcpuRow *)(void *)buffer;
    _cleanup_bitmap_ Bitmap nodes = {0};
    const PlacementRequest *q = &place->request;
    SimDomain domain = {.type = q->type,
                        .pool = q->pool,
                        .memory = MAX(q->memory, 4096u), /* Xen has no smaller domain */
                        .max_memory = q->max_memory,
                        .vcpus = q->vcpus,
                        .sets = sets,
                        .n_sets = p->n_vcpus,
                        .state = DOMAIN_PAUSED};

    MUST(sets);
    for (size_t i = 0; i < p->n_vcpus; i++) /* borrowed */
        sets[i] = (VcpuRow){.hard = p->sets[p->vcpus[i].hard], .soft = p->sets[p->vcpus[i].soft], .online = true};
    nodes_of_sets(place, sets, p->n_vcpus, &nodes);
    if (!bitmap_equal(&nodes, &p->nodes))
        domain.node_affinity = &p->nodes;
    return sim_host_create(host, &domain, ret_domid);
}

static const char *compare_pages(const uint64_t *pages, const PlaceCase *place, const Placement *p)
{
    for (nodeid_t id = 0; id < place->rows->n_nodes; id++) {
        uint64_t promised = 0;

        for (size_t i = 0; i < p->n_memory; i++)
            if (p->memory[i].node == id)
                promised = (p->memory[i].bytes + 4095) / 4096;
        if (pages[id] != promised)
            return case_fault("node %" PRIu32 " got %" PRIu64 " pages, promised were %" PRIu64, id, pages[id],
                              promised);
    }
    return NULL;
}

static SimHost *host_of(const PlaceCase *place)
{
    HostRows *rows = NULL;
    SimHost *host = NULL;

    MUST(host_rows_copy(place->rows, &rows) == 0);
    MUST(sim_host_new(rows, &host) == 0);
    return host;
}

/* It was told that free chunks are too small for it, and so what is promised is not to be had. */
static bool is_in_pieces(const Placement *p)
{
    return strstr(p->reason, "in small pieces");
}

/* What is promised to others, and headroom, is there afterwards as before. */
static const char *leaves_promises(const PlaceCase *place, const uint64_t *pages)
{
    for (size_t i = 0; i < place->rows->n_nodes; i++) {
        nodeid_t id = (nodeid_t)i;
        uint64_t usable = place_case_usable(place, id), others = usable - place_case_available(place, id);

        if (pages[id] > 0 && pages[id] * 4096 + others > usable + 4095)
            return case_fault("node %" PRIu32 ": %" PRIu64 " bytes are promised to others, %" PRIu64 " are left", id,
                              others, sub_saturating(usable, pages[id] * 4096));
    }
    return NULL;
}

static const char *build_one(const PlaceCase *place, const Placement *p)
{
    _cleanup_(sim_host_free_p) SimHost *host = NULL;
    const char *fault;
    domid_t domid = 0;
    int r;

    if (is_in_pieces(p))
        return CASE_VOID;
    host = host_of(place);
    r = start(host, place, p, &domid);
    if (r != 0)
        return case_fault("it does not start: %d", r);
    fault = leaves_promises(place, sim_host_pages(host, domid));
    return fault ? fault : compare_pages(sim_host_pages(host, domid), place, p);
}

/* Mostly more than any one node has. */
static void want_several(Draw *draw, PlaceCase *place)
{
    PlacementRequest *request = &place->request;
    uint64_t sum = 0, most = 0;

    for (nodeid_t id = 0; id < place->rows->n_nodes; id++) {
        sum += place_case_available(place, id);
        most = MAX(most, place_case_available(place, id));
    }
    request->strict = request->strict && request->has_nodes;
    request->max_memory = 0;
    request->memory = most / 4096 * 4096 + 4096 * draw_between(draw, 1, (sum - most) / 8192 + 1);
    request->vcpus = (uint32_t)draw_between(draw, 1, 4);
}

static const char *nothing_is_promised_twice(Draw *draw, const PlaceCase *place)
{
    _cleanup_(place_case_done) PlaceCase crowded;
    const CaseLimits limits = {.strict = false};
    const char *fault = CASE_VOID;

    place_case_copy(place, &crowded);
    clear_promises(&crowded);
    place_case_promise_some(draw, &crowded);
    crowded.headroom = draw_chance(draw, 30) ? MIB * draw_below(draw, 64) : 0;
    placement_request_done(&crowded.request);
    crowded.request = (PlacementRequest){.pool = ROW_NO_POOL};
    place_draw_request(draw, &limits, &crowded);
    want_several(draw, &crowded);
    {
        _cleanup_(snapshot_unref_p) Snapshot *snapshot = place_case_snapshot(&crowded);
        _cleanup_(placement_free_p) Placement *p = NULL;
        _cleanup_free_ char *why = NULL;

        if (place_case_evaluate(&crowded, snapshot, false, &p, &why) == 0 && p->n_memory > 1)
            fault = build_one(&crowded, p);
        if (fault && fault != CASE_VOID) {
            place_case_print(&crowded, stderr);
            placement_print(0, p, why, stderr);
        }
    }
    return fault;
}

static const char *pages_follow(Draw *draw, const PlaceCase *place)
{
    _cleanup_(place_case_done) PlaceCase alone;
    const char *fault = CASE_VOID;

    place_case_copy(place, &alone);
    clear_promises(&alone);
    {
        _cleanup_(snapshot_unref_p) Snapshot *snapshot = place_case_snapshot(&alone);
        _cleanup_(placement_free_p) Placement *p = NULL;
        _cleanup_free_ char *why = NULL;

        if (place_case_evaluate(&alone, snapshot, false, &p, &why) == 0)
            fault = build_one(&alone, p);
        if (fault && fault != CASE_VOID) {
            place_case_print(&alone, stderr);
            placement_print(0, p, why, stderr);
        }
        return fault;
    }
}

/* --- several --- */

enum { STORM = 5 };

typedef struct Storm {
    PlaceCase places[STORM];
    Placement *placements[STORM];
    domid_t domids[STORM];
    size_t n;
} Storm;

static void storm_done(Storm *storm)
{
    for (size_t i = 0; i < storm->n; i++) {
        placement_free(storm->placements[i]);
        place_case_done(&storm->places[i]);
    }
}

/* The host as it is promised so far, and another request. */
static void next_case(Draw *draw, const PlaceCase *first, const Storm *storm, PlaceCase *ret)
{
    const CaseLimits limits = {.strict = true};

    place_case_copy(storm->n ? &storm->places[storm->n - 1] : first, ret);
    if (storm->n)
        place_case_promise(ret, storm->placements[storm->n - 1]);
    else
        clear_promises(ret);
    placement_request_done(&ret->request);
    place_draw_request(draw, &limits, ret);
    for (size_t i = 0; i < ret->rows->n_nodes; i++)
        ret->rows->nodes[i].low = 0; /* which extent of 1 GiB it breaks is not told */
    ret->request.has_nodes = false;  /* so: one node. What is on several depends on what there is when it is built. */
}

static void promise_all(Draw *draw, const PlaceCase *first, Storm *storm)
{
    for (unsigned i = 0; i < STORM; i++) {
        PlaceCase *place = &storm->places[storm->n];
        _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
        _cleanup_free_ char *why = NULL;

        next_case(draw, first, storm, place);
        snapshot = place_case_snapshot(place);
        if (place_case_evaluate(place, snapshot, false, &storm->placements[storm->n], &why) == 0)
            storm->n++;
        else
            place_case_done(place);
    }
}

/* Built in another order than they were promised in. */
static const char *build_all(Draw *draw, SimHost *host, Storm *storm)
{
    size_t first = draw_below(draw, storm->n), step = draw_chance(draw, 50) ? 1 : storm->n - 1;

    for (size_t k = 0, i = first; k < storm->n; k++, i = (i + step) % storm->n) {
        int r = start(host, &storm->places[i], storm->placements[i], &storm->domids[i]);

        if (r != 0)
            return case_fault("domain %zu of %zu does not start: %d", i, storm->n, r);
    }
    for (size_t i = 0; i < storm->n; i++) {
        const char *fault =
            compare_pages(sim_host_pages(host, storm->domids[i]), &storm->places[i], storm->placements[i]);

        if (fault)
            return fault;
    }
    return NULL;
}

static const char *promises_are_kept(Draw *draw, const PlaceCase *place)
{
    _cleanup_(storm_done) Storm storm = {0};
    _cleanup_(sim_host_free_p) SimHost *host = NULL;
    const char *fault = CASE_VOID;

    promise_all(draw, place, &storm);
    if (storm.n > 1) {
        host = host_of(&storm.places[0]);
        fault = build_all(draw, host, &storm);
    }
    for (size_t i = 0; fault && fault != CASE_VOID && i < storm.n; i++) {
        place_case_print(&storm.places[i], stderr);
        placement_print(0, storm.placements[i], NULL, stderr);
    }
    return fault;
}

static const Property properties[] = {
    {"pages lie where memory said", 6000, {.min_nodes = 1, .max_nodes = 8, .max_cpus = 16}, pages_follow},
    {"pages lie where memory said: 9 to 40 nodes", 600, {.min_nodes = 9, .max_nodes = 40, .max_cpus = 8}, pages_follow},
    {"nothing is promised twice",
     12000,
     {.min_nodes = 2, .max_nodes = 8, .max_cpus = 16, .plain = true},
     nothing_is_promised_twice},
    {"nothing is promised twice: 9 to 40 nodes",
     2000,
     {.min_nodes = 9, .max_nodes = 40, .max_cpus = 8, .plain = true},
     nothing_is_promised_twice},
    {"promises of several are kept", 3000, {.min_nodes = 1, .max_nodes = 6, .max_cpus = 16}, promises_are_kept},
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(properties)];

    for (size_t i = 0; i < ARRAY_SIZE(properties); i++)
        tests[i] = (struct CMUnitTest)PROPERTY_TEST(properties[i]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
