/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/clock.h"
#include "daemon/placer.h"
#include "tests/unit/host.h"

#include <stdio.h>
#include <unistd.h>

/* The placer and its books on a loop of their own: no bus, no disk, a host that is a snapshot. */

#define MIB (1ull << 20)
#define TWO_NODES                                                                              \
    "{\"format\":\"numad-xen-host/1\",\"features\":[\"node-pages\"],\"nodes\":["               \
    "{\"size\":1073741824,\"free\":1073741824,\"cpus\":\"0-3\",\"distances\":[10,21]},"        \
    "{\"size\":1073741824,\"free\":1073741824,\"cpus\":\"4-7\",\"distances\":[21,10]}],"       \
    "\"domains\":[{\"domid\":0,\"name\":\"Domain-0\",\"total_pages\":0,\"node_pages\":[0,0]}," \
    "{\"domid\":5,\"name\":\"g5\",\"total_pages\":512,\"node_pages\":[512,0]}]}"

typedef struct World {
    sd_event *event;
    Snapshot *host, *published;
    Books *books;
    Placer *placer;
    Stats stats;
    int read_error;
    unsigned reads;
    char ended[TOKEN_SIZE];
} World;

typedef struct Seen {
    World *world;
    unsigned told, order;
    int error;
    char token[TOKEN_SIZE], why[200];
    uint64_t on_node[2], expires_ms;
    bool changed;
} Seen;

static unsigned order;

static int read_memory(HostMemory **ret_memory, void *userdata)
{
    World *w = userdata;

    w->reads++;
    if (w->read_error)
        return w->read_error;
    *ret_memory = account_memory(w->host);
    return *ret_memory ? 0 : -ENOMEM;
}

static void publish(Snapshot *snapshot, void *userdata)
{
    World *w = userdata;

    snapshot_unref(w->published);
    w->published = snapshot_ref(snapshot);
}

static void ended(const char *token, void *userdata)
{
    strcpy(((World *)userdata)->ended, token);
}

static const PlacerSettings defaults = {
    .ttl_ms = 60000, .gather_ms = 20, .gather_max_ms = 100, .reservations = 8, .per_uid = 4};

static void world_begin(World *w)
{
    static const BooksHooks hooks = {.read_memory = read_memory, .publish = publish, .ended = ended};

    *w = (World){.host = host(TWO_NODES)};
    order = 0;
    assert_true(sd_event_new(&w->event) >= 0);
    assert_int_equal(books_new(w->event, NULL, ledger_new(), &hooks, w, &w->books), 0);
    assert_int_equal(placer_new(w->event, w->books, &w->stats, &w->placer), 0);
    placer_set(w->placer, &defaults);
    books_collected(w->books, w->host, 1);
    assert_non_null(w->published);
}

static void world_end(World *w)
{
    placer_free(w->placer);
    books_free(w->books);
    snapshot_unref(w->host);
    snapshot_unref(w->published);
    sd_event_unref(w->event);
}

static void told(const PlacerOutcome *outcome, void *userdata)
{
    Seen *seen = userdata;

    seen->told++;
    seen->order = ++order;
    seen->error = outcome->error;
    seen->changed = outcome->changed;
    seen->expires_ms = outcome->expires_ms;
    snprintf(seen->why, sizeof(seen->why), "%s", outcome->why ? outcome->why : "");
    if (!outcome->placement)
        return;
    strcpy(seen->token, outcome->reservation->token);
    for (size_t i = 0; i < outcome->placement->n_memory; i++)
        seen->on_node[outcome->placement->memory[i].node] = outcome->placement->memory[i].bytes;
}

static PlacerCall *ask(World *w, Seen *seen, uint64_t mib, uid_t uid)
{
    PlacementRequest request = {.pool = ROW_NO_POOL, .vcpus = 1, .memory = mib * MIB, .type = DOMAIN_TYPE_PV};
    PlacerCall *call = NULL;

    *seen = (Seen){.world = w};
    assert_int_equal(placer_place(w->placer, &request, uid, told, seen, &call), 0);
    assert_int_equal(seen->told, 0); /* never from within the call */
    return call;
}

/* Until it is told, or nothing has happened for so long. */
static void run(World *w, const Seen *seen, uint64_t patience_us)
{
    while (!seen->told && sd_event_run(w->event, patience_us) > 0)
        ;
}

