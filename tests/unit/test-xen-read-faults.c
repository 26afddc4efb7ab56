/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"
#include "tests/unit/xen-host.h"

#include <string.h>

/*
 * Faults of a reading for a decision: a call that fails leaves unknown what it would have brought, or ends it; and no
 * domain ever gets another's pages.
 */

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

static void check_node(const NodeRow *got, const NodeRow *wanted)
{
    assert_true(got->size == wanted->size && got->free == wanted->free && got->low == wanted->low);
    assert_true(got->present == wanted->present && got->dirty == wanted->dirty && got->claimed == wanted->claimed);
    assert_int_equal(got->n_free_chunks, wanted->n_free_chunks);
    if (wanted->n_free_chunks)
        assert_memory_equal(got->free_chunks, wanted->free_chunks, wanted->n_free_chunks * sizeof(uint64_t));
}

/* --- every call fails --- */

static const int errors[] = {EPERM,  EACCES, EINVAL, ESRCH, ENOENT, ENOSYS, EOPNOTSUPP,
                             ENOMEM, EFAULT, EAGAIN, EBUSY, ERANGE, EIO};

static bool is_denied(int error)
{
    return error == EPERM || error == EACCES || error == ENOSYS || error == EOPNOTSUPP;
}

/* Domains in order; those before the first page that was not read are all there. */
static void check_known(const HostMemory *memory, const HostMemory *wanted, bool pages, bool heap)
{
    bool known = true;

    assert_int_equal(memory->n_domains, wanted->n_domains);
    for (size_t i = 0; i < memory->n_domains; i++) {
        const DomainMemory *domain = &memory->domains[i];

        assert_int_equal(domain->domid, wanted->domains[i].domid);
        assert_true(domain->total_pages == wanted->domains[i].total_pages);
        assert_true(domain->claimed_pages == wanted->domains[i].claimed_pages);
        assert_true(known || !domain->node_pages);
        known &= domain->node_pages != NULL;
        if (domain->node_pages)
            assert_memory_equal(domain->node_pages, wanted->domains[i].node_pages, wanted->n_nodes * sizeof(uint64_t));
    }
    assert_int_equal(known, pages);
    for (size_t i = 0; i < memory->n_nodes; i++) {
        if (heap)
            check_node(&memory->nodes[i], &wanted->nodes[i]);
        assert_true(memory->nodes[i].free != VALUE_UNKNOWN);
    }
}

/* The `skip`th call of a kind fails. Whether it came to that. */
static bool run_fault(bool patched, FakeCall call, unsigned skip, int error)
{
    FakeXen *fake = new_host(patched);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL, *wanted = NULL, *healed = NULL;
    uint64_t failures;
    unsigned before;
    int r;

    fake->batch = 1;
    host_rows_free(fake_xen_collect(source, true));
    wanted = read_memory(source);
    failures = source->errors[ERROR_XEN];
    assert_int_equal(failures, 0);
    fake_xen_fail(fake, call, skip, -error, 0);
    before = fake->counts[call];
    r = source->ops->read_memory(source, &memory);
    if (fake->counts[call] <= before + skip) {
        assert_int_equal(r, 0);
        return false;
    }
    assert_int_equal(source->errors[ERROR_XEN], 1);
    if (call == FAKE_HEAP_DOMAINS || (call == FAKE_HEAP_NODES && is_denied(error))) {
        assert_int_equal(r, 0);
        check_known(memory, wanted, call != FAKE_HEAP_DOMAINS, call != FAKE_HEAP_NODES);
    } else {
        assert_true(r < 0);
        assert_null(memory);
    }
    fake_xen_heal(fake);
    healed = read_memory(source);
    check_known(healed, wanted, true, true);
    return true;
}

static void test_every_fault(void **state)
{
    unsigned n = 0;

    for (int patched = 0; patched < 2; patched++)
        for (int call = 0; call < _FAKE_MAX; call++)
            for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
                for (unsigned skip = 0; run_fault(patched, (FakeCall)call, skip, errors[i]); skip++)
                    n++;
    /* stock: the list, four pages, numainfo, two of availheap; patched: the list, four pages, the nodes */
    assert_int_equal(n, (8 + 6) * ARRAY_SIZE(errors));
}

/* --- domains come, go and take each other's ids between any two calls --- */

#define VICTIM 2u

