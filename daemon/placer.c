/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "placer-call.h"

#include "clock.h"
#include "log.h"
#include "turn.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/*
 * Requests wait in two queues. Places are gathered: the first of a burst starts the clock, each further one puts the
 * decision off by gather_ms, up to gather_max_ms after the first; one that comes when nothing is promised and nobody
 * waits is decided at once. Commits and releases are done one after the other as they come, but not while a batch of
 * places is being decided, which holds the books. All of it runs in turns (turn.h), a bounded step each.
 */

#define DUE_ACCURACY_US 1000u

struct Placer {
    Books *books;
    Stats *stats;
    PlacerSettings settings;
    CallList places, changes;
    uint64_t first_us; /* when the first of those places came, CLOCK_MONOTONIC */
    bool is_due;       /* they are to be decided now */
    PlacerBatch batch;
    sd_event_source *due, *work;
};

static void wake(Placer *p)
{
    (void)sd_event_source_set_enabled(p->work, SD_EVENT_ON);
}

static int on_due(sd_event_source *source, uint64_t time, void *userdata)
{
    Placer *p = userdata;

    p->is_due = true;
    wake(p);
    return 0;
}

static void count(Placer *p, const PlacerCall *call)
{
    if (call->kind != CALL_PLACE || !call->done)
        return;
    p->stats->placed += call->error == 0;
    p->stats->nofit += call->error == PLACER_E_NOFIT;
    p->stats->invalid += call->error == PLACER_E_INVALID;
    p->stats->limit += call->error == PLACER_E_LIMIT;
}

static void end_batch(Placer *p)
{
    uint64_t spent_us = clock_us(CLOCK_MONOTONIC) - p->batch.begun_us;
    PlacerCall *call;

    while ((call = call_list_take_first(&p->batch.calls))) {
        histogram_add(&p->stats->placement, spent_us);
        count(p, call);
        placer_call_tell(call);
    }
    batch_done(&p->batch);
}

/* --- commits and releases --- */

static bool may_change(const PlacerCall *call, const Reservation *reservation)
{
    return call->uid == 0 || call->uid == geteuid() || call->uid == reservation->uid;
}

/* Why the domain is not the reservation's. */
static void explain_other(PlacerCall *call, const Ledger *ledger)
{
    const Reservation *own = ledger_find(ledger, call->token), *other = ledger_find_domain(ledger, call->domid);

    if (own && own->state == RESERVATION_COMMITTED)
        placer_call_fail(call, PLACER_E_INVALID,
                         "domid: reservation %s is the placement of domain %" PRIu32 " already, and not of domain %u",
                         call->token, own->domid, (unsigned)call->domid);
    else if (other && other != own)
        placer_call_fail(call, PLACER_E_INVALID,
                         "domid: domain %u has the placement of another reservation, %s: release %s when nothing else "
                         "is to come for it",
                         (unsigned)call->domid, other->token, call->token);
    else
        placer_call_fail(call, PLACER_E_INVALID,
                         "domid: domain %u is not the one of reservation %s: it has another UUID, or was there before",
                         (unsigned)call->domid, call->token);
}

static void explain_change(PlacerCall *call, int r, const Books *books)
{
    switch (r) {
    case LEDGER_E_UNKNOWN_TOKEN:
        placer_call_fail(call, PLACER_E_UNKNOWN_TOKEN, "there is no reservation %s", call->token);
        break;
    case LEDGER_E_EXPIRED:
        placer_call_fail(call, PLACER_E_EXPIRED, "reservation %s has ended: its time was over, or its domain is gone",
                         call->token);
        break;
    case LEDGER_E_UNKNOWN_DOMAIN:
        placer_call_fail(call, PLACER_E_UNKNOWN_DOMAIN, "there is no domain %u", (unsigned)call->domid);
        break;
    case LEDGER_E_OTHER_DOMAIN:
        explain_other(call, books_ledger(books));
        break;
    default:
        placer_call_fail_books(call, r, books);
    }
}

static int make_change(Placer *p, PlacerCall *call)
{
    Ledger *old = books_ledger(p->books);
    const Reservation *reservation = ledger_find(old, call->token);
    _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
    _cleanup_(ledger_unref_p) Ledger *ledger = NULL;
    int r;

    if (reservation && !may_change(call, reservation)) {
        placer_call_fail(call, PLACER_E_DENIED, "reservation %s is another user's", call->token);
        return 0;
    }
    r = books_read_any(p->books, &memory);
    old = books_ledger(p->books); /* the reading may have changed it */
    if (r == 0)
        r = call->kind == CALL_COMMIT ? ledger_commit(old, call->token, call->domid, memory, &ledger)
                                      : ledger_release(old, call->token, &ledger);
    if (r == 0 && ledger != old) {
        call->changed = true;
        r = books_adopt(p->books, ledger, memory);
    }
    return r;
}

static void change(Placer *p, PlacerCall *call)
{
    int r = make_change(p, call);

    if (r != 0)
        explain_change(call, r, p->books);
    placer_call_tell(call);
}

/* --- the queues --- */

