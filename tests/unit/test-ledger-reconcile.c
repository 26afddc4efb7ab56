/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/ledger.h"

/* --- one step --- */

static void test_comes(void **state)
{
    static const struct {
        char uuid;
        const char *name;
        Dom doms[2];
        const char *text, *what;
    } cases[] = {
        {'a', "web", {{.domid = 3, .uuid = 'a'}, {.domid = 4}}, "1b3", "by UUID"},
        {'a',
         "web",
         {{.domid = 3, .uuid = 'b', .name = "web"}, {.domid = 4, .name = "web"}},
         "1p",
         "a name does not do where a UUID was told"},
        {0, "web", {{.domid = 3, .uuid = 'b', .name = "web"}, {.domid = 4}}, "1b3", "by name"},
        {0, "web", {{.domid = 3, .name = "wEb"}, {.domid = 4, .name = "web2"}}, "1p", "by the whole name"},
        {0, NULL, {{.domid = 3, .name = "web"}, {.domid = 4, .uuid = 'a'}}, "1p", "nothing to go by"},
        {'a', NULL, {{.domid = 3, .uuid = 'a', .dying = true}, {.domid = 4}}, "1p", "not one that dies"},
        {'a', NULL, {{.domid = 3, .uuid = 'a'}, {.domid = 4, .uuid = 'a'}}, "1b3", "the first of two"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

        add(&ledger, 1, cases[i].uuid, cases[i].name, EMPTY_HOST);
        assert_string_equal(reconcile(&ledger, host_of(2, cases[i].doms), 1), "");
        if (strcmp(ledger_text(ledger), cases[i].text) != 0)
            fail_msg("%s: %s, not %s", cases[i].what, ledger_text(ledger), cases[i].text);
    }
}

static void test_goes(void **state)
{
    const Dom there = {.domid = 3, .uuid = 'a', .name = "web"};
    static const struct {
        Dom dom;
        bool ends;
        const char *what;
    } cases[] = {
        {{.domid = 3, .uuid = 'a', .name = "web"}, false, "still there"},
        {{.domid = 3, .uuid = 'a', .name = "new"}, false, "renamed"},
        {{.domid = 3, .uuid = 'a'}, false, "its name is not known"},
        {{.domid = 3, .uuid = 'b', .name = "web"}, true, "another"},
        {{.domid = 3, .name = "web"}, true, "another without a UUID"},
        {{.domid = 3, .uuid = 'a', .name = "web", .dying = true}, true, "dies"},
        {{.domid = 4, .uuid = 'c'}, true, "gone"},
    };

    for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
        bool committed = i % 2, ends = cases[i / 2].ends;
        _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
        const char *ended;

        add(&ledger, 1, 'a', NULL, EMPTY_HOST);
        assert_string_equal(reconcile(&ledger, HOST(there), 1), "");
        if (committed)
            assert_int_equal(commit(&ledger, 1, 3, HOST(there)), 0);
        /* long after its TTL */
        ended = reconcile(&ledger, HOST(cases[i / 2].dom), 1000000);
        if (strcmp(ended, ends && !committed ? "1" : "") != 0 ||
            strcmp(ledger_text(ledger), !ends       ? (committed ? "1c3" : "1b3")
                                        : committed ? ""
                                                    : "x1") != 0)
            fail_msg("%s: %s, ended: %s", cases[i / 2].what, ledger_text(ledger), ended);
    }
}

static void test_expires(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
    Ledger *before;

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    add(&ledger, 2, 'b', NULL, EMPTY_HOST);
    before = ledger;
    assert_string_equal(reconcile(&ledger, EMPTY_HOST, 999), "");
    assert_ptr_equal(ledger, before);
    /* one whose domain has come in time goes on */
    assert_string_equal(reconcile(&ledger, HOST(web), 1000), "2");
    assert_ledger(ledger, "1b3 x2");
    assert_int_equal(ledger_next_expiry(ledger), UINT64_MAX);
}

/* Nothing has changed: the same ledger, not one like it, so that nothing is written. */
static void test_same(void **state)
{
    const Dom doms[] = {{.domid = 2, .uuid = 'c', .name = "old"}, {.domid = 3, .uuid = 'a'}, {.domid = 4, .uuid = 'b'}};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
    Ledger *before;

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    add(&ledger, 2, 'b', NULL, EMPTY_HOST);
    add(&ledger, 3, 'c', NULL, host_of(3, doms));
    add(&ledger, 4, 0, "old", host_of(3, doms));
    assert_int_equal(commit(&ledger, 1, 3, host_of(3, doms)), 0);
    assert_string_equal(reconcile(&ledger, host_of(3, doms), 1), "");
    assert_ledger(ledger, "1c3 2b4 3p!2 4p!2");
    before = ledger;
    assert_string_equal(reconcile(&ledger, host_of(3, doms), 2), "");
    assert_ptr_equal(ledger, before);
}

/* --- reboot, local migration --- */

