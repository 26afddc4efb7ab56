/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"
#include "tests/unit/xen-host.h"
#include "tests/unit/xen-oracle.h"

#include <string.h>

/* Domains end, begin and take each other's ids at every moment of a collection; and what they may be called. */

#define VICTIM 2u

/* --- at every moment --- */

typedef struct Moment {
    unsigned at, calls; /* the change comes before the call of that number */
    void (*change)(FakeXen *fake);
} Moment;

static Moment moment;

static void on_call(FakeXen *fake, FakeCall call)
{
    if (moment.calls++ == moment.at)
        moment.change(fake);
}

static FakeXen *new_host(bool patched)
{
    FakeXen *fake = xen_host_new(patched);

    fake->domains[VICTIM].name = "victim";
    fake->domains[VICTIM].info.max_vcpu_id = 2;
    fake->batch = 1; /* pages come one by one, too */
    return fake;
}

static void end_victim(FakeXen *fake)
{
    fake->domains[VICTIM].dead = fake->domains[VICTIM].unlisted = true;
}

static void end_quietly(FakeXen *fake)
{
    fake->domains[VICTIM].dead = true; /* the list has it to the end, as it has a dying one */
}

/* All that a domain has is another's. */
static void reuse_victim(FakeXen *fake)
{
    FakeDomain *victim = &fake->domains[VICTIM];

    victim->info.handle[15] ^= 0xff;
    victim->info.tot_pages = 7;
    victim->info.max_vcpu_id = 0;
    victim->pages[0] = 0;
    victim->pages[1] = 7;
    victim->hard = 0x0f;
    victim->soft = 0x01;
    victim->nodes = 0x01;
    victim->name = "another";
}

/* A domain whose list entry changes with the pages only: the same number of vCPUs. */
static void reuse_alike(FakeXen *fake)
{
    reuse_victim(fake);
    fake->domains[VICTIM].info.max_vcpu_id = 2;
}

static void begin_domain(FakeXen *fake)
{
    fake_xen_add(fake, 1)->name = "begun";
}

/* The row is all of one domain: the one that was, or the one that is. */
static void check_whole(const DomainRow *row, const FakeDomain *was, const FakeDomain *is)
{
    const FakeDomain *which = memcmp(row->uuid, was->info.handle, 16) == 0 ? was : is;

    assert_memory_equal(row->uuid, which->info.handle, 16);
    assert_int_equal(row->n_vcpus, which->info.max_vcpu_id + 1);
    if (row->name)
        assert_string_equal(row->name, which->name);
    if (row->node_pages)
        assert_int_equal(row->node_pages[1], which->pages[1]);
    if (row->has_node_affinity)
        assert_int_equal(bitmap_next(&row->node_affinity, 0), __builtin_ctz(which->nodes));
    for (size_t i = 0; row->vcpus && i < row->vcpus->n; i++)
        assert_int_equal(bitmap_next(&row->vcpus->rows[i].soft, 0), __builtin_ctz(which->soft));
}

static void check_others(const HostRows *rows, size_t n)
{
    size_t found = 0;

    oracle_check_rows(rows);
    for (size_t i = 0; i < rows->n_domains; i++) {
        const DomainRow *row = &rows->domains[i];

        if (row->domid == VICTIM || row->domid >= n)
            continue;
        found++;
        assert_non_null(row->name);
        assert_non_null(row->node_pages);
        assert_non_null(row->vcpus);
        assert_true(row->has_node_affinity);
    }
    assert_int_equal(found, n - 1);
    assert_int_equal(rows->warnings.n, 0);
}

typedef struct Variant {
    bool patched;
    unsigned before; /* generations before it happens: with four, it is nobody's turn then */
    bool full;
} Variant;

static const Variant variants[] = {{false, 0, true}, {true, 0, true},  {false, 1, true},
                                   {true, 1, true},  {true, 4, false}, {false, 4, false}};

/* One generation during which it happens, and the next. Whether the collection was long enough. */
static bool run_moment(unsigned at, void (*change)(FakeXen *fake), const Variant *variant)
{
    FakeXen *fake = new_host(variant->patched);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL, *next = NULL;
    FakeDomain was = fake->domains[VICTIM];
    bool happened;

    for (unsigned i = 0; i < variant->before; i++)
        host_rows_free(fake_xen_collect(source, true));
    moment = (Moment){.at = at, .change = change};
    fake->before = on_call;
    rows = fake_xen_collect(source, variant->full);
    fake->before = NULL;
    happened = moment.calls > at;
    if (!happened)
        change(fake);
    fake->domains[VICTIM].unlisted = fake->domains[VICTIM].dead;
    check_others(rows, 4);
    if (fake_xen_row(rows, VICTIM))
        check_whole(fake_xen_row(rows, VICTIM), &was, &fake->domains[VICTIM]);
    next = fake_xen_collect(source, false);
    check_others(next, 4);
    assert_int_equal(fake_xen_row(next, VICTIM) == NULL, fake->domains[VICTIM].dead);
    if (fake_xen_row(next, VICTIM)) {
        check_whole(fake_xen_row(next, VICTIM), &fake->domains[VICTIM], &fake->domains[VICTIM]);
        assert_non_null(fake_xen_row(next, VICTIM)->vcpus);
        assert_string_equal(fake_xen_row(next, VICTIM)->name, fake->domains[VICTIM].name);
    }
    assert_int_equal(next->n_domains, fake->n_domains - fake->domains[VICTIM].dead);
    for (int kind = 0; kind < _ERROR_KIND_MAX; kind++)
        assert_int_equal(source->errors[kind], 0);
    return happened;
}

