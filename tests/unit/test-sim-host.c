/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/sim.h"

/*
 * Where Xen puts a domain's memory. Hosts are written as MiB free on each node; overheads are told where they matter:
 * 1 MiB a vCPU, and 4 KiB a MiB of maximum memory for what is not pv.
 */

/* Free MiB as bytes, for descriptions. */
#define F0 "0"
#define F64 "67108864"
#define F100 "104857600"
#define F128 "134217728"
#define F448 "469762048"
#define F576 "603979776"
#define F1024 "1073741824"
#define F2048 "2147483648"
#define F4096 "4294967296"
#define F10240 "10737418240"
#define SIZE "17179869184"
#define N(free) "{'size':" SIZE ",'free':" free "}"
#define FOUR(a, b, c, d, more)                                                                                         \
    HEAD "'features':['node-pages','node-memory','free-chunks']," more "'nodes':[" N(a) "," N(b) "," N(c) "," N(d) "]" \
                                                                                                                   "}"
#define LOW(low) "'node_extra':[{'low':" low "}],"
#define DIRTY(dirty) "'node_extra':[{},{'dirty':" dirty "}]," /* of node 1 */

typedef struct Case {
    const char *what, *host;
    Start start;
    int error;
    uint64_t mib[4]; /* of the domain, by node */
} Case;

static const Case cases[] = {
    {"all on its node", FOUR(F4096, F4096, F4096, F4096, ""), {DOMAIN_TYPE_PV, 600, 0, "2", 1}, 0, {0, 0, 600, 0}},
    {"2 MiB each in turn, beginning with the first",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_PV, 1002, 0, "1-2", 1},
     0,
     {0, 502, 500, 0}},
    {"no preference is all nodes",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_PV, 400, 0, NULL, 1},
     0,
     {100, 100, 100, 100}},
    {"a node that has no more is passed over",
     FOUR(F100, F4096, F4096, F0, ""),
     {DOMAIN_TYPE_PV, 1000, 0, "0-2", 1},
     0,
     {100, 450, 450, 0}},
    {"the low reserve stays: 128 MiB spill while node 0 has 448 free",
     FOUR(F576, F2048, F2048, F2048, LOW(F448)),
     {DOMAIN_TYPE_PV, 256, 0, "0", 1},
     0,
     {128, 128, 0, 0}},
    {"what spills goes to the lowest number, not to the nearest",
     FOUR(F2048, F2048, F2048, F128, ""),
     {DOMAIN_TYPE_PV, 428, 0, "3", 1},
     0,
     {300, 0, 0, 128}},
    {"and on to the next when that is full",
     FOUR(F64, F100, F2048, F128, ""),
     {DOMAIN_TYPE_PV, 428, 0, "3", 1},
     0,
     {64, 100, 136, 128}},
    {"the low reserve is taken when nothing else is left",
     FOUR(F576, F64, F0, F0, LOW(F448)),
     {DOMAIN_TYPE_PV, 300, 0, "1", 1},
     0,
     {236, 64, 0, 0}},
    {"pvh has a whole GiB each: an odd number of them leaves one more on the first",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_PVH, 3072, 0, "0-1", 1},
     0,
     {2048, 1024, 0, 0}},
    {"below a GiB it has 2 MiB",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_PVH, 1022, 0, "2-3", 1},
     0,
     {0, 0, 512, 510}},
    {"hvm has its first GiB in 2 MiB",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_HVM, 4096, 0, "2-3", 1},
     0,
     {0, 0, 2560, 1536}},
    {"and so has what type nobody tells",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_UNKNOWN, 4096, 0, "2-3", 1},
     0,
     {0, 0, 2560, 1536}},
    {"pv is even", FOUR(F4096, F4096, F4096, F4096, ""), {DOMAIN_TYPE_PV, 4096, 0, "0-1", 1}, 0, {2048, 2048, 0, 0}},
    {"the tail of 2 MiB goes on after the last GiB",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_HVM, 2050, 0, "0-1", 1},
     0,
     {1536, 514, 0, 0}},
    {"the same of pvh",
     FOUR(F4096, F4096, F4096, F4096, ""),
     {DOMAIN_TYPE_PVH, 3074, 0, "0-1", 1},
     0,
     {2048, 1026, 0, 0}},
    {"what is scrubbed elsewhere before what is dirty at home",
     FOUR(F4096, F4096, F4096, F4096, DIRTY(F4096)),
     {DOMAIN_TYPE_PV, 1400, 0, "1", 1},
     0,
     {1400, 0, 0, 0}},
    {"single pages are taken dirty",
     FOUR(F4096, F4096, F4096, F4096, DIRTY(F4096)),
     {DOMAIN_TYPE_PV, 1, 0, "1", 1},
     0,
     {0, 1, 0, 0}},
    {"what is dirty at home before the low reserve",
     FOUR(F1024, F1024, F0, F0, DIRTY(F1024)),
     {DOMAIN_TYPE_PV, 1026, 0, "1", 1},
     0,
     {1024, 2, 0, 0}},
    {"a GiB elsewhere before 2 MiB at home",
     FOUR(F10240, F4096, "1610612736", F4096, ""),
     {DOMAIN_TYPE_PVH, 2048, 0, "2", 1},
     0,
     {1024, 0, 1024, 0}},
    {"without room for a GiB anywhere, 2 MiB at home",
     FOUR("536870912", "536870912", "1610612736", "536870912", ""),
     {DOMAIN_TYPE_PVH, 1500, 0, "2", 1},
     0,
     {0, 0, 1500, 0}},
    {"more than there is", FOUR(F100, F100, F100, F100, ""), {DOMAIN_TYPE_PV, 401, 0, "2", 1}, SIM_E_CLAIM, {0}},
    {"no room for what Xen needs",
     FOUR(F100, F100, F100, F100, ""),
     {DOMAIN_TYPE_PV, 398, 0, "2", 3},
     SIM_E_NO_MEMORY,
     {0}},
    {"just room", FOUR(F100, F100, F100, F100, ""), {DOMAIN_TYPE_PV, 398, 0, "2", 2}, 0, {100, 100, 100, 98}},
    {"other nodes do not exist", FOUR(F100, F100, F100, F100, ""), {DOMAIN_TYPE_PV, 10, 0, "7", 1}, SIM_E_NO_NODE, {0}},
    {"those that do not exist are left out",
     FOUR(F100, F100, F100, F100, ""),
     {DOMAIN_TYPE_PV, 10, 0, "2,7", 1},
     0,
     {0, 0, 10, 0}},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const Case *c = &cases[i];
        _cleanup_(sim_host_free_p) SimHost *sim = sim_of(c->host);
        uint64_t before[4];
        domid_t domid = 0;
        int r;

        for (nodeid_t node = 0; node < 4; node++)
            before[node] = sim_host_rows(sim)->nodes[node].free;
        r = start(sim, c->start, &domid);
        if (r != c->error)
            fail_msg("%s: %d, not %d", c->what, r, c->error);
        for (nodeid_t node = 0; node < 4; node++) {
            uint64_t pages = r == 0 ? sim_host_pages(sim, domid)[node] : 0;
            uint64_t overhead = r == 0 ? sim_host_overhead(sim, domid)[node] : 0;

            if (pages != c->mib[node] * PAGES_PER_MIB)
                fail_msg("%s: node %u has %.3f MiB, not %" PRIu64, c->what, node, (double)pages / PAGES_PER_MIB,
                         c->mib[node]);
            if (sim_host_rows(sim)->nodes[node].free + (pages + overhead) * 4096 != before[node])
                fail_msg("%s: node %u: what is free and what is held are not what was free", c->what, node);
        }
        if (r != 0)
            assert_int_equal(sim_host_rows(sim)->n_domains, 0);
    }
}

