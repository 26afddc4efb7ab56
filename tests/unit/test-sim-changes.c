/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/sim.h"

/* Memory of a simulated host that comes and goes: domains that end, balloons, what somebody else takes. */

#define SIZE "8589934592"
#define GIB_FREE "{'size':" SIZE ",'free':1073741824}"
#define HALF_FREE "{'size':" SIZE ",'free':536870912}"
#define FEATURES "'features':['node-pages','node-memory','free-chunks'],"

static const uint64_t *chunks(const SimHost *sim, nodeid_t node)
{
    return sim_host_rows(sim)->nodes[node].free_chunks;
}

static uint64_t dirty_mib(const SimHost *sim, nodeid_t node)
{
    return sim_host_rows(sim)->nodes[node].dirty / MIB;
}

/* A GiB is split to 2 MiB for a domain, and whole again when it is gone; chunks of the host's own stay apart. */
static void test_chunks(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim =
        sim_of(HEAD FEATURES "'node_extra':[{'free_chunks':[0,0,0,0,0,0,0,0,0,4,0,0,0,0,0,0,0,0,1]}],"
                             "'nodes':[{'size':" SIZE ",'free':1082130432}]}");
    domid_t first = 0, second = 0, third = 0;

    (void)state;
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 12, 0, "0", 1}, &first), 0); /* 6 of 2 MiB, and 1 MiB beside */
    assert_int_equal(chunks(sim, 0)[18], 0);
    assert_int_equal(chunks(sim, 0)[17], 1);
    assert_int_equal(chunks(sim, 0)[8], 1);
    assert_int_equal(chunks(sim, 0)[9] + 2 * chunks(sim, 0)[10] + 4 * chunks(sim, 0)[11], 512 - 2 - 1 - 504);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 3, 0, "0", 1}, &second), 0);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 6, 0, "0", 1}, &third), 0);
    assert_int_equal(sim_host_destroy(sim, first), 0);
    assert_int_equal(chunks(sim, 0)[18], 0);
    assert_int_equal(sim_host_destroy(sim, third), 0);
    assert_int_equal(sim_host_destroy(sim, second), 0);
    assert_int_equal(chunks(sim, 0)[18], 1);
    assert_int_equal(chunks(sim, 0)[9], 4);
    for (unsigned i = 0; i < 18; i++)
        assert_int_equal(chunks(sim, 0)[i], i == 9 ? 4 : 0);
}

/* 1 GiB extents where there are some, as stock Xen: also on another node. */
static void test_fragmented(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim =
        sim_of(HEAD FEATURES "'node_extra':[{'free_chunks':[0,0,0,0,0,0,0,0,0,2048]},"
                             "{'free_chunks':[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4]}],"
                             "'nodes':[{'size':" SIZE ",'free':4294967296},{'size':" SIZE ",'free':4294967296}]}");
    domid_t domid = 0;

    (void)state;
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PVH, 2000, 0, "0", 1}, &domid), 0);
    assert_int_equal(sim_host_pages(sim, domid)[0], 976 * PAGES_PER_MIB);
    assert_int_equal(sim_host_pages(sim, domid)[1], 1024 * PAGES_PER_MIB);
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    sim_host_scrub(sim, 2 * GIB);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_HVM, 2000, 0, "0", 1}, &domid), 0);
    assert_int_equal(sim_host_pages(sim, domid)[0], 2000 * PAGES_PER_MIB);
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    sim_host_scrub(sim, 2 * GIB);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 2000, 0, "0", 1}, &domid), 0);
    assert_int_equal(sim_host_pages(sim, domid)[0], 2000 * PAGES_PER_MIB);
}