static void test_every_moment(void **state)
{
    static void (*const changes[])(FakeXen *) = {end_victim, end_quietly, reuse_victim, reuse_alike, begin_domain};
    unsigned at;

    for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
        for (size_t j = 0; j < ARRAY_SIZE(variants); j++) {
            for (at = 0; run_moment(at, changes[i], &variants[j]); at++)
                ;
            assert_true(at > (variants[j].full ? 30 : 10)); /* calls in a collection, each of them a moment */
        }
}

/* --- the same domid in the next generation --- */

static void test_reused_between(void **state)
{
    for (unsigned in_turn = 0; in_turn < 10; in_turn++) {
        FakeXen *fake = new_host(true);
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        host_rows_free(fake_xen_collect(source, true));
        for (unsigned i = 0; i < in_turn; i++) /* in its turn or not */
            host_rows_free(fake_xen_collect(source, false));
        reuse_alike(fake);
        fake->errors[FAKE_HEAP_DOMAINS] = -EBUSY;
        fake->errors[FAKE_STORE_NAME] = -EIO;
        fake->errors[FAKE_NODE_AFFINITY] = fake->errors[FAKE_VCPU_AFFINITY] = -EBUSY;
        rows = fake_xen_collect(source, false);
        assert_null(fake_xen_row(rows, VICTIM)->node_pages); /* rather nothing than what was the other's */
        assert_null(fake_xen_row(rows, VICTIM)->name);
        assert_null(fake_xen_row(rows, VICTIM)->vcpus);
        assert_false(fake_xen_row(rows, VICTIM)->has_node_affinity);
        host_rows_free(rows);
        fake_xen_heal(fake);
        rows = fake_xen_collect(source, false);
        check_whole(fake_xen_row(rows, VICTIM), &fake->domains[VICTIM], &fake->domains[VICTIM]);
        assert_string_equal(fake_xen_row(rows, VICTIM)->name, "another");
    }
}

/* A migration within the host has two domains of one UUID for a while; a populate-on-demand guest grows. */
static void test_same_uuid_twice(void **state)
{
    FakeXen *fake = new_host(true);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    memcpy(fake->domains[3].info.handle, fake->domains[VICTIM].info.handle, 16);
    fake->domains[VICTIM].info.max_pages = 1000;
    host_rows_free(fake_xen_collect(source, true));
    fake->domains[VICTIM].pages[0] += 100;
    fake->domains[VICTIM].info.tot_pages += 100;
    rows = fake_xen_collect(source, false);
    assert_int_equal(rows->n_domains, 4);
    assert_int_equal(fake_xen_row(rows, VICTIM)->node_pages[0], 110);
    assert_int_equal(fake_xen_row(rows, VICTIM)->total_pages, 130);
    assert_int_equal(fake_xen_row(rows, VICTIM)->max_pages, 1000);
    assert_int_equal(fake_xen_row(rows, 3)->node_pages[1], 20);
    assert_int_equal(fake_xen_row(rows, 3)->total_pages, 20);
}

/* Thousands come and go; each generation is whole. */
static void test_storm(void **state)
{
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    unsigned seed = 7;

    fake_xen_add(fake, 4095);
    for (unsigned generation = 0; generation < 12; generation++) {
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;
        size_t there = 0;

        for (size_t i = 1; i < fake->n_domains; i++) {
            FakeDomain *domain = &fake->domains[i];

            if (rand_r(&seed) % 4 == 0)
                domain->dead = domain->unlisted = !domain->dead;
            else if (rand_r(&seed) % 4 == 0)
                domain->info.handle[14]++;
            there += !domain->dead;
        }
        rows = fake_xen_collect(source, generation % 3 == 0);
        oracle_check_rows(rows);
        assert_int_equal(rows->n_domains, there + 1);
        assert_int_equal(rows->warnings.n, 0);
        for (size_t i = 0; i < rows->n_domains; i++) {
            assert_memory_equal(rows->domains[i].uuid, fake->domains[rows->domains[i].domid].info.handle, 16);
            assert_non_null(rows->domains[i].vcpus);
            assert_non_null(rows->domains[i].name);
        }
    }
}

/* --- names --- */

static void test_names(void **state)
{
    static char long_name[201];
    static const char *const names[] = {"",
                                        "twice",
                                        "twice",
                                        long_name,
                                        "13\" lap\\top",
                                        "two\nlines\r",
                                        "\xff\xfe"
                                        "bad",
                                        "cut \xe2\x82",
                                        "\xed\xa0\x80",
                                        "bell\a tab\t del\x7f esc\x1b[31m",
                                        "h\xc3\xa4"
                                        "user \xf0\x9f\x90\xa7",
                                        NULL};
    FakeXen *fake = fake_xen_new();
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;
    json_object *documents;

    memset(long_name, 'n', sizeof(long_name) - 1);
    fake_xen_add(fake, ARRAY_SIZE(names));
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        fake->domains[i + 1].name = names[i];
    rows = fake_xen_collect(source, true);
    for (size_t i = 0; i + 1 < ARRAY_SIZE(names); i++)
        assert_string_equal(rows->domains[i + 1].name, names[i]); /* the bytes that xenstore has */
    assert_null(rows->domains[ARRAY_SIZE(names)].name);
    documents = oracle_collect(source, false); /* which parses them */
    assert_non_null(documents);
    json_object_put(documents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_moment),    cmocka_unit_test(test_reused_between),
        cmocka_unit_test(test_same_uuid_twice), cmocka_unit_test(test_storm),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
