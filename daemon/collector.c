/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "collector.h"

#include "clock.h"
#include "log.h"

#include <sys/epoll.h>

/*
 * A timer on CLOCK_MONOTONIC ticks at whole intervals since the start, so that the collections neither drift nor
 * pile up: a tick that finds one under way passes. The collection itself runs from a defer source, one step of the
 * source a dispatch and the sealing in a dispatch of its own, so that the bus is answered in between.
 *
 * A domain event asks for a full collection. One that comes during a collection may have been missed by it, so
 * exactly one more follows. In a storm of events they begin at least COLLECTION_GAP_US apart, and as far apart that
 * they take a tenth of the CPU.
 */

#define STORM_FACTOR 10
#define TICK_ACCURACY_US 5000

struct Collector {
    Source *source;
    Stats *stats;
    CollectedFunction collected;
    void *userdata;

    sd_event_source *tick, *events, *gap, *work;
    uint64_t next_us;     /* of the tick */
    uint64_t earliest_us; /* when an event may begin the next collection */

    bool running, full;
    bool wanted; /* a full collection, as soon as may be */
    uint64_t begun_us, spent_us;
    HostRows *rows; /* complete, to be sealed */
    uint64_t generation;
    int error; /* of the last collection */
};

static void log_outcome(const Collector *c, int error)
{
    if (error == c->error)
        return;
    if (error < 0)
        log_error_errno(error, "collection failed%s: %m", c->generation ? ", showing the last one" : "");
    else
        log_notice("collecting works again");
}

static void count(Collector *c, const Snapshot *snapshot)
{
    c->stats->errors_xen = c->source->errors[ERROR_XEN];
    c->stats->errors_srat = c->source->errors[ERROR_SRAT];
    c->stats->errors_hwloc = c->source->errors[ERROR_HWLOC];
    c->stats->errors_xenstore = c->source->errors[ERROR_XENSTORE];
    if (!snapshot)
        return;
    histogram_add(&c->stats->collection, c->spent_us);
    c->stats->last_collection_us = snapshot->time_us;
}

static void begin_wanted(Collector *c);

static void finish(Collector *c, Snapshot *snapshot, int error)
{
    c->running = false;
    c->rows = host_rows_free(c->rows);
    (void)sd_event_source_set_enabled(c->work, SD_EVENT_OFF);
    c->earliest_us = c->begun_us + MAX(COLLECTION_GAP_US, STORM_FACTOR * c->spent_us);
    count(c, snapshot);
    log_outcome(c, error);
    c->error = error;
    if (error < 0)
        c->wanted |= c->full; /* with the next tick, not at once */
    c->collected(snapshot, c->userdata);
    if (!error)
        begin_wanted(c);
}

static void begin(Collector *c, bool full)
{
    int r;

    c->full = full;
    c->wanted = false;
    c->running = true;
    c->rows = host_rows_free(c->rows);
    c->begun_us = clock_us(CLOCK_MONOTONIC);
    r = c->source->ops->begin(c->source, full);
    c->spent_us = clock_us(CLOCK_MONOTONIC) - c->begun_us;
    if (r >= 0)
        r = sd_event_source_set_enabled(c->work, SD_EVENT_ON);
    if (r < 0)
        finish(c, NULL, r);
}

/* Begins a full collection that an event asked for, now or when the gap is over. */
static void begin_wanted(Collector *c)
{
    if (!c->wanted || c->running)
        return;
    if (clock_us(CLOCK_MONOTONIC) >= c->earliest_us) {
        begin(c, true);
        return;
    }
    if (sd_event_source_set_time(c->gap, c->earliest_us) < 0 ||
        sd_event_source_set_enabled(c->gap, SD_EVENT_ONESHOT) < 0)
        begin(c, true);
}

static int seal(Collector *c, Snapshot **ret_snapshot)
{
    return snapshot_seal(TAKE_PTR(c->rows), c->generation + 1, (int64_t)clock_us(CLOCK_REALTIME), ret_snapshot);
}

