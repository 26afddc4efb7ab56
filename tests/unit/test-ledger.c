/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/ledger.h"

/* --- add --- */

static void test_add(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new(), *first = NULL;
    Reservation *again;
    Ledger *new = NULL;

    add(&ledger, 1, 'a', "web", EMPTY_HOST);
    first = ledger_ref(ledger);
    add(&ledger, 2, 0, NULL, EMPTY_HOST);
    assert_ledger(ledger, "1p 2p");
    assert_ledger(first, "1p");
    assert_ptr_equal(first->items[0], ledger->items[0]);
    assert_ptr_equal(ledger_find(ledger, token_of(2)), ledger->items[1]);
    assert_null(ledger_find(first, token_of(2)));
    assert_null(ledger_find(ledger, "2"));
    assert_int_equal(ledger_count_open(ledger), 2);
    assert_int_equal(ledger_count_open_of(ledger, 1000), 2);
    assert_int_equal(ledger_count_open_of(ledger, 1001), 0);
    assert_int_equal(ledger_next_expiry(ledger), 1000);

    again = promise_of(2, 0, NULL, 1000);
    assert_int_equal(ledger_add(ledger, again, NULL, &new), -EEXIST);
    assert_null(new);
    reservation_unref(again);
}

/* A domain that looks like the one that is meant is there before: whose it would be, were it taken for it. */
static void test_add_not_domid(void **state)
{
    static const struct {
        char uuid;
        const char *name, *text;
        Dom doms[3];
    } cases[] = {
        {'a', "web", "1p", {{.domid = 3, .uuid = 'b', .name = "web"}}},
        {'a', NULL, "1p!3", {{.domid = 3, .uuid = 'a'}, {.domid = 4, .uuid = 'b'}}},
        {'a', NULL, "1p!5", {{.domid = 3, .uuid = 'a', .dying = true}, {.domid = 5, .uuid = 'a'}}},
        {'a', NULL, "1p!3", {{.domid = 3, .uuid = 'a'}, {.domid = 5, .uuid = 'a', .dying = true}}},
        {0, "web", "1p!3", {{.domid = 3, .uuid = 'b', .name = "web"}, {.domid = 4, .name = "web2"}, {.domid = 5}}},
        {0, "web", "1p", {{.domid = 3, .name = "we"}, {.domid = 4, .name = "webs"}, {.domid = 5, .name = ""}}},
        {0, NULL, "1p", {{.domid = 3, .name = "web"}, {.domid = 4}, {.domid = 5, .uuid = 'a'}}},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

        add(&ledger, 1, cases[i].uuid, cases[i].name, host_of(3, cases[i].doms));
        assert_ledger(ledger, cases[i].text);
    }
}

/* Of two that look alike, the one that has a placement cannot be mistaken. */
static void test_add_beside_placed(void **state)
{
    const Dom old = {.domid = 3, .uuid = 'a'}, other = {.domid = 9, .uuid = 'a'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 0, NULL, EMPTY_HOST);
    assert_int_equal(commit(&ledger, 1, 9, HOST(old, other)), 0);
    add(&ledger, 2, 'a', NULL, HOST(old, other));
    assert_ledger(ledger, "1c9 2p!3");
}

/* --- commit --- */

static void test_commit(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a', .name = "web"}, db = {.domid = 4, .uuid = 'b'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new(), *before = NULL;

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    add(&ledger, 2, 0, "x", EMPTY_HOST);
    before = ledger_ref(ledger);
    assert_int_equal(commit(&ledger, 1, 3, HOST(web, db)), 0);
    assert_ledger(ledger, "1c3 2p");
    assert_ledger(before, "1p 2p");
    assert_ptr_equal(ledger_find_domain(ledger, 3), ledger->items[0]);
    assert_null(ledger_find_domain(ledger, 4));
    assert_null(ledger_find_domain(before, 3));
    assert_int_equal(ledger_count_open(ledger), 1);

    assert_int_equal(commit(&ledger, 2, 4, HOST(web, db)), 0);
    assert_ledger(ledger, "1c3 2c4");
    assert_true(ledger->items[1]->has_uuid && !ledger->items[1]->told_uuid);
    assert_int_equal(ledger->items[1]->uuid[15], 'b'); /* so that another domain 4 is not taken for it */
    assert_int_equal(ledger_next_expiry(ledger), UINT64_MAX);
}

