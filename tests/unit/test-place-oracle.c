/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-oracle.h"

#include "tests/unit/hostdesc.h"

/* The oracle itself, held against what was worked out by hand from Xen's allocator and domain builder. */

#define HOST "{'format':'numad-xen-host/1','features':['free-chunks'],'nodes':["
#define NODE_OF(bytes, cpus) "{'size':8589934592,'free':" bytes ",'cpus':'" cpus "'}"
/* Free chunks of orders 0, 9 and 18. */
#define CHUNKS(pages, large, huge) "{'free_chunks':[" pages ",0,0,0,0,0,0,0,0," large ",0,0,0,0,0,0,0,0," huge "]}"

static PlaceCase case_of(const char *quoted, DomainType type, uint64_t memory)
{
    PlaceCase place = {.rows = rows_of(quoted),
                       .request = {.vcpus = 1, .memory = memory, .type = type, .pool = ROW_NO_POOL}};

    place.rows->page_size = 4096;
    assert_non_null(place.ledger = ledger_new());
    return place;
}

typedef struct Split {
    const char *host;
    DomainType type;
    uint64_t memory;
    bool fits, even;
    uint64_t pages[3];
} Split;

static void check_split(const Split *split)
{
    _cleanup_(place_case_done) PlaceCase place = case_of(split->host, split->type, split->memory);
    _cleanup_(snapshot_unref_p) Snapshot *s = place_case_snapshot(&place);
    _cleanup_bitmap_ Bitmap set = {0};
    uint64_t pages[8] = {0};
    OracleSplit got;
    Oracle o;

    assert_int_equal(oracle_init(&o, &place, s), 0);
    assert_int_equal(bitmap_set_range(&set, 0, (unsigned)s->n_nodes - 1), 0);
    assert_int_equal(oracle_split(&o, &set, SUPPLY_CHUNKS, pages, &got), split->fits);
    for (size_t i = 0; split->fits && i < s->n_nodes; i++)
        if (pages[i] != split->pages[i])
            fail_msg("%s: node %zu: %" PRIu64 " pages, wanted %" PRIu64, split->host, i, pages[i], split->pages[i]);
    assert_int_equal(got.even, split->even);
    oracle_done(&o);
}

#define TWO HOST NODE_OF("4294967296", "0") "," NODE_OF("4294967296", "1") "]}"
/* node 0 has 3 MiB: one 2 MiB extent, and 1 MiB of pages */
#define SHORT HOST NODE_OF("3145728", "0") "," NODE_OF("4294967296", "1") "]}"
#define BROKEN                                                                                                         \
    HOST NODE_OF("2147483648", "0") "," NODE_OF("2147483648", "1") "],'node_extra':[" CHUNKS("524288", "0",            \
                                                                                             "0") "," CHUNKS("0", "0", \
                                                                                                             "2") "]}"

