/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/fake-xen.h"
#include "tests/unit/unit.h"

/* XENMEM_numa_heap: there or not, older and newer than this program, in many batches, and lying. */

static void test_missing(void **state)
{
    static const int errors[] = {-ENOSYS, -EOPNOTSUPP};

    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);

        fake->errors[FAKE_HEAP_QUERY] = errors[i];
        for (int generation = 0; generation < 2; generation++) {
            _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, true);

            assert_int_equal(rows->features, 0);
            assert_null(rows->domains[0].node_pages);
            assert_int_equal(rows->domains[0].total_pages, 30);
            assert_int_equal(rows->nodes[0].present, VALUE_UNKNOWN);
            assert_int_equal(rows->nodes[0].dirty, VALUE_UNKNOWN);
            assert_int_equal(rows->nodes[0].free, 1 << 30); /* numainfo's */
            assert_int_equal(rows->nodes[0].low, 512 << 20);
            assert_int_equal(rows->warnings.n, 1);
            assert_true(warning_list_has(&rows->warnings, WARNING_PATCH_MISSING));
        }
        assert_int_equal(source->errors[ERROR_XEN], 0); /* it is no fault */
    }
}

static void test_not_permitted(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL, *later = NULL;

    fake->errors[FAKE_HEAP_QUERY] = -EPERM;
    rows = fake_xen_collect(source, true);
    assert_true(warning_list_has(&rows->warnings, WARNING_NOT_PERMITTED));
    assert_false(warning_list_has(&rows->warnings, WARNING_PATCH_MISSING));
    assert_null(rows->domains[0].node_pages);
    assert_int_equal(source->errors[ERROR_XEN], 1);
    fake->errors[FAKE_HEAP_QUERY] = 0; /* the policy is changed: no restart is needed */
    later = fake_xen_collect(source, false);
    assert_int_equal(later->domains[0].node_pages[1], 20);
    assert_int_equal(later->warnings.n, 0);
}

/* Pages without the memory of nodes, and the reverse. */
static void test_features(void **state)
{
    static const uint32_t features[] = {XEN_NUMA_HEAP_F_NODE_PAGES, XEN_NUMA_HEAP_F_NODE_MEMORY,
                                        XEN_NUMA_HEAP_F_FREE_CHUNKS | XEN_NUMA_HEAP_F_CLAIMS | 0xffff0000};

    for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        fake->heap_features = features[i];
        fake->heap_orders = i == 2 ? 19 : 0;
        rows = fake_xen_collect(source, true);
        assert_int_equal(rows->features, features[i] & 0xf);
        assert_int_equal(rows->domains[0].node_pages != NULL, i == 0);
        assert_int_equal(rows->nodes[1].dirty, i == 1 ? 11 * 4096 : VALUE_UNKNOWN);
        assert_int_equal(rows->nodes[1].claimed, i == 2 ? 3 * 4096 : VALUE_UNKNOWN);
        assert_int_equal(rows->nodes[1].n_free_chunks, i == 2 ? 19 : 0);
        if (i == 2)
            assert_int_equal(rows->nodes[1].free_chunks[18], 18);
        assert_int_equal(rows->nodes[0].low, i == 1 ? 20 * 4096 : 512 << 20);
    }
}

/* A later Xen appends fields: records are found by its sizes. */
static void test_longer_records(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->appended = 24;
    fake->heap_features |= XEN_NUMA_HEAP_F_FREE_CHUNKS;
    fake->heap_orders = 3;
    fake_xen_add(fake, 3);
    fake->domains[3].pages[1] = 4321;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->domains[3].node_pages[1], 4321);
    assert_int_equal(rows->nodes[1].present, 501 * 4096);
    assert_int_equal(rows->nodes[1].free_chunks[2], 2);
}

static void test_batches(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake_xen_add(fake, 99);
    fake->batch = 7;
    rows = fake_xen_collect(source, true);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(rows->domains[i].node_pages[0], 10);
    assert_int_equal(fake->counts[FAKE_HEAP_DOMAINS], 15);
}

/* A node comes online between QUERY and the rest. */
static void test_more_nodes(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    host_rows_free(fake_xen_collect(source, true));
    fake->n_nodes = 5;
    fake->domains[0].pages[4] = 5;
    for (unsigned i = 2; i < 5; i++)
        fake->nodes[i] = fake->nodes[1];
    rows = fake_xen_collect(source, false);
    assert_int_equal(rows->n_nodes, 5);
    assert_int_equal(rows->nodes[4].present, 504 * 4096);
    assert_int_equal(rows->domains[0].node_pages[4], 5);
    assert_int_equal(rows->warnings.n, 0);
}

/* -ERANGE for ever, and no progress for ever: a warning, not a loop. */
static void test_never_done(void **state)
{
    for (int stuck = 0; stuck < 2; stuck++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        fake->stuck = stuck;
        fake->errors[FAKE_HEAP_DOMAINS] = stuck ? 0 : -ERANGE;
        rows = fake_xen_collect(source, true);
        assert_null(rows->domains[0].node_pages);
        assert_true(rows->features & FEATURE_BIT(FEATURE_NODE_PAGES));
        assert_true(warning_list_has(&rows->warnings, WARNING_SOURCE_FAILED));
        assert_in_range(fake->counts[FAKE_HEAP_DOMAINS], 2, 10);
    }
}

static void test_lying_query(void **state)
{
    static const uint32_t appended[] = {UINT32_MAX, UINT32_MAX - 39, 1u << 20, 0};

    for (size_t i = 0; i < ARRAY_SIZE(appended); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        fake->appended = appended[i];
        if (appended[i] == 0)
            fake->heap_orders = XEN_NUMA_HEAP_MAX_ENTRIES + 1;
        rows = fake_xen_collect(source, true);
        assert_true(warning_list_has(&rows->warnings, WARNING_PATCH_MISSING));
        assert_int_equal(rows->features, 0);
        assert_int_equal(fake->counts[FAKE_HEAP_NODES] + fake->counts[FAKE_HEAP_DOMAINS], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing),        cmocka_unit_test(test_not_permitted), cmocka_unit_test(test_features),
        cmocka_unit_test(test_longer_records), cmocka_unit_test(test_batches),       cmocka_unit_test(test_more_nodes),
        cmocka_unit_test(test_never_done),     cmocka_unit_test(test_lying_query),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