static void test_commit_again(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
    Ledger *before;

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    assert_int_equal(commit(&ledger, 1, 3, HOST(web)), 0);
    before = ledger;
    assert_int_equal(commit(&ledger, 1, 3, HOST(web)), 0);
    assert_ptr_equal(ledger, before);
    assert_int_equal(ledger->refs, 1);
}

static void test_commit_refused(void **state)
{
    static const struct {
        unsigned number;
        domid_t domid;
        int error;
        const char *what;
    } cases[] = {
        {9, 3, LEDGER_E_UNKNOWN_TOKEN, "no such token"},
        {8, 3, LEDGER_E_EXPIRED, "a token that has ended"},
        {8, 99, LEDGER_E_EXPIRED, "a token that has ended, and no domain"},
        {1, 99, LEDGER_E_UNKNOWN_DOMAIN, "no such domain"},
        {1, 5, LEDGER_E_UNKNOWN_DOMAIN, "a domain that dies"},
        {1, 4, LEDGER_E_OTHER_DOMAIN, "another UUID"},
        {1, 6, LEDGER_E_OTHER_DOMAIN, "no UUID where one was told"},
        {2, 3, LEDGER_E_OTHER_DOMAIN, "a domain that has a placement"},
        {7, 4, LEDGER_E_OTHER_DOMAIN, "a token that another domain has"},
        {7, 99, LEDGER_E_UNKNOWN_DOMAIN, "the same, and no domain"},
    };
    const Dom doms[] = {{.domid = 3, .uuid = 'c'},
                        {.domid = 4, .uuid = 'd'},
                        {.domid = 5, .uuid = 'a', .dying = true},
                        {.domid = 6}};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 8, 0, NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, EMPTY_HOST, 1000), "8");
    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    add(&ledger, 2, 0, NULL, EMPTY_HOST);
    add(&ledger, 7, 'c', NULL, EMPTY_HOST);
    assert_int_equal(commit(&ledger, 7, 3, host_of(4, doms)), 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int r = commit(&ledger, cases[i].number, cases[i].domid, host_of(4, doms));

        if (r != cases[i].error)
            fail_msg("%s: %d", cases[i].what, r);
        assert_ledger(ledger, "1p 2p 7c3 x8");
    }
}

/* Reconciliation gave the domain to one that only looks right: Commit knows better. */
static void test_commit_moves(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a', .name = "web"}, old = {.domid = 2, .uuid = 'b', .name = "web"};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 0, "web", EMPTY_HOST);
    add(&ledger, 2, 'a', NULL, EMPTY_HOST);
    add(&ledger, 3, 'a', NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(web), 1), "");
    assert_ledger(ledger, "1p 2b3 3p"); /* a UUID says more than a name, and 2 is the older */
    assert_int_equal(commit(&ledger, 3, 3, HOST(web)), 0);
    assert_ledger(ledger, "1p 2p!3 3c3");
    assert_true(ledger->items[1]->told_uuid && ledger->items[1]->has_uuid);
    assert_string_equal(reconcile(&ledger, HOST(web), 2), "");
    assert_ledger(ledger, "1p 2p!3 3c3");

    /* by name: its UUID was the domain's, and goes with it */
    assert_string_equal(reconcile(&ledger, HOST(old, web), 3), "");
    assert_ledger(ledger, "1b2 2p!3 3c3");
    assert_true(ledger->items[0]->has_uuid);
    add(&ledger, 4, 0, NULL, HOST(old, web));
    assert_int_equal(commit(&ledger, 4, 2, HOST(old, web)), 0);
    assert_ledger(ledger, "1p!2 2p!3 3c3 4c2");
    assert_false(ledger->items[0]->has_uuid);
}

