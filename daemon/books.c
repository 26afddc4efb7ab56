/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "books.h"

#include "clock.h"
#include "log.h"

#include <stdio.h>
#include <string.h>

/*
 * Numbers of memory come from two readings: each collection's, and the small one that a decision makes. Either is held
 * against the ledger (has a promised domain come, is one gone, is a time over) before it is accounted, so that what a
 * domain holds already is never set aside for it a second time. A collection takes a while, and may end with a list of
 * domains that is older than what a decision has read meanwhile; a domain that it does not have yet is not gone. Then
 * the memory is read again.
 *
 * When the disk refuses a change that came by itself, the old ledger stays in force and the next reading tries again:
 * reservations then last longer than they should, which harms less than a promise that a crash would forget.
 */

#define EXPIRY_ACCURACY_US 1000u
#define EXPIRY_AGAIN_US (500u * 1000u) /* when a reservation could not be ended in time */

struct Books {
    LedgerStore *store;
    Ledger *ledger;
    Snapshot *collected, *published;
    BooksHooks hooks;
    void *userdata;
    sd_event_source *expiry;
    uint64_t generation, headroom;
    uint64_t read_us; /* of the last small reading, CLOCK_MONOTONIC */
    bool held;
    int error;       /* of the last save */
    bool unwritable; /* what failed last was a save, else a reading */
};

static int save(Books *b, Ledger *ledger)
{
    int r = b->store ? ledger_store_save(b->store, ledger) : 0;

    if (r < 0 && r != b->error)
        log_error_errno(r, "cannot write the ledger of reservations: %m; is the state directory full?");
    else if (r == 0 && b->error < 0)
        log_notice("writing the ledger of reservations works again");
    b->error = r;
    b->unwritable = r < 0;
    return r;
}

static void put_in_force(Books *b, Ledger *ledger)
{
    uint64_t next = ledger_next_expiry(ledger);

    if (ledger != b->ledger) {
        ledger_unref(b->ledger);
        b->ledger = ledger_ref(ledger);
    }
    if (next != UINT64_MAX)
        (void)sd_event_source_set_time(b->expiry, next);
    (void)sd_event_source_set_enabled(b->expiry, next == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

int books_account(Books *b, Ledger *ledger, const HostMemory *memory, Snapshot **ret_snapshot)
{
    const AccountOptions options = {
        .generation = b->generation + 1,
        .time_us = (int64_t)clock_us(CLOCK_REALTIME),
        .boottime_us = clock_us(CLOCK_BOOTTIME),
        .headroom = b->headroom,
        .ledger_lost = b->store ? ledger_store_lost(b->store) : NULL,
    };

    return account_snapshot(b->collected, memory, ledger, &options, ret_snapshot);
}

static void publish(Books *b, Snapshot *snapshot)
{
    b->generation = snapshot->generation;
    snapshot_unref(b->published);
    b->published = snapshot_ref(snapshot);
    b->hooks.publish(snapshot, b->userdata);
}

/* The snapshot first, which may fail, then the disk, which may too, and then all that cannot. */
int books_adopt(Books *b, Ledger *ledger, const HostMemory *memory)
{
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    int r = books_account(b, ledger, memory, &snapshot);

    if (r == 0 && ledger != b->ledger)
        r = save(b, ledger);
    if (r < 0)
        return r;
    put_in_force(b, ledger);
    publish(b, snapshot);
    return 0;
}

/* Holds the ledger against the numbers, and publishes when `always` or when that changed it. */
static int reconcile(Books *b, const HostMemory *memory, bool always)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = NULL, *old = ledger_ref(b->ledger);
    LedgerEnd *ends = NULL;
    size_t n_ends = 0;
    int r = b->held ? 0 : ledger_reconcile(old, memory, clock_us(CLOCK_BOOTTIME), &ledger, &ends, &n_ends);

    if (r == 0 && ledger && ledger != old)
        r = books_adopt(b, ledger, memory);
    else if (r == 0 && always)
        r = books_adopt(b, old, memory);
    for (size_t i = 0; r == 0 && i < n_ends; i++)
        b->hooks.ended(ends[i].reservation->token, b->userdata);
    free(ends);
    return r;
}

/* Fresh numbers that go with the collected snapshot: -ESTALE when it has other nodes than the host has now. */
static int read_now(Books *b, HostMemory **ret_memory)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    int r;

    if (!b->collected)
        return -ENODATA;
    b->read_us = clock_us(CLOCK_MONOTONIC);
    r = b->hooks.read_memory(&memory, b->userdata);
    if (r == 0 && memory->n_nodes != b->collected->n_nodes)
        r = -ESTALE;
    if (r == 0)
        r = account_name_domains(memory, b->collected);
    if (r == 0)
        *ret_memory = TAKE_PTR(memory);
    b->unwritable = false;
    return r;
}

