/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/fake-xen.h"
#include "tests/unit/unit.h"

#include <string.h>

/* The list of domains, their pages, affinities and names, and domains that come and go meanwhile. */

static void test_many(void **state)
{
    static const size_t counts[] = {1, 2, 255, 256, 257, 1023, 1024, 1025, 4096};

    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        fake_xen_add(fake, counts[i] - 1);
        rows = fake_xen_collect(source, true);
        assert_int_equal(rows->n_domains, counts[i]);
        for (size_t d = 0; d < rows->n_domains; d++) {
            assert_int_equal(rows->domains[d].domid, d);
            assert_int_equal(rows->domains[d].node_pages[1], 20);
            assert_int_equal(rows->domains[d].vcpus->n, 1);
            assert_non_null(rows->domains[d].name);
        }
        assert_int_equal(rows->warnings.n, 0);
    }
}

static void test_row(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;
    FakeDomain *guest = fake_xen_add(fake, 1);
    const DomainRow *row;

    guest->info.max_vcpu_id = 1;
    guest->info.pool = 0;
    rows = fake_xen_collect(source, true);
    row = fake_xen_row(rows, 1);
    assert_string_equal(row->name, "guest");
    assert_true(row->has_uuid);
    assert_memory_equal(row->uuid, fake->domains[1].info.handle, 16);
    assert_int_equal(row->total_pages, 30);
    assert_int_equal(row->max_pages, 40);
    assert_true(row->has_node_affinity);
    assert_int_equal(bitmap_weight(&row->node_affinity), 1); /* nothing above the last node */
    assert_true(bitmap_isset(&row->node_affinity, 1));
    assert_int_equal(row->n_vcpus, 2);
    assert_true(row->vcpus->rows[0].online);
    assert_int_equal(row->vcpus->rows[0].cpu, 1);
    assert_false(row->vcpus->rows[1].online);
    assert_int_equal(row->vcpus->rows[1].cpu, CPU_NONE);
    assert_int_equal(bitmap_weight(&row->vcpus->rows[0].hard), 4);
    assert_int_equal(bitmap_weight(&row->vcpus->rows[1].soft), 2);
    assert_false(rows->domains[0].has_uuid); /* a handle of zeros is none */
}

static void test_type_and_state(void **state)
{
    static const struct {
        uint32_t flags, emulation, online;
        DomainType type;
        DomainState domain_state;
    } cases[] = {
        {XEN_DOMAIN_RUNNING, 0, 1, DOMAIN_TYPE_PV, DOMAIN_RUNNING},
        {XEN_DOMAIN_RUNNING, 1u << 8, 1, DOMAIN_TYPE_PV, DOMAIN_RUNNING}, /* PV with an emulated PIT */
        {XEN_DOMAIN_HVM | XEN_DOMAIN_BLOCKED, XEN_EMU_LAPIC, 1, DOMAIN_TYPE_PVH, DOMAIN_BLOCKED},
        {XEN_DOMAIN_HVM | XEN_DOMAIN_PAUSED | XEN_DOMAIN_BLOCKED, XEN_EMU_LAPIC | XEN_EMU_IOAPIC | XEN_EMU_VPCI, 1,
         DOMAIN_TYPE_PVH, DOMAIN_PAUSED},
        {XEN_DOMAIN_HVM, 0x3ff, 1, DOMAIN_TYPE_HVM, DOMAIN_RUNNING}, /* waits for a CPU */
        {0, 0, 0, DOMAIN_TYPE_PV, DOMAIN_BLOCKED},
        {XEN_DOMAIN_SHUTDOWN | XEN_DOMAIN_PAUSED, 0, 1, DOMAIN_TYPE_PV, DOMAIN_SHUTDOWN},
        {XEN_DOMAIN_SHUTDOWN | XEN_SHUTDOWN_CRASH << 16, 0, 1, DOMAIN_TYPE_PV, DOMAIN_CRASHED},
        {XEN_DOMAIN_DYING | XEN_DOMAIN_SHUTDOWN | XEN_SHUTDOWN_CRASH << 16, 0, 1, DOMAIN_TYPE_PV, DOMAIN_DYING},
    };
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake_xen_add(fake, ARRAY_SIZE(cases));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        fake->domains[i + 1].info.flags = cases[i].flags;
        fake->domains[i + 1].info.emulation = cases[i].emulation;
        fake->domains[i + 1].info.nr_online_vcpus = cases[i].online;
    }
    fake->domains[1].heap_flags = XEN_NUMA_HEAP_DOMAIN_DYING; /* the list says so only at the end of dying */
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->domains[1].state, DOMAIN_DYING);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_int_equal(rows->domains[i + 1].type, cases[i].type);
        if (i > 0)
            assert_int_equal(rows->domains[i + 1].state, cases[i].domain_state);
    }
}