/* One that waits by name was taken to have found its domain; the toolstack says it is another. */
static void test_commit_corrects(void **state)
{
    const Dom looks = {.domid = 3, .uuid = 'a', .name = "web"}, is = {.domid = 5, .uuid = 'b', .name = "web"};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 0, "web", EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(looks), 1), "");
    assert_ledger(ledger, "1b3");
    assert_int_equal(commit(&ledger, 1, 5, HOST(looks, is)), 0);
    assert_ledger(ledger, "1c5");
    assert_null(ledger_find_domain(ledger, 3));
    assert_int_equal(ledger->items[0]->uuid[0], 'b');
}

/* Its own domain is the one that was there before: the toolstack knows. */
static void test_commit_of_refused(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 'a', NULL, HOST(web));
    assert_ledger(ledger, "1p!3");
    assert_int_equal(commit(&ledger, 1, 3, HOST(web)), 0);
    assert_ledger(ledger, "1c3");
    assert_false(ledger->items[0]->has_not_uuid);
}

/* A number that is used again between two readings. */
static void test_commit_of_reused(void **state)
{
    const Dom old = {.domid = 3, .uuid = 'a'}, new = {.domid = 3, .uuid = 'b'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    assert_int_equal(commit(&ledger, 1, 3, HOST(old)), 0);
    add(&ledger, 2, 'b', NULL, HOST(old));
    assert_int_equal(commit(&ledger, 1, 3, HOST(new)), LEDGER_E_OTHER_DOMAIN);
    assert_int_equal(commit(&ledger, 2, 3, HOST(new)), 0);
    assert_ledger(ledger, "2c3");
}

/* --- release --- */

static void test_release(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a'}, db = {.domid = 4, .uuid = 'b'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    add(&ledger, 2, 'b', NULL, EMPTY_HOST);
    add(&ledger, 3, 0, NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(web, db), 1), "");
    assert_int_equal(commit(&ledger, 1, 3, HOST(web, db)), 0);
    assert_ledger(ledger, "1c3 2b4 3p");
    assert_int_equal(release(&ledger, 2), 0);
    assert_ledger(ledger, "1c3 3p");
    assert_null(ledger_find_domain(ledger, 4));
    assert_int_equal(release(&ledger, 2), LEDGER_E_UNKNOWN_TOKEN);
    assert_int_equal(release(&ledger, 1), 0);
    assert_int_equal(release(&ledger, 3), 0);
    assert_ledger(ledger, "");
    add(&ledger, 4, 0, NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, EMPTY_HOST, 1000), "4");
    assert_int_equal(release(&ledger, 4), LEDGER_E_EXPIRED);
}

/* --- what is set aside --- */