static void commit(World *w, Seen *seen, const char *token, domid_t domid, uid_t uid)
{
    PlacerCall *call;

    *seen = (Seen){.world = w};
    assert_int_equal(placer_commit(w->placer, token, domid, uid, told, seen, &call), 0);
    run(w, seen, 1000000);
    assert_int_equal(seen->told, 1);
}

static void release(World *w, Seen *seen, const char *token, uid_t uid)
{
    PlacerCall *call;

    *seen = (Seen){.world = w};
    assert_int_equal(placer_release(w->placer, token, uid, told, seen, &call), 0);
    run(w, seen, 1000000);
    assert_int_equal(seen->told, 1);
}

static void test_lone(void **state)
{
    World w;
    Seen one, two;

    world_begin(&w);
    ask(&w, &one, 600, 0);
    run(&w, &one, 0); /* at once: no timer is waited for */
    assert_int_equal(one.told, 1);
    assert_int_equal(one.error, 0);
    assert_int_equal(one.on_node[0] + one.on_node[1], 600 * MIB);
    assert_in_range(one.expires_ms, 50000, 60000);
    assert_int_equal(w.stats.placed, 1);
    assert_int_equal(w.published->nodes[0].reserved + w.published->nodes[1].reserved, 601 * MIB);
    ask(&w, &two, 600, 0); /* one is promised: others may come */
    run(&w, &two, 0);
    assert_int_equal(two.told, 0);
    run(&w, &two, 1000000);
    assert_int_equal(two.error, 0);
    assert_true((one.on_node[0] == 0) == (two.on_node[1] == 0)); /* the other node */
    world_end(&w);
}

static void test_largest_first(void **state)
{
    World w;
    Seen first, small[2], large[2];

    world_begin(&w);
    ask(&w, &first, 1, 0);
    run(&w, &first, 0);
    ask(&w, &small[0], 300, 0);
    ask(&w, &small[1], 300, 0);
    ask(&w, &large[0], 700, 1);
    ask(&w, &large[1], 700, 1);
    run(&w, &large[1], 1000000);
    assert_true(large[0].order < large[1].order && large[1].order < small[0].order && small[0].told && small[1].told);
    assert_int_equal(w.reads, 2); /* one reading for all four */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(large[i].error, 0);
        assert_int_equal(small[i].error, 0);
        assert_true(small[i].on_node[0] == 0 || small[i].on_node[1] == 0);
    }
    world_end(&w);
}

static void test_cancelled(void **state)
{
    World w;
    Seen first, gone, stays;
    PlacerCall *call;

    world_begin(&w);
    ask(&w, &first, 1, 0);
    run(&w, &first, 0);
    call = ask(&w, &gone, 700, 0);
    ask(&w, &stays, 500, 0);
    placer_cancel(w.placer, call);
    run(&w, &stays, 1000000);
    assert_int_equal(gone.told, 0);
    assert_int_equal(stays.error, 0);
    assert_int_equal(w.published->nodes[0].reserved + w.published->nodes[1].reserved, 503 * MIB);
    call = ask(&w, &gone, 1, 0); /* alone: nothing is left that would be due */
    placer_cancel(w.placer, call);
    run(&w, &gone, 200000);
    assert_true(gone.told == 0 && w.reads == 2);
    world_end(&w);
}

static void test_limits(void **state)
{
    World w;
    Seen seen[9];

    world_begin(&w);
    for (size_t i = 0; i < 9; i++)
        ask(&w, &seen[i], 1, i < 5 ? 1001 : 1002 + (uid_t)i);
    run(&w, &seen[8], 1000000);
    assert_int_equal(seen[3].error, 0);
    assert_int_equal(seen[4].error, PLACER_E_LIMIT);
    assert_non_null(strstr(seen[4].why, "4 reservations of user 1001"));
    assert_int_equal(seen[8].error, 0);
    assert_int_equal(w.stats.limit, 1);
    ask(&w, &seen[0], 1, 2000);
    run(&w, &seen[0], 1000000);
    assert_int_equal(seen[0].error, PLACER_E_LIMIT);
    assert_non_null(strstr(seen[0].why, "8 reservations are open"));
    world_end(&w);
}