static struct {
    unsigned at, calls;
    void (*change)(FakeXen *fake);
} moment;

static void on_call(FakeXen *fake, FakeCall call)
{
    if (moment.calls++ == moment.at)
        moment.change(fake);
}

static void end_victim(FakeXen *fake)
{
    fake->domains[VICTIM].dead = fake->domains[VICTIM].unlisted = true;
}

static void reuse_victim(FakeXen *fake)
{
    FakeDomain *victim = &fake->domains[VICTIM];

    victim->info.handle[15] ^= 0xff;
    victim->info.tot_pages = 7;
    victim->info.outstanding_pages = 9;
    victim->pages[0] = 0;
    victim->pages[1] = 7;
}

static void begin_domain(FakeXen *fake)
{
    fake_xen_add(fake, 1);
}

/* All of one domain. */
static void check_whole(const DomainMemory *domain, const FakeDomain *was, const FakeDomain *is)
{
    const FakeDomain *which = memcmp(domain->uuid, was->info.handle, 16) == 0 ? was : is;

    assert_memory_equal(domain->uuid, which->info.handle, 16);
    assert_int_equal(domain->total_pages, which->info.tot_pages);
    assert_int_equal(domain->claimed_pages, which->info.outstanding_pages);
    if (domain->node_pages)
        assert_memory_equal(domain->node_pages, which->pages, 2 * sizeof(uint64_t));
}

static bool run_moment(unsigned at, void (*change)(FakeXen *fake), bool patched)
{
    FakeXen *fake = new_host(patched);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    FakeDomain was = fake->domains[VICTIM];

    fake->batch = 1;
    host_rows_free(fake_xen_collect(source, true));
    moment.at = at;
    moment.calls = 0;
    moment.change = change;
    fake->before = on_call;
    memory = read_memory(source);
    fake->before = NULL;
    for (size_t i = 0; i < memory->n_domains; i++) {
        assert_true(i == 0 || memory->domains[i - 1].domid < memory->domains[i].domid);
        if (memory->domains[i].domid == VICTIM)
            check_whole(&memory->domains[i], &was, &fake->domains[VICTIM]);
        else
            assert_non_null(memory->domains[i].node_pages);
    }
    return moment.calls > at;
}

static void test_churn(void **state)
{
    static void (*const changes[])(FakeXen *) = {end_victim, reuse_victim, begin_domain};

    for (int patched = 0; patched < 2; patched++)
        for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
            unsigned at = 0;

            while (run_moment(at, changes[i], patched))
                at++;
            assert_true(at >= 6);
        }
}

/* --- bounds --- */

static void test_bounds(void **state)
{
    FakeXen *fake = new_host(true);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    unsigned before;

    fake_xen_add(fake, 6000);
    host_rows_free(fake_xen_collect(source, true));
    fake->batch = 1; /* a Xen that tells of one domain a call */
    before = fake->counts[FAKE_HEAP_DOMAINS];
    memory = read_memory(source);
    assert_in_range(fake->counts[FAKE_HEAP_DOMAINS] - before, 1000, 4096);
    assert_non_null(memory->domains[1000].node_pages);
    assert_null(memory->domains[6003].node_pages);
    fake->stuck = true;
    before = fake->counts[FAKE_HEAP_DOMAINS];
    host_memory_free(read_memory(source));
    assert_in_range(fake->counts[FAKE_HEAP_DOMAINS] - before, 1, 16);
}

/* Whatever Xen says: bounded, and no number is used as an index. */
static void test_garbage(void **state)
{
    unsigned read = 0;

    for (unsigned seed = 1; seed <= 300; seed++) {
        FakeXen *fake = new_host(seed % 2);
        _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
        HostMemory *memory = NULL;

        fake_xen_add(fake, seed % 40);
        host_rows_free(fake_xen_collect(source, true));
        fake->garbage = true;
        fake->seed = seed;
        for (unsigned i = 0; i < 10; i++) {
            if (source->ops->read_memory(source, &memory) < 0)
                continue;
            read++;
            for (size_t j = 1; j < memory->n_domains; j++)
                assert_true(memory->domains[j - 1].domid < memory->domains[j].domid);
            memory = host_memory_free(memory);
        }
    }
    assert_in_range(read, 100, 2900); /* some are refused, some are not */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fault),
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_garbage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
