/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/snapshot.h"
#include "tests/unit/fake-xen.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* All calls fail at once, answers are random, xenstore ends: rows all the same, and the truth about them. */

static const int errors[] = {EPERM,  EACCES, EINVAL, ESRCH, ENOENT, ENOSYS, EOPNOTSUPP,
                             ENOMEM, EFAULT, EAGAIN, EBUSY, ERANGE, EIO,    ENOTCONN};

static void fail_everything(FakeXen *fake, int error)
{
    for (int call = 0; call < _FAKE_MAX; call++)
        fake->errors[call] = -error;
}

/* As under a security policy that allows nothing. */
static void test_nothing_works(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        Snapshot *snapshot = NULL;
        HostRows *rows;

        fail_everything(fake, errors[i]);
        rows = fake_xen_collect(source, true);
        assert_non_null(rows);
        assert_int_equal(rows->n_nodes + rows->n_cpus + rows->n_domains, 0);
        assert_int_equal(rows->total, VALUE_UNKNOWN);
        assert_null(rows->xen_version);
        assert_true(rows->warnings.n >= 5);
        assert_int_equal(snapshot_seal(rows, 1, 0, &snapshot), 0);
        snapshot_unref(snapshot);
    }
}

/* One warning for a host, however many domains it concerns; it names the call. */
static void test_warnings_do_not_multiply(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake_xen_add(fake, 999);
    fake->errors[FAKE_VCPU_AFFINITY] = -EACCES;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->n_domains, 1000);
    assert_int_equal(rows->warnings.n, 1);
    assert_non_null(strstr(rows->warnings.items[0].text, "getvcpuaffinity"));
    assert_int_equal(source->errors[ERROR_XEN], 1000);
    assert_null(rows->domains[5].vcpus);
    assert_int_equal(rows->domains[5].n_vcpus, 1);
}

static void test_garbage(void **state)
{
    for (unsigned seed = 1; seed <= 100; seed++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);

        fake_xen_add(fake, seed % 50);
        fake->garbage = true;
        fake->seed = seed;
        for (int generation = 0; generation < 3; generation++) {
            Snapshot *snapshot = NULL;
            HostRows *rows = fake_xen_collect(source, generation == 2);

            assert_non_null(rows);
            assert_int_equal(snapshot_seal(rows, 1, 0, &snapshot), 0);
            snapshot_unref(snapshot);
        }
    }
}

/* --- xenstore --- */

static bool is_readable(const Source *source)
{
    struct pollfd fd = {.fd = source->ops->event_fd(source), .events = POLLIN};

    return poll(&fd, 1, 0) == 1;
}

static void test_events(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake_xen_add(fake, 5);
    assert_true(source->ops->event_fd(source) >= 0);
    assert_int_equal(source->ops->dispatch(source), 0); /* not connected yet */
    host_rows_free(fake_xen_collect(source, true));
    assert_int_equal(source->ops->dispatch(source), 1); /* the watch's first */
    assert_false(is_readable(source));
    for (int i = 0; i < 5; i++)
        fake_xen_event(fake);
    assert_true(is_readable(source));
    assert_int_equal(source->ops->dispatch(source), 1);
    assert_false(is_readable(source));
    assert_int_equal(source->ops->dispatch(source), 0);
    fake->domains[5].name = "renamed"; /* an event has all names read again, whosever turn it is */
    rows = fake_xen_collect(source, false);
    assert_string_equal(fake_xen_row(rows, 5)->name, "renamed");
}

/* The name is written after the domain is there: it is looked for until it is found. */
static void test_late_name(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *without = NULL, *with = NULL;

    fake_xen_add(fake, 7)[6].name = NULL;
    without = fake_xen_collect(source, true);
    assert_null(fake_xen_row(without, 7)->name);
    assert_int_equal(without->warnings.n, 0);
    fake->domains[7].name = "late";
    with = fake_xen_collect(source, false);
    assert_string_equal(fake_xen_row(with, 7)->name, "late");
}

/* Renamed, and the read that an event asked for fails for once: the old name stays no longer than that. */
static void test_name_fails_once(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *old = NULL, *new = NULL;

    fake_xen_add(fake, 8);
    host_rows_free(fake_xen_collect(source, true));
    fake->domains[8].name = "renamed";
    fake_xen_fail(fake, FAKE_STORE_NAME, 8, -EAGAIN, 1);
    old = fake_xen_collect(source, true);
    assert_string_equal(fake_xen_row(old, 8)->name, "guest");
    new = fake_xen_collect(source, false);
    assert_string_equal(fake_xen_row(new, 8)->name, "renamed");
}