/* Whether the collection is over. */
static bool work(Collector *c, Snapshot **ret_snapshot, int *ret_error)
{
    int r;

    if (c->rows) {
        r = seal(c, ret_snapshot);
        *ret_error = MIN(r, 0);
        return true;
    }
    r = c->source->ops->step(c->source, &c->rows);
    if (r == 0 && !c->rows)
        r = -ENODATA;
    *ret_error = MIN(r, 0);
    return r < 0;
}

static int on_work(sd_event_source *event_source, void *userdata)
{
    Collector *c = userdata;
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    uint64_t start = clock_us(CLOCK_MONOTONIC);
    int error = 0;
    bool over = work(c, &snapshot, &error);

    c->spent_us += clock_us(CLOCK_MONOTONIC) - start;
    if (!over)
        return 0;
    if (snapshot)
        c->generation++;
    finish(c, snapshot, error);
    return 0;
}

static int on_tick(sd_event_source *tick, uint64_t scheduled, void *userdata)
{
    Collector *c = userdata;
    uint64_t now = clock_us(CLOCK_MONOTONIC);

    c->next_us += COLLECTION_INTERVAL_US;
    if (c->next_us <= now) /* late by whole intervals: those are lost */
        c->next_us = now + COLLECTION_INTERVAL_US - (now - c->next_us) % COLLECTION_INTERVAL_US;
    if (!c->running)
        begin(c, c->wanted);
    return sd_event_source_set_time(tick, c->next_us);
}

static int on_gap(sd_event_source *gap, uint64_t scheduled, void *userdata)
{
    begin_wanted(userdata);
    return 0;
}

static int on_events(sd_event_source *events, int fd, uint32_t revents, void *userdata)
{
    Collector *c = userdata;
    int r = c->source->ops->dispatch(c->source);

    if (r < 0) {
        log_errno(LOG_WARNING, r, "domain events are lost, new domains are seen once a second: %m");
        c->events = sd_event_source_disable_unref(c->events);
    }
    if (r != 0) {
        c->wanted = true;
        begin_wanted(c);
    }
    return 0;
}

static int add_sources(Collector *c, sd_event *event)
{
    int fd = c->source->ops->event_fd(c->source);
    int r;

    c->next_us = clock_us(CLOCK_MONOTONIC);
    r = sd_event_add_time(event, &c->tick, CLOCK_MONOTONIC, c->next_us, TICK_ACCURACY_US, on_tick, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->tick, SD_EVENT_ON);
    if (r >= 0)
        r = sd_event_add_time(event, &c->gap, CLOCK_MONOTONIC, UINT64_MAX, 1, on_gap, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->gap, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_defer(event, &c->work, on_work, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->work, SD_EVENT_OFF);
    if (r >= 0 && fd >= 0)
        r = sd_event_add_io(event, &c->events, fd, EPOLLIN, on_events, c);
    return MIN(r, 0);
}

int collector_new(sd_event *event, Source *source, Stats *stats, CollectedFunction collected, void *userdata,
                  Collector **ret_collector)
{
    Collector *c = calloc(1, sizeof(*c));
    int r;

    if (!c) {
        source_free(source);
        return -ENOMEM;
    }
    *c = (Collector){.source = source, .stats = stats, .collected = collected, .userdata = userdata, .wanted = true};
    r = add_sources(c, event);
    if (r < 0) {
        collector_free(c);
        return r;
    }
    *ret_collector = c;
    return 0;
}

Collector *collector_free(Collector *c)
{
    if (!c)
        return NULL;
    sd_event_source_disable_unref(c->tick);
    sd_event_source_disable_unref(c->events);
    sd_event_source_disable_unref(c->gap);
    sd_event_source_disable_unref(c->work);
    host_rows_free(c->rows);
    source_free(c->source);
    free(c);
    return NULL;
}

int collector_reload(Collector *c, char **ret_error)
{
    int r = c->source->ops->reload(c->source, ret_error);

    if (r < 0)
        return r;
    begin(c, true); /* drops one under way, which may mix old and new */
    return 0;
}
