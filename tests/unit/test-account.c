/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/account.h"
#include "tests/unit/host.h"

#define MIB (1ull << 20)
#define UUID "11111111-2222-3333-4444-555555555555"

/* Two nodes of 1 GiB with 600 and 400 MiB free, 100 of them in node 0's reserve; a domain of 64 MiB on each. */
#define HOST(features, claim)                                                                                      \
    "{\"format\":\"numad-xen-host/1\",\"features\":[" features "],\"nodes\":["                                     \
    "{\"size\":1073741824,\"free\":629145600,\"cpus\":\"0-1\",\"distances\":[10,21]},"                             \
    "{\"size\":1073741824,\"free\":419430400,\"cpus\":\"2-3\",\"distances\":[21,10]}],"                            \
    "\"node_extra\":[{\"low\":104857600,\"dirty\":8192,\"claimed\":1048576,\"free_chunks\":[1,2,3]},{\"low\":0}]," \
    "\"domains\":[{\"domid\":0,\"name\":\"Domain-0\",\"total_pages\":100,\"node_pages\":[50,50]},"                 \
    "{\"domid\":3,\"name\":\"g3\",\"uuid\":\"" UUID "\",\"total_pages\":32768,\"node_pages\":[16384,16384]" claim  \
    "}]}"

static const AccountOptions options = {.generation = 9, .time_us = 8, .boottime_us = 7};

/* A reservation of so many bytes on the two nodes; with a domain it is being built. */
static Reservation *reserve(uint64_t on_0, uint64_t on_1, uint64_t overhead, uint32_t domid)
{
    PlacedMemory memory[2] = {{.node = 0, .bytes = on_0, .overhead = overhead}, {.node = 1, .bytes = on_1}};
    const Placement placement = {.memory = memory, .n_memory = 2};
    PlacementRequest request = {.pool = ROW_NO_POOL, .vcpus = 1, .memory = on_0 + on_1};
    ReservationInfo info = {.token = "0123456789abcdef0123456789abcdef", .expires_us = 1000};
    Reservation *r;

    request.has_uuid = uuid_from_text(UUID, request.uuid);
    r = reservation_new(&request, &placement, &info);
    assert_non_null(r);
    if (domid != DOMID_NONE) {
        r->state = RESERVATION_BUILDING;
        r->domid = domid;
    }
    return r;
}

static Ledger *ledger_of(Reservation *reservation, const Snapshot *s)
{
    _cleanup_(reservation_unref_p) Reservation *owned = reservation;
    _cleanup_(ledger_unref_p) Ledger *empty = ledger_new();
    _cleanup_(host_memory_free_p) HostMemory *memory = account_memory(s);
    Ledger *ledger = NULL;

    assert_true(empty && memory);
    assert_int_equal(ledger_add(empty, owned, memory, &ledger), 0);
    return ledger;
}

static Snapshot *account(Snapshot *base, Ledger *owned, const HostMemory *memory)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = owned;
    Snapshot *s = NULL;

    assert_int_equal(account_snapshot(base, memory, ledger, &options, &s), 0);
    return s;
}

static void test_numbers(void **state)
{
    static const struct {
        const char *what, *json;
        uint64_t on_0, on_1, overhead;
        uint32_t domid;
        uint64_t reserved_0, reserved_1, available_0, available_1;
    } cases[] = {
        {"nothing is held yet", HOST("'node-pages'", ""), 100 * MIB, 50 * MIB, MIB, DOMID_NONE, 101 * MIB, 50 * MIB,
         399 * MIB, 350 * MIB},
        {"what is held is not counted twice", HOST("'node-pages'", ""), 100 * MIB, 50 * MIB, MIB, 3, 37 * MIB, 0,
         463 * MIB, 400 * MIB},
        {"where nobody can tell, it is where it was promised", HOST("", ""), 96 * MIB, 32 * MIB, MIB, 3, MIB, 0,
         499 * MIB, 400 * MIB},
        {"more than there is", HOST("'node-pages'", ""), 4096 * MIB, 0, 0, DOMID_NONE, 4096 * MIB, 0, 0, 400 * MIB},
        {"claims that name nodes", HOST("'node-pages','claims'", ""), 0, 50 * MIB, 0, DOMID_NONE, 0, 50 * MIB,
         499 * MIB, 350 * MIB},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *json = strdup(cases[i].json);
        _cleanup_(snapshot_unref_p) Snapshot *base = NULL, *s = NULL;

        for (char *p = json; *p; p++)
            *p = *p == '\'' ? '"' : *p;
        base = host(json);
        free(json);
        s = account(base, ledger_of(reserve(cases[i].on_0, cases[i].on_1, cases[i].overhead, cases[i].domid), base),
                    NULL);
        if (s->nodes[0].reserved != cases[i].reserved_0 || s->nodes[1].reserved != cases[i].reserved_1 ||
            s->nodes[0].available != cases[i].available_0 || s->nodes[1].available != cases[i].available_1)
            fail_msg("%s: reserved %" PRIu64 " %" PRIu64 " available %" PRIu64 " %" PRIu64 " MiB", cases[i].what,
                     s->nodes[0].reserved / MIB, s->nodes[1].reserved / MIB, s->nodes[0].available / MIB,
                     s->nodes[1].available / MIB);
    }
}