static void test_store_lost(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    int fd = source->ops->event_fd(source);
    unsigned tries;

    fake_xen_add(fake, 20);
    host_rows_free(fake_xen_collect(source, true));
    fake->errors[FAKE_STORE_NAME] = fake->errors[FAKE_STORE_EVENT] = fake->errors[FAKE_STORE_OPEN] = -ENOTCONN;
    tries = fake->counts[FAKE_STORE_OPEN];
    for (unsigned i = 1; i <= 5; i++) {
        _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, false);

        assert_string_equal(rows->domains[7].name, "guest"); /* names stay */
        assert_int_equal(rows->warnings.n, 1);
        assert_int_equal(source->errors[ERROR_XENSTORE], i);
        assert_int_equal(fake->counts[FAKE_STORE_OPEN], tries + i - 1); /* once each from the second on */
        assert_false(is_readable(source));                              /* and no busy loop */
    }
    fake->errors[FAKE_STORE_NAME] = fake->errors[FAKE_STORE_EVENT] = fake->errors[FAKE_STORE_OPEN] = 0;
    fake->domains[7].name = "renamed meanwhile";
    for (int i = 0; i < 2; i++) {
        _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, false);

        assert_string_equal(rows->domains[7].name, "renamed meanwhile");
        assert_int_equal(rows->warnings.n, 0);
        assert_int_equal(source->ops->event_fd(source), fd);
    }
    fake_xen_event(fake);
    assert_true(is_readable(source));
    assert_int_equal(source->ops->dispatch(source), 1);
}

/* Noticed by the loop, not by a read. */
static void test_store_lost_in_dispatch(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    host_rows_free(fake_xen_collect(source, true));
    fake->errors[FAKE_STORE_EVENT] = -ENOTCONN;
    assert_int_equal(source->ops->dispatch(source), 0);
    assert_false(is_readable(source));
    assert_int_equal(source->errors[ERROR_XENSTORE], 1);
    fake->errors[FAKE_STORE_OPEN] = -ECONNREFUSED;
    rows = fake_xen_collect(source, false);
    assert_true(warning_list_has(&rows->warnings, WARNING_SOURCE_FAILED));
}

/* Whatever an event fails with, it is counted, the next collection is whole, and events come again. */
static void test_any_error_of_an_event(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        FakeXen *fake = fake_xen_new();
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        host_rows_free(fake_xen_collect(source, true));
        fake->errors[FAKE_STORE_EVENT] = -errors[i];
        fake_xen_event(fake);
        assert_int_equal(source->ops->dispatch(source), 0);
        assert_int_equal(source->errors[ERROR_XENSTORE], 1);
        assert_int_equal(source->errors[ERROR_XEN], 0);
        fake->errors[FAKE_STORE_EVENT] = 0;
        rows = fake_xen_collect(source, true);
        assert_int_equal(rows->n_domains, fake->n_domains);
        assert_int_equal(rows->warnings.n, 0);
        for (size_t d = 0; d < rows->n_domains; d++)
            assert_non_null(rows->domains[d].name);
        fake_xen_event(fake);
        assert_true(is_readable(source));
        assert_int_equal(source->ops->dispatch(source), 1);
    }
}

/* --- not on a Xen host --- */

static int no_view(uint32_t *ret_nodes, uint32_t *ret_cpus)
{
    return -EIO;
}

static void test_no_view_of_dom0(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = NULL;
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;
    bool freed = false;

    fake->freed = &freed;
    assert_int_equal(xen_source_new_on(&fake->calls, no_view, &source), 0);
    rows = fake_xen_collect(source, true);
    assert_int_equal(source->errors[ERROR_HWLOC], 1);
    assert_true(warning_list_has(&rows->warnings, WARNING_SOURCE_FAILED));
    assert_false(rows->has_dom0_view);
    source->ops->free(source);
    source = NULL;
    assert_true(freed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_works),
        cmocka_unit_test(test_warnings_do_not_multiply),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_late_name),
        cmocka_unit_test(test_name_fails_once),
        cmocka_unit_test(test_store_lost),
        cmocka_unit_test(test_store_lost_in_dispatch),
        cmocka_unit_test(test_any_error_of_an_event),
        cmocka_unit_test(test_no_view_of_dom0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
