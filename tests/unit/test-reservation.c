/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/ledger.h"

/* What is kept of a placement. */

/* A placement on these sets; "hard soft" pairs by number. */
typedef struct Sets {
    size_t n_sets;
    const char *sets[4];
    size_t n_vcpus;
    PlacedVcpu vcpus[6];
    const char *kept; /* "sets | runs" */
} Sets;

static Reservation *keep(const PlacementRequest *request, Bitmap *sets, size_t n_sets, PlacedVcpu *vcpus, size_t n)
{
    PlacedMemory memory = {.node = 3, .bytes = GIB, .overhead = 1};
    const Placement placement = {
        .memory = &memory, .n_memory = 1, .sets = sets, .n_sets = n_sets, .vcpus = vcpus, .n_vcpus = n};
    Reservation *r = reservation_new(request, &placement, &(ReservationInfo){.token = token_of(1)});

    assert_non_null(r);
    return r;
}

static const char *sets_text(const PlacedSets *sets)
{
    static char text[512];
    size_t at = 0;

    for (size_t i = 0; i < sets->n_texts; i++)
        at += (size_t)sprintf(text + at, "%s ", sets->texts[i]);
    at += (size_t)sprintf(text + at, "|");
    for (size_t i = 0; i < sets->n_runs; i++)
        at += (size_t)sprintf(text + at, " %u:%u,%u", sets->runs[i].n, sets->runs[i].hard, sets->runs[i].soft);
    return text;
}

static void test_request(void **state)
{
    static const struct {
        PlacementRequest request;
        uint32_t pool;
        uint64_t max_memory;
    } cases[] = {
        {{.vcpus = 1, .memory = GIB, .type = DOMAIN_TYPE_PVH, .pool = ROW_NO_POOL}, 0, GIB},
        {{.vcpus = 1, .memory = GIB, .max_memory = 2 * GIB, .type = DOMAIN_TYPE_UNKNOWN, .pool = 7}, 7, 2 * GIB},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(reservation_unref_p) Reservation *r = keep(&cases[i].request, NULL, 0, NULL, 0), *copy = NULL;

        assert_int_equal(r->type, cases[i].request.type);
        assert_int_equal(r->pool, cases[i].pool);
        assert_int_equal(r->max_memory, cases[i].max_memory);
        copy = reservation_copy(r);
        assert_non_null(copy);
        assert_true(copy->type == r->type && copy->pool == r->pool && copy->max_memory == r->max_memory);
    }
}

static void test_sets(void **state)
{
    static Sets cases[] = {
        {1, {"0-7"}, 1, {{0, 0}}, "0-7 | 1:0,0"},
        {2, {"0-7", "0-3"}, 3, {{0, 1}, {0, 1}, {0, 1}}, "0-7 0-3 | 3:0,1"},
        {2, {"0-7", "0-3"}, 3, {{1, 1}, {1, 1}, {1, 1}}, "0-3 | 3:0,0"}, /* a set that nobody has */
        {3,
         {"4-5", "0-7", "1,3"},
         6,
         {{1, 0}, {1, 0}, {1, 2}, {1, 2}, {1, 0}, {1, 0}},
         "0-7 4-5 1,3 | 2:0,1 2:0,2 2:0,1"},
        {2, {"0-1", "2-3"}, 4, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, "0-1 2-3 | 2:0,0 2:1,1"},
        {2, {"0-1", "2-3"}, 4, {{0, 1}, {1, 1}, {1, 0}, {0, 0}}, "0-1 2-3 | 1:0,1 1:1,1 1:1,0 1:0,0"},
        {1, {"0-7"}, 0, {{0, 0}}, "|"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const PlacementRequest request = {.vcpus = (uint32_t)cases[i].n_vcpus, .memory = GIB};
        _cleanup_(reservation_unref_p) Reservation *r = NULL, *copy = NULL;
        Bitmap sets[4] = {0};

        for (size_t s = 0; s < cases[i].n_sets; s++)
            assert_int_equal(bitmap_parse(&sets[s], cases[i].sets[s], CPUS_MAX - 1), 0);
        r = keep(&request, sets, cases[i].n_sets, cases[i].vcpus, cases[i].n_vcpus);
        for (size_t s = 0; s < ARRAY_SIZE(sets); s++)
            bitmap_done(&sets[s]);
        assert_string_equal(sets_text(r->sets), cases[i].kept);
        copy = reservation_copy(r);
        r = reservation_unref(r);
        assert_string_equal(sets_text(copy->sets), cases[i].kept); /* it outlives the first */
    }
}

/* As many vCPUs as a domain can have, each on a core of its own: small, whatever the CPUs' numbers. */
static void test_many(void **state)
{
    const PlacementRequest request = {.vcpus = REQUEST_VCPUS_MAX, .memory = GIB};
    Bitmap *sets = new_array(REQUEST_VCPUS_MAX + 1, sizeof(*sets));
    PlacedVcpu *vcpus = new_array(REQUEST_VCPUS_MAX, sizeof(*vcpus));
    _cleanup_(reservation_unref_p) Reservation *r = NULL;

    assert_int_equal(bitmap_set_range(&sets[REQUEST_VCPUS_MAX], 0, CPUS_MAX - 1), 0);
    for (unsigned i = 0; i < REQUEST_VCPUS_MAX; i++) {
        assert_int_equal(bitmap_set(&sets[i], CPUS_MAX - 1 - i), 0);
        vcpus[i] = (PlacedVcpu){.hard = REQUEST_VCPUS_MAX, .soft = i};
    }
    r = keep(&request, sets, REQUEST_VCPUS_MAX + 1, vcpus, REQUEST_VCPUS_MAX);
    assert_int_equal(r->sets->n_runs, REQUEST_VCPUS_MAX);
    assert_int_equal(r->sets->n_texts, REQUEST_VCPUS_MAX + 1);
    assert_string_equal(r->sets->texts[0], "0-8191");
    for (unsigned i = 0; i < REQUEST_VCPUS_MAX; i++) {
        assert_int_equal(r->sets->runs[i].soft, i + 1);
        assert_int_equal(strtoul(r->sets->texts[i + 1], NULL, 10), CPUS_MAX - 1 - i);
        bitmap_done(&sets[i]);
    }
    bitmap_done(&sets[REQUEST_VCPUS_MAX]);
    free(sets);
    free(vcpus);
}

/* As long as it is open; then its domain has sets of its own. */
static void test_committed(void **state)
{
    const Dom web = {.domid = 3, .uuid = 'a'};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new(), *before = NULL;

    add(&ledger, 1, 'a', NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(web), 1), "");
    assert_ledger(ledger, "1b3");
    assert_string_equal(sets_text(ledger->items[0]->sets), "0-7 0-3 | 2:0,1");
    before = ledger_ref(ledger);
    assert_int_equal(commit(&ledger, 1, 3, HOST(web)), 0);
    assert_null(ledger->items[0]->sets);
    assert_string_equal(sets_text(before->items[0]->sets), "0-7 0-3 | 2:0,1");
}

static void test_token(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {"0123456789abcdef0123456789abcdef", true},  {"", false},
        {"0123456789abcdef0123456789abcde", false},  {"0123456789abcdef0123456789abcdef0", false},
        {"0123456789ABCDEF0123456789abcdef", false}, {"0123456789abcdef 123456789abcdef", false},
        {"0123456789abcdef0123456789abcdeg", false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (token_is_valid(cases[i].text) != cases[i].valid)
            fail_msg("'%s'", cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),   cmocka_unit_test(test_sets),  cmocka_unit_test(test_many),
        cmocka_unit_test(test_committed), cmocka_unit_test(test_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