static void test_split(void **state)
{
    static const Split cases[] = {
        /* two extents of 2 MiB, one each; 256 pages more, in turn */
        {TWO, DOMAIN_TYPE_PV, 5 * MIB, true, true, {640, 640}},
        /* three extents: node 0 has two, and the pages go on at node 1 */
        {TWO, DOMAIN_TYPE_PV, 6 * MIB + 4096, true, true, {1024, 513}},
        /* a byte is a page */
        {TWO, DOMAIN_TYPE_PV, 1, true, true, {1, 0}},
        /* hvm: a GiB in 2 MiB, then whole GiBs: two of three go to node 0 */
        {TWO, DOMAIN_TYPE_HVM, 4 * GIB, true, true, {131072 + 524288, 131072 + 262144}},
        /* node 0 gives its one extent, then is passed over; it gives pages again */
        {SHORT, DOMAIN_TYPE_PV, 8 * MIB + 8192, true, false, {513, 1537}},
        /* its pages run out too */
        {SHORT, DOMAIN_TYPE_PV, 9 * MIB, true, false, {640, 1664}},
        /* all chunks of node 0 are single pages */
        {BROKEN, DOMAIN_TYPE_PV, 1 * GIB, true, false, {0, 262144}},
        {BROKEN, DOMAIN_TYPE_PV, 1 * MIB, true, true, {128, 128}},
        /* the first GiB breaks the one, the second is whole; no third */
        {BROKEN, DOMAIN_TYPE_HVM, 2 * GIB, true, false, {0, 524288}},
        {BROKEN, DOMAIN_TYPE_HVM, 2 * GIB + 2 * MIB, false, false, {0, 0}},
        /* pvh begins with GiBs: two whole ones, and nothing in 2 MiB */
        {BROKEN, DOMAIN_TYPE_PVH, 2 * GIB, true, false, {0, 524288}},
        {TWO, DOMAIN_TYPE_PVH, 1 * GIB + 2 * MIB, true, true, {262144, 512}},
        {TWO, DOMAIN_TYPE_HVM, 1 * GIB + 2 * MIB, true, true, {131072 + 512, 131072}},
        /* more than there is */
        {TWO, DOMAIN_TYPE_PV, 9 * GIB, false, false, {0, 0}},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_split(&cases[i]);
}

static void test_overhead(void **state)
{
    const PlacementRequest pv = {.vcpus = 3, .memory = 10 * MIB, .type = DOMAIN_TYPE_PV};
    const PlacementRequest pvh = {.vcpus = 2, .memory = 10 * MIB, .max_memory = 20 * MIB + 1, .type = DOMAIN_TYPE_PVH};

    assert_int_equal(oracle_overhead(&pv), 3 * MIB);
    assert_int_equal(oracle_overhead(&pvh), 2 * MIB + 21 * 4096);
}

/* Three nodes of two cores, two threads each; the third is far away. */
#define LINE                                                                     \
    "{'format':'numad-xen-host/1','threads_per_core':2,'nodes':["                \
    "{'size':1073741824,'free':1073741824,'cpus':'0-3','distances':[10,12,30]}," \
    "{'size':1073741824,'free':1073741824,'cpus':'4-7','distances':[12,10,20]}," \
    "{'size':1073741824,'free':1073741824,'cpus':'8-11','distances':[30,25,10]}]}"

typedef struct Wanted {
    uint32_t vcpus, threads;
    uint64_t memory;
    bool strict, found;
    OracleLevel level;
    const char *set;
} Wanted;

static void check_search(const Wanted *wanted)
{
    _cleanup_(place_case_done) PlaceCase place = case_of(LINE, DOMAIN_TYPE_PV, wanted->memory);
    _cleanup_(snapshot_unref_p) Snapshot *s = place_case_snapshot(&place);
    _cleanup_free_ char *set = NULL;
    OracleAnswer answer;
    Oracle o;

    place.request.vcpus = wanted->vcpus;
    place.request.threads_per_core = wanted->threads;
    place.request.strict = wanted->strict;
    assert_int_equal(oracle_init(&o, &place, s), 0);
    oracle_search(&o, &answer);
    assert_true(answer.clear);
    assert_int_equal(answer.found, wanted->found);
    assert_non_null(set = bitmap_to_text(&answer.set));
    if (answer.found) {
        assert_int_equal(answer.level, wanted->level);
        assert_string_equal(set, wanted->set);
    }
    bitmap_done(&answer.set);
    oracle_done(&o);
}

static void test_search(void **state)
{
    static const Wanted cases[] = {
        {1, 0, 512 * MIB, false, true, LEVEL_CORES, "0"},
        {3, 0, 512 * MIB, false, true, LEVEL_CORES, "0-1"},    /* cores, not threads */
        {3, 2, 512 * MIB, false, true, LEVEL_CORES, "0"},      /* threads as asked for */
        {7, 0, 512 * MIB, false, true, LEVEL_THREADS, "0-1"},  /* six cores are not enough */
        {13, 0, 512 * MIB, false, true, LEVEL_THREADS, "0-2"}, /* all CPUs there are */
        {13, 0, 4 * MIB, false, true, LEVEL_MEMORY, "0"},      /* two extents are not for three nodes */
        {13, 0, 512 * MIB, true, false, LEVEL_MEMORY, ""},
        {1, 0, 1025 * MIB, false, true, LEVEL_CORES, "0-1"},
        {1, 0, 1025 * MIB, true, false, LEVEL_CORES, ""},
        {1, 0, 3000 * MIB, false, true, LEVEL_CORES, "0-2"},
        {1, 0, 4000 * MIB, false, false, LEVEL_CORES, ""},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_search(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
