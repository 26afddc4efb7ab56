/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/seal.h"
#include "tests/unit/host.h"

#define HEAD "{\"format\":\"numad-xen-host/1\","
#define TWO(a, b)                                                                               \
    HEAD "\"nodes\":[{\"size\":1048576,\"free\":4096,\"cpus\":\"0\",\"distances\":[10," a "]}," \
         "{\"size\":1048576,\"free\":4096,\"cpus\":\"1\",\"distances\":[" b ",10]}]}"

static void test_distances(void **state)
{
    static const struct {
        const char *json;
        uint32_t there, back;
        int code; /* -1: no warning */
    } cases[] = {
        {TWO("21", "21"), 21, 21, -1},
        {TWO("20", "31"), 20, 31, WARNING_SLIT_ASYMMETRIC},
        {TWO("10", "10"), 10, 10, WARNING_SLIT_FLAT},
        {TWO("9", "9"), DISTANCE_NONE, DISTANCE_NONE, WARNING_SLIT_INVALID},
        {TWO("0", "21"), DISTANCE_NONE, 21, WARNING_SLIT_INVALID},
        {TWO("255", "255"), DISTANCE_NONE, DISTANCE_NONE, WARNING_DISTANCE_UNREACHABLE},
        {TWO("-1", "-1"), DISTANCE_NONE, DISTANCE_NONE, WARNING_DISTANCE_UNREACHABLE},
        {TWO("4294967295", "4294967295"), DISTANCE_NONE, DISTANCE_NONE, WARNING_DISTANCE_UNREACHABLE},
        {TWO("18446744073709551615", "255"), DISTANCE_NONE, DISTANCE_NONE, WARNING_DISTANCE_UNREACHABLE},
        {TWO("254", "254"), 254, 254, -1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(snapshot_unref_p) Snapshot *s = host(cases[i].json);

        assert_int_equal(snapshot_distance(s, 0, 1), cases[i].there);
        assert_int_equal(snapshot_distance(s, 1, 0), cases[i].back);
        assert_int_equal(snapshot_distance(s, 1, 1), 10);
        if (cases[i].code >= 0)
            assert_true(warning_list_has(&s->warnings, (WarningCode)cases[i].code));
        else
            assert_int_equal(s->warnings.n, 1); /* that the hypervisor lacks the patch */
    }
}

static void test_hole(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host(
        HEAD "\"nodes\":[{\"size\":8,\"free\":1,\"distances\":[10,-1,21]},{\"size\":4294967295,\"free\":4294967295,"
             "\"distances\":[-1,-1,-1]},{\"size\":8,\"free\":2,\"distances\":[21,3,10]}],"
             "\"topology\":[{\"cpu\":0,\"core\":0,\"socket\":0,\"node\":1},{\"cpu\":1,\"core\":0,\"socket\":0,"
             "\"node\":2}]}");

    assert_false(s->nodes[1].exists);
    assert_int_equal(s->nodes[1].kind, NODE_EMPTY);
    assert_int_equal(snapshot_distance(s, 0, 1), DISTANCE_NONE);
    assert_int_equal(snapshot_distance(s, 1, 1), DISTANCE_NONE);
    assert_int_equal(snapshot_distance(s, 0, 2), 21);
    assert_int_equal(s->total, 16); /* a hole's numbers are not counted */
    assert_int_equal(s->free, 3);
    assert_true(warning_list_has(&s->warnings, WARNING_NODE_OFFLINE));
    assert_true(warning_list_has(&s->warnings, WARNING_CPU_NODE_CONFLICT)); /* CPU 0 */
    assert_false(warning_list_has(&s->warnings, WARNING_SLIT_INVALID));     /* the 3 is the hole's */
    assert_int_equal(s->cpus[0].node, ROW_INVALID);
    assert_true(bitmap_isset(&s->online, 0));
}

static void test_cpu_sentinels_and_cores(void **state)
{
#define INV "4294967295"
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host(HEAD "\"nodes\":[{\"size\":8,\"free\":1},{\"size\":8,\"free\":1}],\"max_cpu_id\":7,\"topology\":["
                  "{\"cpu\":0,\"core\":0,\"socket\":0,\"node\":0},{\"cpu\":1,\"core\":0,\"socket\":0,\"node\":0},"
                  "{\"cpu\":2,\"core\":0,\"socket\":1,\"node\":0},{\"cpu\":3,\"core\":" INV ",\"socket\":" INV
                  ",\"node\":" INV "},"
                  "{\"cpu\":4,\"core\":7,\"socket\":1,\"node\":" INV "},"
                  "{\"cpu\":5,\"core\":" INV ",\"socket\":1,\"node\":1},{\"cpu\":6,\"core\":" INV
                  ",\"socket\":1,\"node\":1}]}");
    _cleanup_free_ char *online = bitmap_to_text(&s->online), *on_node = bitmap_to_text(&s->nodes[0].cpus);

    assert_string_equal(online, "0-2,4-6"); /* 3 is offline, 7 is not named */
    assert_string_equal(on_node, "0-2");    /* 4 is on no node */
    assert_int_equal(s->nodes[0].cores, 2); /* core 0 of two sockets */
    assert_int_equal(s->nodes[1].cores, 2); /* two CPUs of no known core */
    assert_int_equal(s->n_cpus, 8);
}

static void test_available(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host(
        HEAD
        "\"features\":[\"claims\"],\"nodes\":[{\"size\":100,\"free\":50},{\"size\":100,\"free\":50},{\"size\":10,"
        "\"free\":20}],"
        "\"node_extra\":[{\"low\":20,\"claimed\":5,\"dirty\":7,\"present\":90,\"free_chunks\":[1]},{\"low\":60}]}");

    assert_int_equal(s->nodes[0].available, 25);
    assert_int_equal(s->nodes[1].available, 0); /* never below */
    assert_int_equal(s->nodes[2].available, 20);
    assert_true(warning_list_has(&s->warnings, WARNING_FREE_ABOVE_SIZE));
    assert_int_equal(s->nodes[0].present, 90);
    assert_true(s->nodes[0].dirty == VALUE_UNKNOWN); /* no feature node-memory */
    assert_null(s->nodes[0].free_chunks);
    assert_true(s->nodes[1].claimed == VALUE_UNKNOWN);
}

static void test_same_topology(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *a = host(TWO("21", "21"));
    _cleanup_(snapshot_unref_p) Snapshot *b = host(TWO("21", "21"));
    _cleanup_(snapshot_unref_p) Snapshot *c = host(TWO("21", "22"));
    _cleanup_(snapshot_unref_p) Snapshot *d = host(
        HEAD
        "\"nodes\":[{\"size\":1048576,\"free\":0,\"cpus\":\"0\"},{\"size\":1048576,\"free\":4096,\"cpus\":\"1\"}]}");
    _cleanup_(snapshot_unref_p) Snapshot *e = host(
        HEAD "\"nodes\":[{\"size\":1048576,\"free\":1,\"cpus\":\"0\"},{\"size\":1048576,\"free\":1,\"cpus\":\"1\"}]}");

    assert_true(snapshot_same_topology(a, b));
    assert_false(snapshot_same_topology(a, c));
    assert_false(snapshot_same_topology(a, d));
    assert_true(snapshot_same_topology(d, e)); /* free memory is not topology */
}

static void test_features_bring_fields(void **state)
{
#define DOMAIN "\"nodes\":[{\"size\":100,\"free\":50}],\"domains\":[{\"domid\":1,\"node_pages\":[4]}]}"
    _cleanup_(snapshot_unref_p) Snapshot *with = host(HEAD "\"features\":[\"node-pages\"]," DOMAIN);
    _cleanup_(snapshot_unref_p) Snapshot *without = host(HEAD DOMAIN);

    assert_int_equal(with->domains[0].row.node_pages[0], 4);
    assert_null(without->domains[0].row.node_pages);
}

#define ONE_NODE "\"nodes\":[{\"size\":1048576,\"free\":0,\"cpus\":\"0-3\"}]"

static void test_dom0_view(void **state)
{
    static const struct {
        const char *json;
        const char *text; /* in the warning; NULL: there is none */
    } cases[] = {
        {HEAD ONE_NODE "}", NULL},
        {HEAD ONE_NODE ",\"dom0\":{\"nodes\":1,\"cpus\":4}}", NULL},
        {HEAD ONE_NODE ",\"dom0\":{\"nodes\":1,\"cpus\":2}}",
         "show 1 node and 2 CPUs, the host has 1 node and 4 CPUs:"},
        {HEAD ONE_NODE ",\"dom0\":{\"nodes\":2,\"cpus\":1}}",
         "show 2 nodes and 1 CPU, the host has 1 node and 4 CPUs:"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(snapshot_unref_p) Snapshot *s = host(cases[i].json);
        const Warning *found = NULL;

        for (size_t j = 0; j < s->warnings.n; j++)
            if (s->warnings.items[j].code == WARNING_DOM0_VIEW_DIFFERS)
                found = &s->warnings.items[j];
        assert_int_equal(found != NULL, cases[i].text != NULL);
        if (found)
            assert_non_null(strstr(found->text, cases[i].text));
    }
}

/* A host with so many domains that they are sealed in several steps, the highest domid first. */
static HostRows *many_rows(size_t n)
{
    HostRows *rows = host_rows_new();

    assert_non_null(rows);
    rows->backend = "sim";
    rows->features = FEATURE_BIT(FEATURE_NODE_PAGES);
    rows->n_nodes = 2;
    rows->nodes = new_array(2, sizeof(*rows->nodes));
    rows->n_cpus = 2;
    rows->max_cpu_id = 1;
    rows->cpus = new_array(2, sizeof(*rows->cpus));
    rows->n_domains = n;
    rows->domains = new_array(n, sizeof(*rows->domains));
    assert_true(rows->nodes && rows->cpus && rows->domains);
    for (nodeid_t i = 0; i < 2; i++) {
        node_row_init(&rows->nodes[i]);
        rows->nodes[i].size = rows->nodes[i].free = 1 << 20;
        rows->cpus[i] = (CpuRow){.core = i, .socket = i, .node = i};
    }
    for (size_t i = 0; i < n; i++) {
        DomainRow *domain = &rows->domains[i];

        *domain = (DomainRow){.domid = (domid_t)(n - 1 - i), .total_pages = 4, .n_vcpus = 1};
        domain->node_pages = new_array(2, sizeof(uint64_t));
        domain->vcpus = vcpu_rows_new(1);
        assert_true(domain->node_pages && domain->vcpus);
        domain->node_pages[0] = 3;
        domain->node_pages[1] = 1;
        domain->vcpus->rows[0].online = true;
        assert_int_equal(bitmap_set(&domain->vcpus->rows[0].hard, 0), 0);
    }
    return rows;
}

static void test_steps(void **state)
{
    const SealOptions options = {.generation = 7, .time_us = 8};
    _cleanup_(seal_free_p) Seal *seal = NULL;
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;
    unsigned steps = 1;
    int r;

    assert_int_equal(seal_new(many_rows(4096), &options, &seal), 0);
    while ((r = seal_step(seal, &s)) == 1) {
        assert_null(s);
        steps++;
    }
    assert_int_equal(r, 0);
    assert_in_range(steps, 6, 40);
    assert_int_equal(s->generation, 7);
    assert_int_equal(s->n_domains, 4096);
    for (size_t i = 0; i < s->n_domains; i++) {
        assert_int_equal(s->domains[i].row.domid, i);
        assert_true(s->domains[i].locality == 0.75);
    }
    assert_true(s->nodes[0].vcpus == 4096 && s->nodes[1].vcpus == 0);
    assert_int_equal(s->nodes[1].available, 1 << 20);
}

/* What was taken over and what was not is freed (the sanitizers look). */
static void test_dropped_half_way(void **state)
{
    const SealOptions options = {.generation = 1};

    int r = 1;

    for (unsigned steps = 0; r == 1; steps++) {
        _cleanup_(seal_free_p) Seal *seal = NULL;
        _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

        assert_int_equal(seal_new(many_rows(4096), &options, &seal), 0);
        for (unsigned i = 0; i < steps && r == 1; i++)
            r = seal_step(seal, &s);
        assert_in_range(steps, 0, 40);
    }
    assert_int_equal(r, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_cpu_sentinels_and_cores),
        cmocka_unit_test(test_available),
        cmocka_unit_test(test_same_topology),
        cmocka_unit_test(test_features_bring_fields),
        cmocka_unit_test(test_dom0_view),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_dropped_half_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
