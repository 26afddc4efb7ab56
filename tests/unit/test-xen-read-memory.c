/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"
#include "tests/unit/xen-host.h"
#include "tests/unit/xen-oracle.h"

#include <string.h>

/* What is read for a decision is what a collection would say, whatever is under way. test-xen-read-faults.c has the
 * rest. */

static FakeXen *new_host(bool patched)
{
    FakeXen *fake = xen_host_new(patched);

    for (size_t i = 0; i < fake->n_domains; i++)
        fake->domains[i].info.outstanding_pages = 100 + i;
    return fake;
}

static HostMemory *read_memory(Source *source)
{
    HostMemory *memory = NULL;

    assert_int_equal(source->ops->read_memory(source, &memory), 0);
    assert_non_null(memory);
    return memory;
}

/* --- it is what a collection says --- */

static void check_node(const NodeRow *got, const NodeRow *wanted)
{
    assert_true(got->size == wanted->size && got->free == wanted->free && got->low == wanted->low);
    assert_true(got->present == wanted->present && got->dirty == wanted->dirty && got->claimed == wanted->claimed);
    assert_int_equal(got->n_free_chunks, wanted->n_free_chunks);
    if (wanted->n_free_chunks)
        assert_memory_equal(got->free_chunks, wanted->free_chunks, wanted->n_free_chunks * sizeof(uint64_t));
}

static void check_domain(const DomainMemory *got, const DomainRow *wanted, size_t n_nodes)
{
    assert_int_equal(got->domid, wanted->domid);
    assert_int_equal(got->dying, wanted->state == DOMAIN_DYING);
    assert_int_equal(got->has_uuid, wanted->has_uuid);
    assert_memory_equal(got->uuid, wanted->uuid, sizeof(got->uuid));
    assert_null(got->name);
    assert_true(got->total_pages == wanted->total_pages && got->claimed_pages == wanted->claimed_pages);
    assert_int_equal(got->node_pages == NULL, wanted->node_pages == NULL);
    if (got->node_pages)
        assert_memory_equal(got->node_pages, wanted->node_pages, n_nodes * sizeof(uint64_t));
}

static void check_memory(const HostMemory *memory, const HostRows *rows)
{
    assert_int_equal(memory->page_size, rows->page_size);
    assert_int_equal(memory->node_claims, (rows->features & FEATURE_BIT(FEATURE_CLAIMS)) != 0);
    assert_int_equal(memory->n_nodes, rows->n_nodes);
    assert_int_equal(memory->n_domains, rows->n_domains);
    for (size_t i = 0; i < rows->n_nodes; i++)
        check_node(&memory->nodes[i], &rows->nodes[i]);
    for (size_t i = 0; i < rows->n_domains; i++)
        check_domain(&memory->domains[i], &rows->domains[i], rows->n_nodes);
}

static void test_as_a_collection(void **state)
{
    for (int patched = 0; patched < 2; patched++) {
        FakeXen *fake = new_host(patched);
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, true);
        _cleanup_(host_memory_free_p) HostMemory *memory = read_memory(source);

        check_memory(memory, rows);
        assert_int_equal(memory->domains[1].claimed_pages, 101);
        assert_int_equal(memory->domains[1].node_pages[1], 20);
        assert_true(memory->nodes[1].free == (patched ? 201 * 4096 : fake->nodes[1].free));
        assert_true(memory->nodes[0].low != VALUE_UNKNOWN && memory->nodes[0].low > 0);
    }
}

/* Not the numbers of the collection before. */
static void test_it_is_fresh(void **state)
{
    FakeXen *fake = new_host(false);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;

    host_rows_free(fake_xen_collect(source, true));
    xen_host_change(fake);
    fake->domains[1].heap_flags = XEN_NUMA_HEAP_DOMAIN_DYING;
    fake->domains[3].info.flags = XEN_DOMAIN_DYING;
    memory = read_memory(source);
    assert_true(memory->nodes[0].free == fake->nodes[0].free);
    assert_int_equal(memory->n_domains, 4);
    assert_null(host_memory_find(memory, 2));
    assert_non_null(host_memory_find(memory, 4));
    assert_int_equal(host_memory_find(memory, 1)->node_pages[0], 5);
    assert_true(host_memory_find(memory, 1)->dying);
    assert_true(host_memory_find(memory, 3)->dying);
    assert_false(host_memory_find(memory, 4)->dying);
}

static void test_stock(void **state)
{
    FakeXen *fake = new_host(false);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;

    fake_xen_fail(fake, FAKE_HEAP_QUERY, 0, -ENOSYS, 0);
    rows = fake_xen_collect(source, true);
    memory = read_memory(source);
    check_memory(memory, rows);
    for (size_t i = 0; i < memory->n_domains; i++) {
        assert_null(memory->domains[i].node_pages);
        assert_true(memory->domains[i].total_pages == fake->domains[i].info.tot_pages);
    }
    assert_true(memory->nodes[0].dirty == VALUE_UNKNOWN && memory->nodes[0].claimed == VALUE_UNKNOWN);
    assert_true(memory->nodes[0].low > 0 && memory->nodes[0].low < memory->nodes[0].free);
    assert_int_equal(source->errors[ERROR_XEN], 0);
}