static void test_reboot(void **state)
{
    const Dom old = {.domid = 3, .uuid = 'a', .name = "web"}, new = {.domid = 4, .uuid = 'a', .name = "web"};
    const Dom other = {.domid = 3, .uuid = 'b', .name = "x"};

    for (int by_name = 0; by_name <= 1; by_name++) {
        _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

        add(&ledger, 1, by_name ? 0 : 'a', "web", HOST(old));
        assert_string_equal(reconcile(&ledger, HOST(old), 1), "");
        assert_ledger(ledger, "1p!3"); /* the old domain is not the new one */
        assert_string_equal(reconcile(&ledger, HOST(old, new), 2), "");
        assert_ledger(ledger, "1b4"); /* both are there: a migration to the same host */
        assert_string_equal(reconcile(&ledger, HOST(new), 3), "");
        assert_ledger(ledger, "1b4");

        /* the old one is gone before the new one comes, and the new one has its number */
        add(&ledger, 2, by_name ? 0 : 'a', "web", HOST(new));
        assert_int_equal(release(&ledger, 1), 0);
        assert_ledger(ledger, "2p!4");
        assert_string_equal(reconcile(&ledger, EMPTY_HOST, 4), "");
        assert_ledger(ledger, "2p");
        assert_string_equal(reconcile(&ledger, HOST(new), 5), "");
        assert_ledger(ledger, "2b4");

        /* its number is another's now */
        add(&ledger, 3, by_name ? 0 : 'a', "web", HOST(old, new));
        assert_ledger(ledger, "2b4 3p!3");
        assert_string_equal(reconcile(&ledger, HOST(other, new), 6), "");
        assert_ledger(ledger, "2b4 3p");
    }
}

/* --- who gets it --- */

static void test_oldest_first(void **state)
{
    const Dom doms[] = {{.domid = 3, .uuid = 'a'}, {.domid = 4, .uuid = 'a'}, {.domid = 5, .uuid = 'a'}};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 'a', NULL, host_of(1, doms)); /* does not mean 3 */
    add(&ledger, 2, 'a', NULL, EMPTY_HOST);
    add(&ledger, 3, 'a', NULL, EMPTY_HOST);
    add(&ledger, 4, 'a', NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, host_of(1, doms), 1), "");
    assert_ledger(ledger, "1p!3 2b3 3p 4p");
    assert_string_equal(reconcile(&ledger, host_of(3, doms), 2), "");
    assert_ledger(ledger, "1b4 2b3 3b5 4p");
    assert_ptr_equal(ledger_find_domain(ledger, 4), ledger->items[0]);
    /* a place that is free again goes to the next */
    assert_int_equal(release(&ledger, 1), 0);
    assert_string_equal(reconcile(&ledger, host_of(3, doms), 3), "");
    assert_ledger(ledger, "2b3 3b5 4b4");
}

static void test_uuid_before_name(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a', .name = "web"};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 0, "web", EMPTY_HOST);
    add(&ledger, 2, 'a', "web", EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(web), 1), "");
    assert_ledger(ledger, "1p 2b3");
}

/* A domain whose reservation ends in the same moment may be the next one's. */
static void test_hands_over(void **state)
{
    const Dom old = {.domid = 3, .uuid = 'a'}, new = {.domid = 3, .uuid = 'b'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(old), 1), "");
    add(&ledger, 2, 'b', NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(new), 2), "1");
    assert_ledger(ledger, "2b3 x1");
}

/* --- tokens that are remembered --- */

static void test_remembers(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 100; i++)
            add(&ledger, round * 100 + i + 1, 0, NULL, EMPTY_HOST);
        (void)reconcile(&ledger, EMPTY_HOST, 1000);
    }
    assert_int_equal(ledger->n, 0);
    assert_int_equal(ledger->n_expired, LEDGER_EXPIRED_MAX);
    assert_string_equal(ledger->expired[LEDGER_EXPIRED_MAX - 1], token_of(300));
    assert_string_equal(ledger->expired[0], token_of(300 - LEDGER_EXPIRED_MAX + 1));
    assert_int_equal(release(&ledger, 44), LEDGER_E_UNKNOWN_TOKEN);
    assert_int_equal(release(&ledger, 45), LEDGER_E_EXPIRED);

    /* more at once than are remembered */
    for (unsigned i = 0; i < 300; i++)
        add(&ledger, 1000 + i, 0, NULL, EMPTY_HOST);
    (void)reconcile(&ledger, EMPTY_HOST, 1000);
    assert_int_equal(ledger->n_expired, LEDGER_EXPIRED_MAX);
    assert_string_equal(ledger->expired[LEDGER_EXPIRED_MAX - 1], token_of(1299));
    assert_string_equal(ledger->expired[0], token_of(1300 - LEDGER_EXPIRED_MAX));
}

/* --- whatever happens --- */

static unsigned random_state = 1;
static unsigned below(unsigned n)
{
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 16) % n;
}

static const char *const names[] = {NULL, "n1", "n2", "n3"};