/* What a domain leaves is dirty until it is scrubbed; until then the next one's memory is elsewhere. */
static void test_dirty(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim =
        sim_of(HEAD FEATURES "'node_extra':[{'dirty':104857600},{'dirty':0}],'memory':{'free':2147483648},"
                             "'nodes':[" GIB_FREE "," GIB_FREE "]}");
    domid_t domid = 0, other = 0;

    (void)state;
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 599, 0, "0", 1}, &domid), 0);
    assert_int_equal(dirty_mib(sim, 0), 100); /* there was enough that is clean */
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 383, 0, "0", 1}, &other), 0);
    assert_int_equal(sim_host_pages(sim, other)[0], (324 + 1) * PAGES_PER_MIB);
    assert_int_equal(sim_host_pages(sim, other)[1], 58 * PAGES_PER_MIB);
    assert_int_equal(dirty_mib(sim, 0), 98); /* two are single pages: its last MiB, and what Xen needs beside */
    assert_int_equal(sim_host_rows(sim)->free, (98 + 1024 - 58) * MIB);
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    assert_int_equal(dirty_mib(sim, 0), 98 + 600);
    assert_int_equal(dirty_mib(sim, 1), 0);
    assert_int_equal(sim_host_rows(sim)->free, (98 + 600 + 1024 - 58) * MIB);
    sim_host_scrub(sim, 500 * MIB);
    assert_int_equal(dirty_mib(sim, 0), 198);
    sim_host_scrub(sim, 500 * MIB);
    assert_int_equal(dirty_mib(sim, 0), 98); /* what the host had stays */
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 1000, 0, "0", 1}, &domid), 0);
    assert_int_equal(sim_host_pages(sim, domid)[0], 600 * PAGES_PER_MIB);
    assert_int_equal(sim_host_pages(sim, domid)[1], 400 * PAGES_PER_MIB);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 600, 0, "0", 1}, &domid), 0); /* now dirty at home, too */
    assert_int_equal(sim_host_pages(sim, domid)[0], 36 * PAGES_PER_MIB);
}

/* A host that does not tell what is dirty has some all the same. */
static void test_untold_dirty(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim = sim_of(HEAD "'nodes':[" GIB_FREE "," GIB_FREE "]}");
    domid_t domid = 0;

    (void)state;
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 1000, 0, "1", 1}, &domid), 0);
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    assert_int_equal(sim_host_rows(sim)->nodes[1].dirty, VALUE_UNKNOWN);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 1000, 0, "1", 1}, &domid), 0);
    assert_int_equal(sim_host_pages(sim, domid)[0], (1000 - 22) * PAGES_PER_MIB);
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    sim_host_scrub(sim, GIB);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 1000, 0, "1", 1}, &domid), 0);
    assert_int_equal(sim_host_pages(sim, domid)[1], 1000 * PAGES_PER_MIB);
}

static void test_balloon(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim =
        sim_of(HEAD FEATURES "'nodes':[" GIB_FREE "," HALF_FREE "," HALF_FREE "]}");
    domid_t domid = 0, claiming = 0;
    const SimDomain claim = {.type = DOMAIN_TYPE_PV, .pool = ROW_NO_POOL, .memory = 1280 * MIB, .vcpus = 1};

    (void)state;
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PVH, 256, 1024, "0-1", 0}, &domid), 0);
    assert_int_equal(sim_host_pages(sim, domid)[0], 128 * PAGES_PER_MIB);
    assert_int_equal(sim_host_balloon(sim, domid, 64 * MIB), 0); /* from the highest node downward */
    assert_int_equal(sim_host_pages(sim, domid)[0], 64 * PAGES_PER_MIB);
    assert_int_equal(sim_host_pages(sim, domid)[1], 0);
    assert_int_equal(row_of(sim, domid)->total_pages, 64 * PAGES_PER_MIB);
    assert_int_equal(row_of(sim, domid)->node_pages[0], 64 * PAGES_PER_MIB);
    assert_int_equal(sim_host_balloon(sim, domid, 66 * MIB), 0); /* its turn is after the last one's */
    assert_int_equal(sim_host_pages(sim, domid)[0], 66 * PAGES_PER_MIB);
    assert_int_equal(sim_host_balloon(sim, domid, 1025 * MIB), SIM_E_LIMIT);
    assert_int_equal(sim_host_balloon(sim, domid, 4095), SIM_E_LIMIT);
    assert_int_equal(sim_host_balloon(sim, domid + 1, MIB), SIM_E_UNKNOWN_DOMAIN);
    assert_int_equal(sim_host_begin(sim, &claim, &claiming), 0);
    assert_int_equal(sim_host_balloon(sim, domid, 1024 * MIB), SIM_E_NO_MEMORY); /* the claim is left alone */
    assert_int_equal(row_of(sim, domid)->total_pages, (2048 - 5 - 1280) * PAGES_PER_MIB);
    assert_int_equal(sim_host_destroy(sim, claiming), 0);
    assert_int_equal(sim_host_balloon(sim, domid, 1024 * MIB), 0);
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    assert_int_equal(free_mib(sim, 0) + free_mib(sim, 1) + free_mib(sim, 2), 2048);
}