static void test_no_vcpus(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake_xen_add(fake, 1)->info.max_vcpu_id = XEN_NO_VCPU;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->domains[1].n_vcpus, 0);
    assert_int_equal(rows->domains[1].vcpus->n, 0);
}

/* --- coming and going --- */

static void end_domain_2(FakeXen *fake, FakeCall call)
{
    static const FakeCall moments[] = {FAKE_HEAP_DOMAINS, FAKE_NODE_AFFINITY, FAKE_VCPU_INFO, FAKE_VCPU_AFFINITY};

    if (call == moments[fake->seed])
        fake->domains[2].dead = true;
}

/* A domain that ends between two calls is left out, is no error, and takes no other with it. */
static void test_vanishes(void **state)
{
    for (unsigned moment = 0; moment < 4; moment++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        fake_xen_add(fake, 4);
        fake->seed = moment;
        fake->before = end_domain_2;
        rows = fake_xen_collect(source, true);
        assert_int_equal(rows->n_domains, 4);
        assert_null(fake_xen_row(rows, 2));
        assert_int_equal(fake_xen_row(rows, 4)->vcpus->n, 1);
        assert_string_equal(fake_xen_row(rows, 4)->name, "guest");
        assert_int_equal(rows->warnings.n, 0);
        assert_int_equal(source->errors[ERROR_XEN], 0);
    }
}

/* A domid that is used again: another name, other vCPUs, at once and outside its turn. */
static void test_domid_reused(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *before = NULL, *rows = NULL;

    fake_xen_add(fake, 5);
    before = fake_xen_collect(source, true);
    fake->domains[5].info.handle[15] ^= 1;
    fake->domains[5].name = "another";
    fake->domains[5].soft = 0x01;
    rows = fake_xen_collect(source, false); /* generation 2, domain 5 */
    assert_string_equal(fake_xen_row(rows, 5)->name, "another");
    assert_int_equal(bitmap_next(&fake_xen_row(rows, 5)->vcpus->rows[0].soft, 0), 0);
    assert_string_equal(fake_xen_row(before, 5)->name, "guest");
}

static void reuse_domain_1(FakeXen *fake, FakeCall call)
{
    if (call == FAKE_HEAP_DOMAINS)
        fake->domains[1].info.handle[15] ^= 1;
}

/* The list told of one domain, the pages are those of the next. */
static void test_domid_reused_meanwhile(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL, *next = NULL;

    fake_xen_add(fake, 1);
    fake->before = reuse_domain_1;
    rows = fake_xen_collect(source, true);
    assert_null(fake_xen_row(rows, 1));
    fake->before = NULL;
    next = fake_xen_collect(source, false);
    assert_int_equal(fake_xen_row(next, 1)->node_pages[0], 10);
}