static void test_spare(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *base = host(HOST("\"node-pages\"", ",\"claimed_pages\":25600"));
    _cleanup_(snapshot_unref_p) Snapshot *other = account(base, ledger_of(reserve(MIB, 0, 0, DOMID_NONE), base), NULL);
    _cleanup_(snapshot_unref_p) Snapshot *own = account(base, ledger_of(reserve(164 * MIB, 0, 0, 3), base), NULL);
    _cleanup_(snapshot_unref_p) Snapshot *named = NULL, *claims = host(HOST("\"claims\"", ",\"claimed_pages\":25600"));

    assert_true(base->spare == VALUE_UNKNOWN);
    assert_int_equal(other->spare, (1000 - 1 - 100) * MIB); /* the claim of one who is promised nothing counts */
    assert_int_equal(own->spare, (1000 - 100) * MIB);       /* the claim of one who is, is his promise */
    named = account(claims, ledger_of(reserve(MIB, 0, 0, DOMID_NONE), claims), NULL);
    assert_int_equal(named->spare, (1000 - 1 - 100) * MIB); /* those of nodes are no less outstanding */
}

/* A derived snapshot's warnings are the base's and one more; one derived from it has them, too, whoever lives longer.
 */
static void test_warnings(void **state)
{
    AccountOptions lost = options;
    Snapshot *base = host(HOST("", "")), *s = NULL, *next = NULL;
    size_t n = base->warnings.n;
    Ledger *ledger = ledger_new();

    assert_true(n > 0);
    lost.ledger_lost = "100% \"lost\"";
    assert_int_equal(account_snapshot(base, NULL, ledger, &lost, &s), 0);
    assert_int_equal(base->warnings.n, n);
    assert_false(warning_list_has(&base->warnings, WARNING_LEDGER_LOST));
    assert_int_equal(account_snapshot(s, NULL, ledger, &lost, &next), 0);
    snapshot_unref(base);
    snapshot_unref(s);
    ledger_unref(ledger);
    assert_int_equal(next->warnings.n, n + 1);
    assert_true(warning_list_has_item(&next->warnings, WARNING_LEDGER_LOST, lost.ledger_lost));
    snapshot_unref(next);
}

/* A description may tell what is claimed in all, and of no domain whose it is. */
static void test_claims_of_nobody(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *base =
        host("{\"format\":\"numad-xen-host/1\",\"memory\":{\"claimed\":8192},\"nodes\":[{\"size\":65536,\"free\":"
             "40960}],\"domains\":[{\"domid\":3,\"claimed_pages\":1}]}");
    _cleanup_(snapshot_unref_p) Snapshot *s = account(base, ledger_new(), NULL);

    assert_int_equal(s->spare, 40960 - 8192);
}

/* Where nobody knows how large the free chunks are, some are taken to be of no use; a description tells how much. */
static void test_fragments(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *base = host(HOST("\"node-pages\"", ""));
    _cleanup_(host_memory_free_p) HostMemory *memory = account_memory(base);
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
    Snapshot *s = NULL;

    assert_non_null(memory);
    assert_int_equal(memory->nodes[1].fragments, 0);
    memory->nodes[1].fragments = VALUE_UNKNOWN;
    assert_int_equal(account_snapshot(base, memory, ledger, &options, &s), 0);
    assert_int_equal(s->nodes[1].fragments, 20 * MIB); /* two domains have memory there */
    assert_int_equal(s->nodes[1].available, 380 * MIB);
    snapshot_unref(s);
    memory->nodes[1].fragments = 3 * MIB;
    assert_int_equal(account_snapshot(base, memory, ledger, &options, &s), 0);
    assert_int_equal(s->nodes[1].available, 397 * MIB);
    snapshot_unref(s);
    base->features |= FEATURE_BIT(FEATURE_FREE_CHUNKS);
    memory->nodes[1].fragments = VALUE_UNKNOWN;
    assert_int_equal(account_snapshot(base, memory, ledger, &options, &s), 0);
    assert_int_equal(s->nodes[1].available, 400 * MIB);
    snapshot_unref(s);
}