/* A host of few numbers, UUIDs and names, so that there is every kind of likeness. */
static HostMemory *random_host(void)
{
    Dom doms[8];
    size_t n = 0;

    for (domid_t domid = 1; domid <= 8; domid++)
        if (below(2))
            doms[n++] = (Dom){.domid = domid,
                              .uuid = below(4) ? (char)('a' + below(4)) : 0,
                              .name = names[below(4)],
                              .dying = below(8) == 0};
    return host_of(n, doms);
}

static bool awaits(const Reservation *r, const DomainMemory *d)
{
    if (d->dying || r->not_domid == d->domid)
        return false;
    if (r->told_uuid)
        return d->has_uuid && memcmp(r->uuid, d->uuid, 16) == 0;
    return r->name && d->name && strcmp(r->name, d->name) == 0;
}

/* What must hold of a ledger whatever was done to it. */
static void check_ledger(const Ledger *ledger)
{
    size_t n_placed = 0;

    for (size_t i = 0; i < ledger->n; i++) {
        const Reservation *r = ledger->items[i];

        assert_true((r->state == RESERVATION_PENDING) == (r->domid == DOMID_NONE));
        assert_true(!r->told_uuid || r->has_uuid);
        assert_true(r->state != RESERVATION_PENDING || r->told_uuid == r->has_uuid);
        assert_true(r->not_domid == DOMID_NONE || r->state == RESERVATION_PENDING);
        assert_ptr_equal(ledger_find(ledger, r->token), r);
        if (r->domid == DOMID_NONE)
            continue;
        n_placed++;
        assert_ptr_equal(ledger_find_domain(ledger, (domid_t)r->domid), r); /* so no domain has two */
    }
    assert_int_equal(ledger->n_placed, n_placed);
}

/* What must hold of a ledger that was held against the domains there are. */
static void check_reconciled(const Ledger *ledger, const HostMemory *memory, uint64_t now)
{
    for (size_t i = 0; i < ledger->n; i++) {
        const Reservation *r = ledger->items[i];

        if (r->state != RESERVATION_PENDING) {
            const DomainMemory *d = host_memory_find(memory, (domid_t)r->domid);

            assert_true(d && !d->dying && d->has_uuid == r->has_uuid && memcmp(d->uuid, r->uuid, 16) == 0);
            continue;
        }
        assert_true(r->expires_us > now);
        if (r->not_domid != DOMID_NONE)
            assert_non_null(host_memory_find(memory, (domid_t)r->not_domid));
        for (size_t j = 0; j < memory->n_domains; j++)
            assert_false(awaits(r, &memory->domains[j]) && !ledger_find_domain(ledger, memory->domains[j].domid));
    }
}

/* Every open one of the old ledger is in the new one or among the ends, and nothing else is. */
static void check_ends(const Ledger *old, const Ledger *new, const LedgerEnd *ends, size_t n_ends)
{
    size_t n = 0;

    for (size_t i = 0; i < old->n; i++)
        if (!ledger_find(new, old->items[i]->token) && reservation_is_open(old->items[i])) {
            assert_ptr_equal(ends[n++].reservation, old->items[i]);
            assert_string_equal(new->expired[new->n_expired - n_ends + n - 1], old->items[i]->token);
        }
    assert_int_equal(n, n_ends);
}

static void step(Ledger **ledger, unsigned *number, uint64_t now)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = random_host();
    unsigned token = 1 + below(*number + 1);
    LedgerEnd *ends = NULL;
    size_t n_ends = 0;
    Ledger *new = NULL;
    int r = 1;

    switch (below(6)) {
    case 0:
    case 1: {
        Reservation *promise =
            promise_of(++*number, below(2) ? (char)('a' + below(4)) : 0, names[below(4)], now + 1 + below(20));

        r = ledger_add(*ledger, promise, memory, &new);
        reservation_unref(promise);
        assert_int_equal(r, 0);
        break;
    }
    case 2:
        r = ledger_commit(*ledger, token_of(token), (domid_t)(1 + below(8)), memory, &new);
        break;
    case 3:
        r = ledger_release(*ledger, token_of(token), &new);
        break;
    default:
        r = ledger_reconcile(*ledger, memory, now, &new, &ends, &n_ends);
        assert_int_equal(r, 0);
        check_reconciled(new, memory, now);
        check_ends(*ledger, new, ends, n_ends);
        free(ends);
    }
    if (r == 0)
        replace_ledger(ledger, new);
    check_ledger(*ledger);
}

static void test_whatever(void **state)
{
    unsigned most = 0, number = 0;
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    for (uint64_t now = 1; now < 50000; now++) {
        step(&ledger, &number, now);
        most = MAX(most, (unsigned)ledger->n_placed);
    }
    assert_true(most >= 3); /* it was about something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes),
        cmocka_unit_test(test_goes),
        cmocka_unit_test(test_expires),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_reboot),
        cmocka_unit_test(test_oldest_first),
        cmocka_unit_test(test_uuid_before_name),
        cmocka_unit_test(test_hands_over),
        cmocka_unit_test(test_remembers),
        cmocka_unit_test(test_whatever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