static void test_affinity_of_vcpus(void **state)
{
    static const struct {
        const char *hard, *soft, *nodes;
    } sets[] = {
        {"0-7", "2-3", "1"},       {"2-5", "0-7", "1-2"}, {"0-1", "6-7", "0"}, /* they do not meet: the hard ones */
        {"0-7", "0-7", "0-3"},     {"9", "9", "0-3"},                          /* no such CPU */
        {"0-7", "1,4,6", "0,2-3"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
        _cleanup_(sim_host_free_p) SimHost *sim =
            sim_of(HEAD "'nodes':[{'size':" SIZE ",'free':" F1024 ",'cpus':'0-1'},{'size':" SIZE ",'free':" F1024
                        ",'cpus':'2-3'},{'size':" SIZE ",'free':" F1024 ",'cpus':'4-5'},{'size':" SIZE ",'free':" F1024
                        ",'cpus':'6-7'}]}");
        VcpuRow vcpu = {0};
        SimDomain domain = {
            .type = DOMAIN_TYPE_PV, .pool = ROW_NO_POOL, .memory = MIB, .vcpus = 3, .sets = &vcpu, .n_sets = 1};
        _cleanup_free_ char *text = NULL;
        domid_t domid = 0;

        assert_int_equal(bitmap_parse(&vcpu.hard, sets[i].hard, 63), 0);
        assert_int_equal(bitmap_parse(&vcpu.soft, sets[i].soft, 63), 0);
        assert_int_equal(sim_host_create(sim, &domain, &domid), 0);
        text = bitmap_to_text(&row_of(sim, domid)->node_affinity);
        assert_string_equal(text, sets[i].nodes);
        assert_int_equal(row_of(sim, domid)->vcpus->n, 3);
        assert_true(row_of(sim, domid)->vcpus->rows[2].online);
        bitmap_done(&vcpu.hard);
        bitmap_done(&vcpu.soft);
    }
}

static void test_overhead(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim = sim_of(FOUR(F4096, F4096, F4096, F4096, ""));
    domid_t domid = 0;

    (void)state;
    /* hvm: 2 MiB of vCPUs and 4 KiB for each of 6144 MiB, 26 MiB: in proportion to 2560 and 1536 MiB */
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_HVM, 4096, 6144, "0-1", 2}, &domid), 0);
    assert_int_equal(sim_host_overhead(sim, domid)[0] + sim_host_overhead(sim, domid)[1], 26 * 256);
    assert_int_equal(sim_host_overhead(sim, domid)[0], 26 * 256 * 5 / 8);
    assert_int_equal(row_of(sim, domid)->total_pages, 4096 * 256);
    assert_int_equal(row_of(sim, domid)->max_pages, 6144 * 256);
}