/* A domain that the description has is known by its pages; without them Xen has striped it. */
static void test_older_domains(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim =
        sim_of(HEAD FEATURES "'nodes':[" GIB_FREE "," GIB_FREE "],'domains':[{'domid':1,'max_pages':65536,"
                             "'node_pages':[0,25600]}]}");
    _cleanup_(sim_host_free_p) SimHost *stock = sim_of(
        HEAD "'nodes':[" GIB_FREE "," GIB_FREE "],'domains':[{'domid':1,'total_pages':51200,'node_affinity':'1'},"
             "{'domid':2,'total_pages':51200}]}");

    (void)state;
    assert_int_equal(sim_host_balloon(sim, 1, 200 * MIB), 0);
    assert_int_equal(sim_host_pages(sim, 1)[0], 50 * PAGES_PER_MIB);
    assert_int_equal(sim_host_pages(sim, 1)[1], 150 * PAGES_PER_MIB);
    assert_int_equal(sim_host_destroy(sim, 1), 0);
    assert_int_equal(free_mib(sim, 0), 1024);
    assert_int_equal(free_mib(sim, 1), 1124);
    assert_int_equal(sim_host_destroy(stock, 1), 0);
    assert_int_equal(free_mib(stock, 1), 1224);
    assert_int_equal(sim_host_destroy(stock, 2), 0);
    assert_int_equal(free_mib(stock, 0), 1124);
    assert_int_equal(free_mib(stock, 1), 1324);
}

static void test_take_and_give(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim = sim_of(
        HEAD FEATURES "'node_extra':[{'low':536870912,'free_chunks':[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]}],'nodes':["
                      "{'size':2147483648,'free':1073741824},{'size':4294967295,'free':0}]}");
    const NodeRow *node = &sim_host_rows(sim)->nodes[0];

    (void)state;
    assert_int_equal(sim_host_take(sim, 0, 600 * MIB), 0);
    assert_int_equal(node->free, 424 * MIB);
    assert_int_equal(node->low, 424 * MIB); /* last */
    assert_int_equal(sim_host_take(sim, 0, 425 * MIB), SIM_E_NO_MEMORY);
    assert_int_equal(sim_host_take(sim, 1, MIB), SIM_E_NO_NODE);
    assert_int_equal(sim_host_take(sim, 2, MIB), SIM_E_NO_NODE);
    assert_int_equal(sim_host_give(sim, 0, 600 * MIB), 0);
    assert_int_equal(node->free, 1024 * MIB);
    assert_int_equal(node->low, 512 * MIB);
    assert_int_equal(node->free_chunks[18], 1);
    assert_int_equal(sim_host_give(sim, 0, 1025 * MIB), SIM_E_NO_MEMORY);
    assert_int_equal(sim_host_give(sim, 0, 1024 * MIB), 0);
    assert_int_equal(node->free, 2048 * MIB);
    assert_int_equal(sim_host_give(sim, 1, MIB), SIM_E_NO_NODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),        cmocka_unit_test(test_fragmented), cmocka_unit_test(test_dirty),
        cmocka_unit_test(test_untold_dirty),  cmocka_unit_test(test_balloon),    cmocka_unit_test(test_older_domains),
        cmocka_unit_test(test_take_and_give),
    };

    return cmocka_run_group_tests_name("sim-changes", tests, NULL, NULL);
}