/* One bounded piece of what is to be done next; false: there is nothing. */
static bool do_something(Placer *p)
{
    if (batch_is_begun(&p->batch)) {
        if (batch_step(&p->batch, p->books, &p->settings) == 0)
            end_batch(p);
    } else if (p->changes.n > 0)
        change(p, call_list_take_first(&p->changes));
    else if (p->is_due && p->places.n > 0) {
        p->is_due = false;
        batch_begin(&p->batch, &p->places, p->books);
    } else
        return false;
    return true;
}

static int on_work(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    Placer *p = userdata;

    if (!do_something(p))
        (void)sd_event_source_set_enabled(p->work, SD_EVENT_OFF);
    return 0;
}

/* One more place waits: when it and the others are decided. */
static void schedule(Placer *p)
{
    uint64_t now = clock_us(CLOCK_MONOTONIC), due;
    bool lone = p->places.n == 1 && !batch_is_begun(&p->batch) && ledger_count_open(books_ledger(p->books)) == 0;

    if (p->places.n == 1)
        p->first_us = now;
    due = MIN(now + p->settings.gather_ms * 1000, p->first_us + p->settings.gather_max_ms * 1000);
    if (lone || p->is_due || due <= now ||
        sd_event_source_set_time(p->due, due) < 0 || sd_event_source_set_enabled(p->due, SD_EVENT_ONESHOT) < 0) {
        (void)sd_event_source_set_enabled(p->due, SD_EVENT_OFF);
        p->is_due = true;
        wake(p);
    }
}

static int add_call(Placer *p, CallList *list, const PlacerCall *call, PlacerCall **ret_call)
{
    _cleanup_(placer_call_free_p) PlacerCall *added = calloc(1, sizeof(*added));
    int r;

    if (!added)
        return -ENOMEM;
    if (p->places.n + p->changes.n + p->batch.calls.n >= PLACER_CALLS_MAX)
        return PLACER_E_LIMIT;
    r = call_list_add(list, added);
    if (r < 0)
        return r;
    *added = *call;
    *ret_call = added;
    added = NULL;
    return 0;
}

int placer_place(Placer *p, PlacementRequest *request, uid_t uid, PlacerFunction done, void *userdata,
                 PlacerCall **ret_call)
{
    const PlacerCall call = {
        .kind = CALL_PLACE, .uid = uid, .request = *request, .done = done, .userdata = userdata};
    int r = add_call(p, &p->places, &call, ret_call);

    if (r != 0)
        return r;
    *request = (PlacementRequest){.pool = ROW_NO_POOL};
    schedule(p);
    return 0;
}

static int add_change(Placer *p, PlacerCall *call, const char *token, PlacerCall **ret_call)
{
    int r;

    memcpy(call->token, token, TOKEN_SIZE);
    r = add_call(p, &p->changes, call, ret_call);
    if (r == 0)
        wake(p);
    return r;
}

int placer_commit(Placer *p, const char *token, domid_t domid, uid_t uid, PlacerFunction done, void *userdata,
                  PlacerCall **ret_call)
{
    PlacerCall call = {.kind = CALL_COMMIT, .uid = uid, .domid = domid, .done = done, .userdata = userdata};

    return add_change(p, &call, token, ret_call);
}

int placer_release(Placer *p, const char *token, uid_t uid, PlacerFunction done, void *userdata, PlacerCall **ret_call)
{
    PlacerCall call = {.kind = CALL_RELEASE, .uid = uid, .done = done, .userdata = userdata};

    return add_change(p, &call, token, ret_call);
}

void placer_cancel(Placer *p, PlacerCall *call)
{
    call->done = NULL;
    if (!call_list_remove(&p->places, call))
        return; /* it is being decided: the batch drops it */
    placer_call_free(call);
    if (p->places.n == 0) {
        p->is_due = false;
        (void)sd_event_source_set_enabled(p->due, SD_EVENT_OFF);
    }
}

PlacementOptions placer_options(const Placer *p)
{
    return (PlacementOptions){.policy = p->settings.policy};
}

void placer_set(Placer *p, const PlacerSettings *settings)
{
    p->settings = *settings;
}

int placer_new(sd_event *event, Books *books, Stats *stats, Placer **ret_placer)
{
    Placer *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return -ENOMEM;
    p->books = books;
    p->stats = stats;
    r = sd_event_add_time(event, &p->due, CLOCK_MONOTONIC, UINT64_MAX, DUE_ACCURACY_US, on_due, p);
    if (r >= 0)
        r = sd_event_source_set_enabled(p->due, SD_EVENT_OFF);
    if (r >= 0)
        r = turn_add(event, &p->work, on_work, p);
    if (r >= 0)
        r = sd_event_source_set_enabled(p->work, SD_EVENT_OFF);
    if (r < 0) {
        placer_free(p);
        return r;
    }
    *ret_placer = p;
    return 0;
}

Placer *placer_free(Placer *p)
{
    if (!p)
        return NULL;
    sd_event_source_disable_unref(p->due);
    sd_event_source_disable_unref(p->work);
    batch_done(&p->batch);
    call_list_done(&p->places);
    call_list_done(&p->changes);
    free(p);
    return NULL;
}