/* A claim is staked, shrinks, and binds others. */
static void test_claims(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim = sim_of(
        HEAD
        "'memory':{'total':4294967296,'free':1073741824,'claimed':0},'nodes':[" N("536870912") "," N("536870912") "]}");
    const SimDomain large = {.type = DOMAIN_TYPE_PV, .pool = ROW_NO_POOL, .memory = 600 * MIB, .vcpus = 1};
    domid_t first = 0, second = 0;

    (void)state;
    assert_int_equal(sim_host_begin(sim, &large, &first), 0);
    assert_int_equal(row_of(sim, first)->claimed_pages, 600 * 256);
    assert_int_equal(sim_host_rows(sim)->claimed, 600 * MIB);
    assert_int_equal(sim_host_rows(sim)->free, 1024 * MIB);
    assert_int_equal(sim_host_build(sim, first, 101 * MIB), SIM_E_UNFINISHED);
    assert_int_equal(row_of(sim, first)->total_pages, 100 * 256); /* whole extents */
    assert_int_equal(row_of(sim, first)->claimed_pages, 500 * 256);
    assert_int_equal(sim_host_rows(sim)->claimed, 500 * MIB);
    assert_int_equal(sim_host_rows(sim)->free, 924 * MIB);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 425, 0, NULL, 1}, &second), SIM_E_CLAIM);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 424, 0, NULL, 1}, &second), SIM_E_NO_MEMORY); /* its overhead */
    assert_int_equal(sim_host_rows(sim)->n_domains, 1);
    assert_int_equal(start(sim, (Start){DOMAIN_TYPE_PV, 423, 0, NULL, 1}, &second), 0);
    assert_int_equal(sim_host_balloon(sim, first, 100 * MIB), SIM_E_UNFINISHED);
    assert_int_equal(sim_host_build(sim, first, UINT64_MAX), SIM_E_NO_MEMORY); /* 500 MiB are left, not its overhead */
    assert_null(row_of(sim, first));
    assert_int_equal(sim_host_rows(sim)->claimed, 0);
    assert_int_equal(sim_host_begin(sim, &large, &first), 0);
    assert_int_equal(sim_host_destroy(sim, first), 0);
    assert_int_equal(sim_host_rows(sim)->claimed, 0);
    assert_int_equal(sim_host_destroy(sim, first), SIM_E_UNKNOWN_DOMAIN);
}

static void test_domids(void **state)
{
    _cleanup_(sim_host_free_p) SimHost *sim = sim_of(MORE("'domains':[{'domid':0},{'domid':1},{'domid':32750}]"));
    const SimDomain small = {.type = DOMAIN_TYPE_PV, .pool = ROW_NO_POOL, .memory = 4096, .vcpus = 0};
    domid_t domid = 0;

    (void)state;
    assert_int_equal(sim_host_begin(sim, &small, &domid), 0);
    assert_int_equal(domid, 32751);
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    assert_int_equal(sim_host_begin(sim, &small, &domid), 0);
    assert_int_equal(domid, 2); /* after the highest, and not 0 or 1; the last one is not given again */
    assert_int_equal(sim_host_destroy(sim, domid), 0);
    assert_int_equal(sim_host_begin(sim, &small, &domid), 0);
    assert_int_equal(domid, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),    cmocka_unit_test(test_affinity_of_vcpus),
        cmocka_unit_test(test_overhead), cmocka_unit_test(test_claims),
        cmocka_unit_test(test_domids),
    };

    return cmocka_run_group_tests_name("sim-host", tests, NULL, NULL);
}