static void test_refusals(void **state)
{
    World w;
    Seen seen;

    world_begin(&w);
    ask(&w, &seen, 4096, 0);
    run(&w, &seen, 0);
    assert_int_equal(seen.error, PLACER_E_NOFIT);
    assert_non_null(strstr(seen.why, "node 0"));
    w.read_error = -EIO; /* never on numbers that are old */
    ask(&w, &seen, 1, 0);
    run(&w, &seen, 0);
    assert_int_equal(seen.error, -EIO);
    assert_int_equal(w.published->nodes[0].reserved + w.published->nodes[1].reserved, 0);
    assert_true(w.stats.nofit == 1 && w.stats.placed == 0);
    world_end(&w);
}

static void test_changes(void **state)
{
    World w;
    Seen placed, seen;

    world_begin(&w);
    ask(&w, &placed, 2, 1001);
    run(&w, &placed, 0);
    commit(&w, &seen, "0123456789abcdef0123456789abcdef", 5, 0);
    assert_int_equal(seen.error, PLACER_E_UNKNOWN_TOKEN);
    commit(&w, &seen, placed.token, 6, 0);
    assert_int_equal(seen.error, PLACER_E_UNKNOWN_DOMAIN);
    commit(&w, &seen, placed.token, 5, 1002);
    assert_int_equal(seen.error, geteuid() == 1002 ? 0 : PLACER_E_DENIED);
    w.read_error = -EIO; /* decides nothing by the numbers */
    commit(&w, &seen, placed.token, 5, 1001);
    assert_true(seen.error == 0 && seen.changed);
    commit(&w, &seen, placed.token, 5, 0);
    assert_true(seen.error == 0 && !seen.changed);
    commit(&w, &seen, placed.token, 0, 0);
    assert_int_equal(seen.error, PLACER_E_INVALID);
    assert_int_equal(w.published->nodes[0].reserved + w.published->nodes[1].reserved, 0);
    assert_non_null(ledger_find_domain(w.published->ledger, 5));
    release(&w, &seen, placed.token, 1001);
    assert_int_equal(seen.error, 0);
    assert_null(ledger_find_domain(w.published->ledger, 5));
    release(&w, &seen, placed.token, 1001);
    assert_int_equal(seen.error, PLACER_E_UNKNOWN_TOKEN);
    world_end(&w);
}

static void test_time_over(void **state)
{
    PlacerSettings quick = defaults;
    World w;
    Seen seen;
    char token[TOKEN_SIZE];

    world_begin(&w);
    quick.ttl_ms = 30;
    placer_set(w.placer, &quick);
    ask(&w, &seen, 1, 0);
    run(&w, &seen, 0);
    strcpy(token, seen.token);
    while (!w.ended[0] && sd_event_run(w.event, 2000000) > 0)
        ;
    assert_string_equal(w.ended, token);
    assert_int_equal(w.published->nodes[0].reserved + w.published->nodes[1].reserved, 0);
    commit(&w, &seen, token, 5, 0);
    assert_int_equal(seen.error, PLACER_E_EXPIRED);
    world_end(&w);
}

/* A collection that began before the domain came ends when its reservation knows it: the domain is not gone. */
static void test_old_collection(void **state)
{
    static const char without[] = "{\"format\":\"numad-xen-host/1\",\"features\":[\"node-pages\"],\"nodes\":["
                                  "{\"size\":1073741824,\"free\":1073741824,\"cpus\":\"0-3\",\"distances\":[10,21]},"
                                  "{\"size\":1073741824,\"free\":1073741824,\"cpus\":\"4-7\",\"distances\":[21,10]}]}";
    _cleanup_(snapshot_unref_p) Snapshot *old = host(without);
    uint64_t begun_us = clock_us(CLOCK_MONOTONIC);
    World w;
    Seen placed, seen;

    world_begin(&w);
    ask(&w, &placed, 2, 0);
    run(&w, &placed, 0);
    commit(&w, &seen, placed.token, 5, 0);
    assert_int_equal(seen.error, 0);
    books_collected(w.books, old, begun_us);
    assert_non_null(ledger_find_domain(w.published->ledger, 5));
    w.read_error = -EIO; /* no younger numbers: nothing ends on the old ones */
    books_collected(w.books, old, begun_us);
    assert_non_null(ledger_find_domain(w.published->ledger, 5));
    books_collected(w.books, old, clock_us(CLOCK_MONOTONIC) + 1); /* and now it is gone */
    assert_null(ledger_find_domain(w.published->ledger, 5));
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lone),      cmocka_unit_test(test_largest_first),  cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_refusals),       cmocka_unit_test(test_changes),
        cmocka_unit_test(test_time_over), cmocka_unit_test(test_old_collection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
