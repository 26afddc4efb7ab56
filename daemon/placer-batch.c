/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "placer-call.h"

#include "clock.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

/*
 * Decides a number of requests one after the other, the largest first, each on what those before it left. All are
 * decided on one reading of the host's memory, and one write to the disk makes all their promises good: only then is
 * anybody told. The books are held meanwhile, so that the ledger that is added to stays the one in force.
 */

/* Largest first; who asked first among equals (the sort is stable). */
static bool is_before(const PlacerCall *a, const PlacerCall *b)
{
    if (a->request.memory != b->request.memory)
        return a->request.memory > b->request.memory;
    return a->request.vcpus > b->request.vcpus;
}

static void sort_calls(CallList *list)
{
    for (size_t i = 1; i < list->n; i++) {
        PlacerCall *call = list->items[i];
        size_t j = i;

        for (; j > 0 && is_before(call, list->items[j - 1]); j--)
            list->items[j] = list->items[j - 1];
        list->items[j] = call;
    }
}

static void fail_rest(PlacerBatch *batch, int r, const Books *books)
{
    for (; batch->cursor < batch->calls.n; batch->cursor++)
        placer_call_fail_books(batch->calls.items[batch->cursor], r, books);
}

void batch_begin(PlacerBatch *batch, CallList *calls, Books *books)
{
    int r;

    *batch = (PlacerBatch){.calls = *calls, .begun_us = clock_us(CLOCK_MONOTONIC)};
    *calls = (CallList){0};
    sort_calls(&batch->calls);
    r = books_read(books, &batch->memory);
    batch->ledger = ledger_ref(books_ledger(books));
    if (r == 0)
        r = books_account(books, batch->ledger, batch->memory, &batch->snapshot);
    if (r < 0)
        fail_rest(batch, r, books);
    books_hold(books, true);
}

void batch_done(PlacerBatch *batch)
{
    call_list_done(&batch->calls);
    placement_search_free(batch->search);
    host_memory_free(batch->memory);
    ledger_unref(batch->ledger);
    snapshot_unref(batch->snapshot);
    *batch = (PlacerBatch){0};
}

/* Whether there may be one more; else the call has been refused. */
static bool is_within_limits(PlacerCall *call, const Ledger *ledger, const PlacerSettings *settings)
{
    if (ledger_count_open(ledger) >= settings->reservations)
        placer_call_fail(call, PLACER_E_LIMIT, "%zu reservations are open: commit or release some",
                         settings->reservations);
    else if (ledger_count_open_of(ledger, call->uid) >= settings->per_uid)
        placer_call_fail(call, PLACER_E_LIMIT, "%zu reservations of user %u are open: commit or release some",
                         settings->per_uid, (unsigned)call->uid);
    return call->error == 0;
}

static int make_token(char token[TOKEN_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[(TOKEN_SIZE - 1) / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return -EIO;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        token[2 * i] = hex[bytes[i] >> 4];
        token[2 * i + 1] = hex[bytes[i] & 15];
    }
    token[TOKEN_SIZE - 1] = '\0';
    return 0;
}

static int new_reservation(PlacerCall *call, const PlacerSettings *settings)
{
    uint64_t ttl_ms = call->request.ttl_ms ? call->request.ttl_ms : settings->ttl_ms;
    char token[TOKEN_SIZE];
    int r = make_token(token);

    if (r < 0)
        return r;
    call->reservation = reservation_new(&call->request, call->placement,
                                        &(ReservationInfo){.token = token,
                                                           .uid = call->uid,
                                                           .placed_us = (int64_t)clock_us(CLOCK_REALTIME),
                                                           .expires_us = clock_us(CLOCK_BOOTTIME) + ttl_ms * 1000});
    return call->reservation ? 0 : -ENOMEM;
}

/* The search has found a place: the promise, and what it leaves to those that follow. */
static int promise(PlacerBatch *batch, PlacerCall *call, Books *books, const PlacerSettings *settings)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = NULL;
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    int r = new_reservation(call, settings);

    if (r == 0)
        r = ledger_add(batch->ledger, call->reservation, batch->memory, &ledger);
    if (r == 0)
        r = books_account(books, ledger, batch->memory, &snapshot);
    if (r < 0)
        return r;
    ledger_unref(batch->ledger);
    batch->ledger = TAKE_PTR(ledger);
    snapshot_unref(batch->snapshot);
    batch->snapshot = TAKE_PTR(snapshot);
    return 0;
}

static void conclude(PlacerBatch *batch, PlacerCall *call, int r, const char *why, Books *books,
                     const PlacerSettings *settings)
{
    if (r == PLACEMENT_E_NOFIT)
        placer_call_fail(call, PLACER_E_NOFIT, "%s", why);
    else if (r == PLACEMENT_E_INVALID)
        placer_call_fail(call, PLACER_E_INVALID, "%s", why);
    else if (r == 0)
        r = promise(batch, call, books, settings);
    if (r < 0) {
        call->reservation = reservation_unref(call->reservation);
        call->error = r;
    }
    batch->search = placement_search_free(batch->search);
    batch->cursor++;
}

/* One step of the search for the call under the cursor. */
static void decide(PlacerBatch *batch, Books *books, const PlacerSettings *settings)
{
    const PlacementOptions options = {.policy = settings->policy};
    PlacerCall *call = batch->calls.items[batch->cursor];
    _cleanup_free_ char *why = NULL;
    int r = 0;

    if (!call->done || !is_within_limits(call, batch->ledger, settings)) {
        batch->cursor++;
        return;
    }
    if (!batch->search)
        r = placement_search_new(batch->snapshot, &call->request, &options, &batch->search);
    if (r == 0)
        r = placement_search_step(batch->search, &call->placement, &why);
    if (r != -EAGAIN)
        conclude(batch, call, r, why, books, settings);
}

/* What was promised to those who have gone meanwhile is promised no more. */
static void drop_cancelled(PlacerBatch *batch)
{
    for (size_t i = 0; i < batch->calls.n; i++) {
        PlacerCall *call = batch->calls.items[i];
        Ledger *ledger = NULL;

        if (call->done || !call->reservation || ledger_release(batch->ledger, call->reservation->token, &ledger) != 0)
            continue; /* without memory its time runs out */
        ledger_unref(batch->ledger);
        batch->ledger = ledger;
    }
}

static void make_good(PlacerBatch *batch, Books *books)
{
    int r;

    drop_cancelled(batch);
    r = batch->memory && batch->ledger != books_ledger(books) ? books_adopt(books, batch->ledger, batch->memory) : 0;
    for (size_t i = 0; r < 0 && i < batch->calls.n; i++) {
        PlacerCall *call = batch->calls.items[i];

        if (call->reservation) {
            call->reservation = reservation_unref(call->reservation);
            placer_call_fail_books(call, r, books);
        }
    }
}

int batch_step(PlacerBatch *batch, Books *books, const PlacerSettings *settings)
{
    if (batch->cursor < batch->calls.n)
        decide(batch, books, settings);
    if (batch->cursor < batch->calls.n)
        return 1;
    make_good(batch, books);
    books_hold(books, false);
    return 0;
}