/* What costs a call a vCPU is read in turn, the rest each time; the rows are shared until then. */
static void test_in_turn(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake_xen_add(fake, 99);
    host_rows_free(fake_xen_collect(source, false));
    assert_int_equal(fake->counts[FAKE_VCPU_INFO], 100); /* all are new */
    for (size_t i = 0; i < fake->n_domains; i++) {
        fake->domains[i].soft = 0x01;
        fake->domains[i].name = "renamed";
        fake->domains[i].pages[0] = 77;
    }
    rows = fake_xen_collect(source, false);
    assert_int_equal(fake->counts[FAKE_VCPU_INFO], 110);
    assert_int_equal(fake->counts[FAKE_STORE_NAME], 110);
    for (size_t i = 0; i < 100; i++) {
        bool read = i % 10 == 2; /* second generation */

        assert_int_equal(rows->domains[i].node_pages[0], 77);
        assert_int_equal(bitmap_weight(&rows->domains[i].vcpus->rows[0].soft), read ? 1 : 2);
        assert_int_equal(strcmp(rows->domains[i].name, "renamed") == 0, read);
    }
    for (int i = 0; i < 9; i++)
        host_rows_free(fake_xen_collect(source, false));
    assert_int_equal(fake->counts[FAKE_VCPU_INFO], 200);
    host_rows_free(fake_xen_collect(source, true));
    assert_int_equal(fake->counts[FAKE_VCPU_INFO], 300);
    assert_int_equal(fake->counts[FAKE_STORE_NAME], 300);
}

static void test_hotplug_is_seen_at_once(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake_xen_add(fake, 5)[4].info.max_vcpu_id = 3;
    host_rows_free(fake_xen_collect(source, true));
    fake->counts[FAKE_VCPU_INFO] = 0;
    host_rows_free(fake_xen_collect(source, false));
    assert_int_equal(fake->counts[FAKE_VCPU_INFO], 1); /* domain 2, whose turn it is */
    fake->domains[5].info.nr_online_vcpus = 2;
    rows = fake_xen_collect(source, false);
    assert_int_equal(fake->counts[FAKE_VCPU_INFO], 1 + 1 + 4);
}

/* A collection that is dropped half way owes what it was to read. */
static void test_begun_again(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    HostRows *rows = NULL;

    fake_xen_add(fake, 99);
    host_rows_free(fake_xen_collect(source, true));
    assert_int_equal(source->ops->begin(source, true), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(source->ops->step(source, &rows), 1);
    fake->counts[FAKE_VCPU_INFO] = 0;
    host_rows_free(fake_xen_collect(source, false));
    assert_int_equal(fake->counts[FAKE_VCPU_INFO], 100);
    assert_int_equal(source->ops->step(source, &rows), -EINVAL); /* nothing is under way */
}

/* The list fails for once: that is no death of all domains. */
static void test_list_fails(void **state)
{
    static const size_t pages[] = {0, 1};

    for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        fake_xen_add(fake, 299);
        host_rows_free(fake_xen_collect(source, true));
        fake->errors[FAKE_DOMAINS] = -EAGAIN;
        fake->skips[FAKE_DOMAINS] = fake->counts[FAKE_DOMAINS] + (unsigned)pages[i];
        rows = fake_xen_collect(source, false);
        assert_int_equal(rows->n_domains, 300);
        assert_string_equal(rows->domains[299].name, "guest");
        assert_non_null(rows->domains[299].vcpus);
        assert_true(warning_list_has(&rows->warnings, WARNING_SOURCE_FAILED));
        assert_int_equal(source->errors[ERROR_XEN], 2); /* and the check in the end */
    }
}

static void count_step(FakeXen *fake, FakeCall call)
{
    fake->seed++;
}

/* No step makes more calls than the budget lets it. */
static void test_steps_are_bounded(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    HostRows *rows = NULL;
    int r;

    fake_xen_add(fake, 600);
    for (size_t i = 0; i < fake->n_domains; i++)
        fake->domains[i].info.max_vcpu_id = 63;
    fake->before = count_step;
    assert_int_equal(source->ops->begin(source, true), 0);
    do {
        fake->seed = 0;
        r = source->ops->step(source, &rows);
        assert_in_range(fake->seed, 1, 67);
    } while (r > 0);
    assert_int_equal(r, 0);
    assert_int_equal(rows->domains[600].vcpus->n, 64);
    host_rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_type_and_state),
        cmocka_unit_test(test_no_vcpus),
        cmocka_unit_test(test_vanishes),
        cmocka_unit_test(test_domid_reused),
        cmocka_unit_test(test_domid_reused_meanwhile),
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_hotplug_is_seen_at_once),
        cmocka_unit_test(test_begun_again),
        cmocka_unit_test(test_list_fails),
        cmocka_unit_test(test_steps_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