static void test_reserve(void **state)
{
    static const uint64_t pages[] = {GIB_PAGES / 4, GIB_PAGES};
    static const struct {
        Dom dom;
        bool node_claims;
        uint64_t reserved; /* on node 0, of 1 GiB and 1 MiB; in MiB */
        uint64_t claimed;  /* MiB */
        const char *what;
    } cases[] = {
        {{.domid = 4}, false, 1025, 0, "no domain of it"},
        {{.domid = 4, .claimed_pages = GIB_PAGES}, false, 1025, 1024, "another's claim"},
        {{.domid = 4, .claimed_pages = VALUE_UNKNOWN}, false, 1025, 0, "a claim that nobody knows"},
        {{.domid = 3, .uuid = 'a'}, false, 1025, 0, "nobody knows what its domain holds"},
        {{.domid = 3, .uuid = 'a', .total_pages = GIB_PAGES / 2}, false, 513, 0, "it holds half, nobody knows where"},
        {{.domid = 3, .uuid = 'a', .total_pages = GIB_PAGES, .node_pages = pages}, false, 769, 0, "it holds a quarter"},
        {{.domid = 3, .uuid = 'a', .total_pages = 2 * GIB_PAGES}, false, 0, 0, "it holds more than was promised"},
        {{.domid = 3, .uuid = 'a', .node_pages = pages, .claimed_pages = GIB_PAGES / 4},
         false,
         769,
         0,
         "its claim on the host is none on the node, nor one without a promise"},
        {{.domid = 3, .uuid = 'a', .node_pages = pages, .claimed_pages = GIB_PAGES / 4},
         true,
         513,
         0,
         "its claim on the node"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
        _cleanup_(host_memory_free_p) HostMemory *memory = HOST(cases[i].dom);
        uint64_t reserved[2] = {0}, claimed = 77;

        add(&ledger, 1, 'a', NULL, EMPTY_HOST);
        assert_string_equal(reconcile(&ledger, HOST(cases[i].dom), 1), "");
        memory->node_claims = cases[i].node_claims;
        ledger_reserve(ledger, memory, reserved, &claimed);
        if (reserved[0] != cases[i].reserved << 20 || reserved[1] != 0 || claimed != cases[i].claimed << 20)
            fail_msg("%s: %" PRIu64 ", %" PRIu64 " reserved, %" PRIu64 " claimed", cases[i].what, reserved[0],
                     reserved[1], claimed);
    }
}

/* A committed one sets nothing aside, and its domain's claim is one without a promise. */
static void test_reserve_committed(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a', .claimed_pages = GIB_PAGES};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
    _cleanup_(host_memory_free_p) HostMemory *memory = HOST(web);
    uint64_t reserved[2] = {0}, claimed = 0;

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    assert_int_equal(commit(&ledger, 1, 3, HOST(web)), 0);
    add(&ledger, 2, 0, NULL, EMPTY_HOST);
    add(&ledger, 3, 0, NULL, EMPTY_HOST);
    ledger_reserve(ledger, memory, reserved, &claimed);
    assert_int_equal(reserved[0], 2 * (GIB + (GIB >> 10)));
    assert_int_equal(claimed, GIB);
}

/* --- a promise that was kept --- */

static void test_kept(void **state)
{
    static const struct {
        uint64_t pages[2];
        int kept;
    } cases[] = {
        {{GIB_PAGES, 0}, 1},
        {{GIB_PAGES - GIB_PAGES / 10, 0}, 1},
        {{GIB_PAGES - GIB_PAGES / 10 - 1, 0}, 0},
        {{0, GIB_PAGES}, 0},
    };
    const Dom web = {.domid = 3, .uuid = 'a'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    assert_int_equal(reservation_kept(ledger->items[0], cases[0].pages, 2, 4096), -1);
    assert_int_equal(commit(&ledger, 1, 3, HOST(web)), 0);
    assert_int_equal(reservation_kept(ledger->items[0], NULL, 2, 4096), -1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(reservation_kept(ledger->items[0], cases[i].pages, 2, 4096), cases[i].kept);
    assert_int_equal(reservation_kept(ledger->items[0], cases[0].pages, 0, 4096), 0);
    assert_int_equal(reservation_total(ledger->items[0]), GIB);
    assert_int_equal(reservation_overhead(ledger->items[0]), GIB >> 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_add_not_domid),
        cmocka_unit_test(test_add_beside_placed),
        cmocka_unit_test(test_commit),
        cmocka_unit_test(test_commit_again),
        cmocka_unit_test(test_commit_refused),
        cmocka_unit_test(test_commit_moves),
        cmocka_unit_test(test_commit_corrects),
        cmocka_unit_test(test_commit_of_refused),
        cmocka_unit_test(test_commit_of_reused),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_reserve_committed),
        cmocka_unit_test(test_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
