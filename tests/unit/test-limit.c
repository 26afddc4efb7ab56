/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/publish/callers.h"
#include "daemon/publish/limit.h"
#include "tests/unit/unit.h"

#include <stdio.h>

#define SECOND 1000000u
#define START (123u * (uint64_t)SECOND)

static unsigned take_all(Limit *limit, uid_t uid, uint64_t now)
{
    unsigned n = 0;

    while (n < 100000 && limit_take(limit, uid, now))
        n++;
    return n;
}

static void test_burst_and_refill(void **state)
{
    Limit limit = {.per_s = 200};

    assert_int_equal(take_all(&limit, 7, START), 200);
    assert_int_equal(take_all(&limit, 7, START), 0);
    assert_int_equal(take_all(&limit, 7, START + SECOND / 200), 1);
    assert_int_equal(take_all(&limit, 7, START + SECOND / 2), 99);
    assert_int_equal(take_all(&limit, 7, START + 100 * (uint64_t)SECOND), 200); /* never more than a second's worth */
}

static void test_steady(void **state)
{
    Limit limit = {.per_s = 200};
    unsigned n = 0;

    take_all(&limit, 7, START);
    for (uint64_t us = 0; us < 10 * SECOND; us += 1000)
        n += limit_take(&limit, 7, START + us);
    assert_in_range(n, 1998, 2000);
}

static void test_users_apart(void **state)
{
    Limit limit = {.per_s = 10};

    assert_int_equal(take_all(&limit, 0, START), 10);
    assert_int_equal(take_all(&limit, 1, START), 10);
    assert_int_equal(take_all(&limit, (uid_t)-2, START), 10);
    assert_int_equal(take_all(&limit, 0, START), 0);
}

/* More users than buckets: one who has just spent his is not forgotten for one who has not. */
static void test_many_users(void **state)
{
    Limit limit = {.per_s = 10};

    for (uid_t uid = 1; uid < LIMIT_USERS_MAX; uid++)
        assert_true(limit_take(&limit, uid, START));
    assert_int_equal(take_all(&limit, 0, START), 10);
    for (uid_t uid = 1000; uid < 1000 + 5 * LIMIT_USERS_MAX; uid++)
        assert_true(limit_take(&limit, uid, START));
    assert_int_equal(take_all(&limit, 0, START), 0);
}

static void test_callers(void **state)
{
    Callers callers = {0};
    char name[16];
    uid_t uid = 99;

    assert_false(callers_find(&callers, ":1.1", &uid));
    for (unsigned i = 0; i < CALLERS_MAX; i++) {
        snprintf(name, sizeof(name), ":1.%u", i);
        callers_add(&callers, name, 1000 + i);
    }
    assert_true(callers_find(&callers, ":1.0", &uid)); /* used last now */
    assert_int_equal(uid, 1000);
    callers_add(&callers, ":2.0", 5);
    assert_true(callers_find(&callers, ":1.0", &uid));
    assert_false(callers_find(&callers, ":1.1", &uid)); /* the oldest gave way */
    assert_true(callers_find(&callers, ":2.0", &uid));
    assert_int_equal(uid, 5);
    callers_done(&callers);
    assert_false(callers_find(&callers, ":2.0", &uid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_burst_and_refill), cmocka_unit_test(test_steady),  cmocka_unit_test(test_users_apart),
        cmocka_unit_test(test_many_users),       cmocka_unit_test(test_callers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