/* Numbers that are no older than any that the ledger was held against; *ret_current: they could be had. */
static HostMemory *newest_memory(Books *b, uint64_t begun_us, bool *ret_current)
{
    HostMemory *memory = NULL;

    *ret_current = begun_us > b->read_us || read_now(b, &memory) == 0;
    return memory ? memory : account_memory(b->collected);
}

void books_collected(Books *b, Snapshot *collected, uint64_t begun_us)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    bool current = false;
    int r;

    snapshot_unref(b->collected);
    b->collected = snapshot_ref(collected);
    memory = newest_memory(b, begun_us, &current);
    r = !memory ? -ENOMEM : current ? reconcile(b, memory, true) : -ESTALE;
    if (r < 0 && memory) /* what was collected is shown, with the promises as they were */
        r = books_adopt(b, b->ledger, memory);
    if (r < 0)
        log_errno(LOG_WARNING, r, "cannot account for what is promised, showing the last snapshot: %m");
}

int books_read(Books *b, HostMemory **ret_memory)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    int r = read_now(b, &memory);

    if (r == 0)
        r = reconcile(b, memory, false);
    if (r == 0)
        *ret_memory = TAKE_PTR(memory);
    return r;
}

int books_read_any(Books *b, HostMemory **ret_memory)
{
    int r = books_read(b, ret_memory);

    if (r == 0 || !b->collected)
        return r;
    *ret_memory = account_memory(b->collected);
    return *ret_memory ? 0 : -ENOMEM;
}

static int on_expiry(sd_event_source *source, uint64_t time, void *userdata)
{
    Books *b = userdata;
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    int r = b->held ? 0 : books_read(b, &memory); /* which ends what is over */

    if (r < 0)
        log_errno(LOG_WARNING, r, "cannot end a reservation whose time is over, trying again: %m");
    if (ledger_next_expiry(b->ledger) > clock_us(CLOCK_BOOTTIME))
        return 0;
    (void)sd_event_source_set_time(b->expiry, clock_us(CLOCK_BOOTTIME) + EXPIRY_AGAIN_US);
    return sd_event_source_set_enabled(b->expiry, SD_EVENT_ONESHOT);
}

static const char *advice(int r)
{
    switch (r) {
    case -ENOSPC:
    case -EDQUOT:
    case -EFBIG:
        return "make room there";
    case -ENOENT:
        return "the directory is gone: make it again, and restart numad-xend";
    default:
        return "see what is wrong there";
    }
}

char *books_explain(const Books *b, int r)
{
    char *text = NULL;
    int n;

    if (r == -ENOMEM)
        return strdup("not enough memory");
    if (r == -ESTALE)
        return strdup("the host has other nodes than a moment ago: ask again");
    if (r == -ENODATA && !b->collected)
        return strdup("the host has not been read yet: ask again");
    if (b->unwritable)
        n = asprintf(&text, "the ledger cannot be written to %s: %s: %s", ledger_store_directory(b->store),
                     strerror(-r), advice(r));
    else
        n = asprintf(&text, "the host's memory cannot be read: %s", strerror(-r));
    return n < 0 ? NULL : text;
}

void books_hold(Books *b, bool held)
{
    b->held = held;
}

void books_set_headroom(Books *b, uint64_t headroom)
{
    b->headroom = headroom;
}

Ledger *books_ledger(const Books *b)
{
    return b->ledger;
}

Snapshot *books_snapshot(const Books *b)
{
    return b->published;
}

int books_new(sd_event *event, LedgerStore *store, Ledger *ledger, const BooksHooks *hooks, void *userdata,
              Books **ret_books)
{
    Books *b = calloc(1, sizeof(*b));
    int r;

    if (!b) {
        ledger_unref(ledger);
        return -ENOMEM;
    }
    *b = (Books){.store = store, .ledger = ledger, .hooks = *hooks, .userdata = userdata};
    r = sd_event_add_time(event, &b->expiry, CLOCK_BOOTTIME, UINT64_MAX, EXPIRY_ACCURACY_US, on_expiry, b);
    if (r < 0) {
        books_free(b);
        return r;
    }
    put_in_force(b, ledger);
    *ret_books = b;
    return 0;
}

Books *books_free(Books *b)
{
    if (!b)
        return NULL;
    sd_event_source_disable_unref(b->expiry);
    ledger_unref(b->ledger);
    snapshot_unref(b->collected);
    snapshot_unref(b->published);
    free(b);
    return NULL;
}
