/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/account.h"
#include "tests/unit/placing.h"

/* How memory is divided over a set of nodes: what Xen's domain builder does with that node affinity. */

#define HOST "{'format':'numad-xen-host/1','features':['free-chunks','node-memory'],'nodes':["
#define NODE(bytes, cpus) "{'size':17179869184,'free':" bytes ",'cpus':'" cpus "'}"
#define PV .type = DOMAIN_TYPE_PV
#define PVH .type = DOMAIN_TYPE_PVH
#define HVM .type = DOMAIN_TYPE_HVM

/* 8 GiB, 8 GiB and 3 MiB. */
#define PLAIN HOST NODE("8589934592", "0-3") "," NODE("8589934592", "4-7") "," NODE("3145728", "8-11") "]}"

static void test_types(void **state)
{
    static const Case cases[] = {
        /* extents of 2 MiB in turn, then pages; a page that is not whole is one */
        {{1, 1 * MIB, PV, .policy = POLICY_ANY}, "0=344K 1=340K 2=340K, 1x 0-11/0-11"},
        {{1, 6 * MIB + 4096, PV, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=4M 1=2052K, 1x 0-11/0-7"},
        {{1, 6 * MIB + 1, PV, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=4M 1=2048K, 1x 0-11/0-7"},
        /* pvh: GiBs from its first address on; one node more gets a whole one more */
        {{1, 3 * GIB, PVH, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=2048M 1=1024M, 1x 0-11/0-7"},
        {{1, 1 * GIB + 4 * MIB, PVH, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=1026M 1=2M, 1x 0-11/0-7"},
        /* hvm: the first GiB in 2 MiB */
        {{1, 3 * GIB, HVM, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=1536M 1=1536M, 1x 0-11/0-7"},
        {{1, 4 * GIB, HVM, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=2560M 1=1536M, 1x 0-11/0-7"},
        {{1, 4 * GIB, .type = DOMAIN_TYPE_UNKNOWN, .nodes = "0-1", .policy = POLICY_INTERLEAVE},
         "0=2560M 1=1536M, 1x 0-11/0-7"},
        {{1, 1023 * MIB, PVH, .nodes = "0-1", .policy = POLICY_INTERLEAVE}, "0=524800K 1=522752K, 1x 0-11/0-7"},
        /* node 2 gives its one extent and is passed over, and has its part of the pages again */
        {{1, 8 * MIB + 3 * 4096, PV, .policy = POLICY_ANY}, "0=4100K 1=2052K 2=2052K, 1x 0-11/0-11"},
    };

    check_cases(PLAIN, cases, ARRAY_SIZE(cases));
}

/* Node 0: 2 GiB in pages; node 1: two chunks of 1 GiB; node 2: 1 GiB in 2 MiB. */
#define CHUNKS(pages, large, huge) "{'free_chunks':[" pages ",0,0,0,0,0,0,0,0," large ",0,0,0,0,0,0,0,0," huge "]}"
#define BROKEN                                                                                                     \
    HOST NODE("2147483648", "0-3") "," NODE("2147483648", "4-7") "," NODE(                                         \
        "1073741824", "8-11") "],'node_extra':[" CHUNKS("524288", "0", "0") "," CHUNKS("0", "0",                   \
                                                                                       "2") "," CHUNKS("0", "512", \
                                                                                                       "0") "]}"

static void test_chunks(void **state)
{
    static const Case cases[] = {
        {{1, 1000 * MIB, PV}, "1=1000M, 1x 0-11/4-7"},
        {{1, 1000 * MIB, PV, .policy = POLICY_PACK}, "2=1000M, 1x 0-11/8-11"},
        {{1, 1 * GIB, PVH}, "1=1024M, 1x 0-11/4-7"},
        /* the first GiB breaks one of the two, and so one is left for the second */
        {{1, 2000 * MIB, HVM, .strict = true}, "1=2000M, 1x 4-7/4-7"},
        /* memory enough on node 0, in pieces too small: not strict, and said */
        {{1, 1000 * MIB, PV, .nodes = "0", .strict = true}, "nofit"},
        {{1, 1000 * MIB, PV, .nodes = "0"}, "1=1000M, 1x 0-11/4-7"},
        {{1, 2 * MIB - 4096, PV, .nodes = "0", .strict = true}, "0=2044K, 1x 0-3/0-3"},
        {{1, 4 * GIB + 512 * MIB, PV}, "0=1792M 1=1792M 2=1024M, 1x 0-11/0-11"},
    };

    check_cases(BROKEN, cases, ARRAY_SIZE(cases));
}

/* The memory that Xen needs beside; exactly all of a node can be had. */
static void test_overhead(void **state)
{
    static const Case cases[] = {
        {{4, 8 * GIB - 4 * MIB, PV}, "0=8188M, 4x 0-11/0-3"},
        {{4, 8 * GIB - 4 * MIB + 4096, PV, .strict = true}, "nofit"},
        {{1, 16 * GIB - 1 * MIB, PV, .nodes = "0-1", .strict = true}, "0=8192M 1=8191M, 1x 0-3/0-3"}, /* to the last */
        {{4, 4 * GIB, PVH, .max_memory = 1024 * GIB, .strict = true}, "nofit"}, /* 4 GiB and 4 MiB beside */
        {{3, 4 * GIB, PVH, .max_memory = 1023 * GIB, .strict = true}, "0=4096M, 3x 0-3/0-3"},
    };
    const PlacementRequest pv = {.vcpus = 3, .memory = 10 * MIB, .type = DOMAIN_TYPE_PV};
    const PlacementRequest pvh = {.vcpus = 2, .memory = 10 * MIB, .max_memory = 20 * MIB + 1, .type = DOMAIN_TYPE_PVH};

    assert_int_equal(placement_overhead(&pv), 3 * MIB);
    assert_int_equal(placement_overhead(&pvh), 2 * MIB + 21 * 4096);
    check_cases(PLAIN, cases, ARRAY_SIZE(cases));
}

/* What is promised or low may be what is in large chunks, so it is taken off them. */
static void test_extents(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = quoted_host(HOST NODE("2147483648", "0") "," NODE(
        "2147483648", "1") "],'node_extra':["
                           "{'low':1048576,'free_chunks':[256,0,0,0,0,0,0,0,0,511,0,0,0,0,0,0,0,"
                           "0,1]},{}]}");

    assert_int_equal(placement_extents(s, 0, 0), 2 * GIB - MIB - MIB);
    assert_int_equal(placement_extents(s, 0, 9), 2 * GIB - 2 * MIB - MIB);
    assert_int_equal(placement_extents(s, 0, 18), GIB - MIB);
    assert_int_equal(placement_extents(s, 0, 19), 0);
    assert_int_equal(placement_extents(s, 1, 18), 2 * GIB); /* not known */
}

/* Dirty memory is not to be had while others have clean: such a node comes after, but is used. */
static void test_dirty(void **state)
{
    static const char json[] =
        HOST NODE("4294967296", "0-1") "," NODE("2147483648", "2-3") "],'node_extra':["
                                                                     "{'dirty':4294967296},{'dirty':0}]}";
    static const Case cases[] = {
        {{1, 1 * GIB, PV}, "1=1024M, 1x 0-3/2-3"},
        {{1, 3 * GIB, PV}, "0=3072M, 1x 0-3/0-1"}, /* one node all the same */
        {{1, 1 * MIB, PV}, "0=1M, 1x 0-3/0-1"},    /* single pages are scrubbed as they are taken */
    };

    check_cases(json, cases, ARRAY_SIZE(cases));
}

/* Node by node: together nodes 2 and 3 have enough that is clean, but each gives half. */
static void test_dirty_parts(void **state)
{
    static const char json[] =
        HOST NODE("2147483648", "0-1") "," NODE("2147483648", "2-3") "," NODE("2147483648", "4-5") "," NODE(
            "2147483648", "6-7") "],'node_extra':[{},{},{'dirty':1873805312},{'dirty':813694976}]}";
    static const Case cases[] = {
        {{4, 1 * GIB, HVM}, "0=512M 1=512M, 4x 0-7/0-3"},
        {{4, 1 * GIB, HVM, .nodes = "2-3"}, "2=512M 3=512M, 4x 0-7/4-7"}, /* not strict: said, not refused */
        {{4, 1 * GIB, HVM, .nodes = "2-3", .strict = true}, "nofit"},
        {{4, 500 * MIB, HVM, .nodes = "2-3", .strict = true}, "2=250M 3=250M, 2x 4-5/4-5, 2x 6-7/6-7"},
        {{1, 1 * GIB, PV, .nodes = "2", .strict = true}, "nofit"},
        {{1, 256 * MIB, PV, .nodes = "2", .strict = true}, "2=256M, 1x 4-5/4-5"},
        {{1, 1 * MIB, PV, .nodes = "2", .strict = true}, "2=1M, 1x 4-5/4-5"}, /* single pages are scrubbed as taken */
    };

    check_cases(json, cases, ARRAY_SIZE(cases));
}

/* 1.4 GiB of node 0 are promised. Xen does not know, and takes as much of it as of the others. */
static Snapshot *promised_host(const char *json, const PlacedMemory *promised, size_t n)
{
    const AccountOptions options = {.generation = 2, .time_us = -1};
    const PlacementRequest request = {.vcpus = 1, .pool = ROW_NO_POOL};
    const Placement placement = {.memory = (PlacedMemory *)promised, .n_memory = n};
    const ReservationInfo info = {.token = "00000000000000000000000000000001", .expires_us = UINT64_MAX};
    _cleanup_(snapshot_unref_p) Snapshot *base = quoted_host(json);
    Ledger *ledger = ledger_new();
    Snapshot *s = NULL;

    assert_non_null(ledger);
    assert_non_null(ledger->items = calloc(1, sizeof(*ledger->items)));
    assert_non_null(ledger->items[0] = reservation_new(&request, &placement, &info));
    ledger->n = 1;
    assert_int_equal(account_snapshot(base, NULL, ledger, &options, &s), 0);
    ledger_unref(ledger);
    return s;
}

static void check_promised(const char *json, const Case *cases, size_t n)
{
    const PlacedMemory promised = {.node = 0, .bytes = 1434 * MIB};
    _cleanup_(snapshot_unref_p) Snapshot *s = promised_host(json, &promised, 1);

    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *answer = answer_on(s, &cases[i].ask);

        if (strcmp(answer, cases[i].answer) != 0)
            fail_msg("case %zu: \"%s\", wanted \"%s\"", i, answer, cases[i].answer);
    }
}

#define TWO_GIB(cpus) NODE("2147483648", cpus)
static void test_promised(void **state)
{
    static const char two[] = HOST TWO_GIB("0-3") "," TWO_GIB("4-7") "]}";
    static const char four[] = HOST TWO_GIB("0-3") "," TWO_GIB("4-7") "," TWO_GIB("8-11") "," TWO_GIB("12-15") "]}";
    static const Case of_two[] = {
        {{1, 3 * GIB, PV}, "nofit"},    /* 1536 MiB of node 0, where 614 are available */
        {{1, 2560 * MIB, PV}, "nofit"}, /* so would be 1280, though 2662 are available */
        {{1, 2560 * MIB, PVH}, "nofit"},
        {{1, 2560 * MIB, PV, .policy = POLICY_ANY}, "nofit"},
        {{1, 2560 * MIB, PV, .policy = POLICY_INTERLEAVE}, "nofit"},
        {{1, 2560 * MIB, PV, .nodes = "0-1", .strict = true}, "nofit"},
        {{1, 1228 * MIB, PV, .policy = POLICY_INTERLEAVE}, "0=614M 1=614M, 1x 0-7/0-7"},
        {{1, 1230 * MIB, PV, .policy = POLICY_INTERLEAVE}, "1=1230M, 1x 0-7/4-7"}, /* 616 of node 0 */
        {{1, 1224 * MIB, PV, .policy = POLICY_INTERLEAVE}, "0=612M 1=612M, 1x 0-7/0-7"},
        {{1, 614 * MIB - 1 * MIB, PV, .nodes = "0", .strict = true}, "0=613M, 1x 0-3/0-3"}, /* alone: all of it */
    };
    static const Case of_four[] = {
        {{1, 3 * GIB, PV}, "1=1536M 2=1536M, 1x 0-15/4-11"},
        {{1, 5 * GIB, PV}, "1=1708M 2=1706M 3=1706M, 1x 0-15/4-15"},
        {{1, 6 * GIB + 256 * MIB, PV}, "nofit"}, /* 1600 of each */
        {{1, 3 * GIB, PV, .nodes = "0-1", .strict = true}, "nofit"},
        {{1, 3 * GIB, PV, .nodes = "0-1"}, "1=1536M 2=1536M, 1x 0-15/4-11"},
        {{1, 3 * GIB, PV, .policy = POLICY_INTERLEAVE}, "1=1024M 2=1024M 3=1024M, 1x 0-15/4-15"},
        {{1, 2 * GIB, PV, .policy = POLICY_INTERLEAVE}, "0=512M 1=512M 2=512M 3=512M, 1x 0-15/0-15"},
        {{1, 2 * GIB, PV, .policy = POLICY_ANY}, "0=512M 1=512M 2=512M 3=512M, 1x 0-15/0-15"},
    };

    check_promised(two, of_two, ARRAY_SIZE(of_two));
    check_promised(four, of_four, ARRAY_SIZE(of_four));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),    cmocka_unit_test(test_chunks), cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_extents),  cmocka_unit_test(test_dirty),  cmocka_unit_test(test_dirty_parts),
        cmocka_unit_test(test_promised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