static void test_hole(void **state)
{
    for (int patched = 0; patched < 2; patched++) {
        FakeXen *fake = new_host(patched);
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;
        _cleanup_(host_memory_free_p) HostMemory *memory = NULL;

        fake->n_nodes = 3;
        fake->nodes[1] = (XenMemInfo){.size = ROW_HOLE};
        fake->nodes[2] = fake->nodes[0];
        rows = fake_xen_collect(source, true);
        memory = read_memory(source);
        check_memory(memory, rows);
        assert_true(memory->nodes[1].size == ROW_HOLE);
    }
}

static void test_before_any_collection(void **state)
{
    _cleanup_(source_free_p) Source *source = fake_xen_source(new_host(true));
    HostMemory *memory = NULL;

    assert_true(source->ops->read_memory(source, &memory) < 0);
    assert_null(memory);
}

/* To be told to read all again, at the next collection, is no reason to know less until then. */
static void test_after_reload(void **state)
{
    for (int patched = 0; patched < 2; patched++) {
        FakeXen *fake = new_host(patched);
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, true);
        _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
        char *error = NULL;

        assert_int_equal(source->ops->reload(source, &error), 0);
        memory = read_memory(source);
        check_memory(memory, rows);
        memory = host_memory_free(memory);
        /* That collection cannot ask, so what was known is still in force. */
        fake_xen_fail(fake, FAKE_HEAP_QUERY, 0, -EBUSY, 0);
        fake_xen_fail(fake, FAKE_COMMANDLINE, 0, -EBUSY, 0);
        host_rows_free(fake_xen_collect(source, false));
        memory = read_memory(source);
        check_memory(memory, rows);
    }
}

/* --- while a collection is under way --- */

/* Collects, with readings before every step, and hands out how many there were. */
static json_object *collect_with_readings(Source *source, unsigned *ret_n)
{
    HostRows *rows = NULL;
    int r = 1;

    assert_int_equal(source->ops->begin(source, true), 0);
    for (*ret_n = 0; r > 0; (*ret_n)++) {
        host_memory_free(read_memory(source));
        r = source->ops->step(source, &rows);
    }
    assert_int_equal(r, 0);
    return oracle_documents(rows);
}

static void test_does_not_disturb(void **state)
{
    for (int patched = 0; patched < 2; patched++) {
        _cleanup_(source_free_p) Source *twin = NULL;
        _cleanup_(source_free_p) Source *source = NULL;
        json_object *wanted, *got;
        FakeXen *fakes[2];
        unsigned n = 0;

        for (int i = 0; i < 2; i++) {
            fakes[i] = new_host(patched);
            fake_xen_add(fakes[i], 600);
            fakes[i]->batch = 7;
        }
        twin = fake_xen_source(fakes[0]);
        source = fake_xen_source(fakes[1]);
        host_rows_free(fake_xen_collect(twin, true));
        host_rows_free(fake_xen_collect(source, true));
        wanted = oracle_collect(twin, true);
        got = collect_with_readings(source, &n);
        oracle_equal(got, wanted);
        assert_true(n > 100);
        json_object_put(got);
        json_object_put(wanted);
    }
}

/* More nodes than before, as after memory was added: those that the collection knows, and it goes on. */
static void test_more_nodes(void **state)
{
    FakeXen *fake = new_host(true);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;

    host_rows_free(fake_xen_collect(source, true));
    fake->n_nodes = 3;
    fake->nodes[2] = fake->nodes[1];
    fake->heap_orders = 5;
    memory = read_memory(source);
    assert_int_equal(memory->n_nodes, 2);
    assert_int_equal(memory->nodes[1].n_free_chunks, 5);
    assert_int_equal(memory->nodes[1].free, 201 * 4096);
    assert_int_equal(memory->domains[1].node_pages[1], 20);
    assert_int_equal(source->errors[ERROR_XEN], 0);
}

/* How many calls it takes: a few pages of the list, as many of the records, and the nodes. */
static void test_cost(void **state)
{
    static const struct {
        unsigned domains, most;
    } cases[] = {{200, 3}, {4096, 16 + 17 + 1}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        FakeXen *fake = new_host(true);
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        unsigned before = 0, after = 0;

        fake_xen_add(fake, cases[i].domains - fake->n_domains);
        host_rows_free(fake_xen_collect(source, true));
        for (int call = 0; call < _FAKE_MAX; call++)
            before += fake->counts[call];
        host_memory_free(read_memory(source));
        for (int call = 0; call < _FAKE_MAX; call++)
            after += fake->counts[call];
        assert_in_range(after - before, 3, cases[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_a_collection),
        cmocka_unit_test(test_it_is_fresh),
        cmocka_unit_test(test_stock),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_before_any_collection),
        cmocka_unit_test(test_after_reload),
        cmocka_unit_test(test_does_not_disturb),
        cmocka_unit_test(test_more_nodes),
        cmocka_unit_test(test_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