static void test_fresh(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *base = host(HOST("\"node-pages\",\"node-memory\",\"free-chunks\"", ""));
    _cleanup_(host_memory_free_p) HostMemory *memory = account_memory(base), *other = host_memory_new(3, 0);
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_of(reserve(128 * MIB, 0, 0, 3), base);
    AccountOptions headroom = options;
    Snapshot *s = NULL;

    assert_true(memory && other);
    headroom.headroom = 10 * MIB;
    memory->nodes[0].free -= 32 * MIB; /* the domain has got them since */
    memory->domains[1].node_pages[0] += 32 * MIB / 4096;
    assert_int_equal(account_snapshot(base, memory, ledger, &headroom, &s), 0);
    assert_int_equal(s->nodes[0].free, 568 * MIB);
    assert_int_equal(s->nodes[0].reserved, 32 * MIB);
    assert_int_equal(s->nodes[0].available, (568 - 100 - 32 - 10) * MIB);
    assert_int_equal(s->nodes[0].dirty, 8192);
    assert_int_equal(s->nodes[0].n_free_chunks, 3);
    assert_int_equal(s->nodes[0].free_chunks[2], 3);
    assert_int_equal(base->nodes[0].free, 600 * MIB); /* nobody has edited it */
    assert_true(s->generation == 9 && s->time_us == 8 && s->boottime_us == 7 && s->ledger == ledger);
    assert_true(snapshot_same_topology(base, s));
    snapshot_unref(s);
    assert_int_equal(account_snapshot(base, other, ledger, &headroom, &s), -ESTALE);
}

/* The base goes before what was derived from what was derived from it. */
static void test_lifetime(void **state)
{
    Snapshot *base = host(HOST("\"node-pages\"", ""));
    Snapshot *first = account(base, ledger_of(reserve(MIB, 0, 0, DOMID_NONE), base), NULL), *second;

    second = account(first, ledger_of(reserve(2 * MIB, 0, 0, DOMID_NONE), first), NULL);
    assert_ptr_equal(second->base, base);
    snapshot_unref(base);
    snapshot_unref(first);
    assert_int_equal(second->nodes[0].reserved, 2 * MIB);
    assert_string_equal(second->domains[1].row.name, "g3");
    assert_true(bitmap_isset(&second->nodes[1].local, 3));
    snapshot_unref(second);
}

/* Its vCPUs count until they run, where its memory is promised. */
static void test_load(void **state)
{
    static const char json[] =
        "{\"format\":\"numad-xen-host/1\",\"nodes\":[{\"size\":1048576,\"free\":1048576,\"cpus\":\"0-1\"},"
        "{\"size\":1048576,\"free\":1048576,\"cpus\":\"2-5\"},{\"size\":1048576,\"free\":1048576,\"cpus\":\"\"}],"
        "\"domains\":[{\"domid\":3,\"uuid\":\"" UUID "\",\"vcpus\":[{\"soft\":\"0-1\"},{\"online\":false}]},"
        "{\"domid\":6,\"uuid\":\"" UUID "\",\"state\":\"paused\",\"vcpus\":[{\"online\":false}]}]}";
    _cleanup_(snapshot_unref_p) Snapshot *base = host(json);
    static const struct {
        uint32_t vcpus, domid;
        ReservationState reservation;
        double on_0, on_1;
    } cases[] = {
        {6, DOMID_NONE, RESERVATION_PENDING, 2, 4}, /* by CPUs */
        {7, 3, RESERVATION_BUILDING, 2, 4},         /* one of them runs */
        {2, 3, RESERVATION_COMMITTED, 0, 0},        /* the other may stay offline */
        {6, 6, RESERVATION_COMMITTED, 2, 4},        /* it has not been let run yet */
        {6, 4, RESERVATION_COMMITTED, 2, 4},        /* its domain has not been collected yet */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        Reservation *r = reserve(MIB, MIB, 0, cases[i].domid);
        Ledger *ledger;
        _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

        r->vcpus = cases[i].vcpus;
        r->state = cases[i].reservation;
        ledger = ledger_new();
        assert_non_null(ledger);
        ledger->items = calloc(1, sizeof(*ledger->items));
        assert_non_null(ledger->items);
        ledger->items[ledger->n++] = r;
        s = account(base, ledger, NULL);
        assert_true(s->nodes[0].vcpus == 1 && s->nodes[2].promised_vcpus == 0);
        if (s->nodes[0].promised_vcpus != cases[i].on_0 || s->nodes[1].promised_vcpus != cases[i].on_1)
            fail_msg("case %zu: %g %g", i, s->nodes[0].promised_vcpus, s->nodes[1].promised_vcpus);
    }
}

static void test_names(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host(HOST("\"node-pages\"", ""));
    _cleanup_(host_memory_free_p) HostMemory *memory = account_memory(s);

    assert_non_null(memory);
    for (size_t i = 0; i < 2; i++) {
        free(memory->domains[i].name);
        memory->domains[i].name = NULL;
    }
    memory->domains[1].uuid[0] ^= 1; /* the number is used again by another */
    assert_int_equal(account_name_domains(memory, s), 0);
    assert_string_equal(memory->domains[0].name, "Domain-0");
    assert_null(memory->domains[1].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),          cmocka_unit_test(test_spare),     cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_claims_of_nobody), cmocka_unit_test(test_fragments), cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_lifetime),         cmocka_unit_test(test_load),      cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
