/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "collector.h"

#include "clock.h"
#include "log.h"
#include "turn.h"
#include "lib/core/hostdesc-write.h"
#include "lib/core/seal.h"

#include <string.h>
#include <sys/epoll.h>

/*
 * A timer on CLOCK_MONOTONIC ticks at whole intervals since the start, so that the collections neither drift nor
 * pile up: a tick that finds one under way passes. The collection itself runs in turns (turn.h), one step of the
 * source, of the capture or of the sealing a dispatch, so that the bus is answered in between.
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
    HostRows *rows; /* complete, to be captured and sealed */
    Seal *seal;
    uint64_t generation;
    uint64_t interval_us;

    CapturedFunction captured; /* NULL: nobody has asked for a capture */
    void *captured_userdata;
    bool capturing; /* this collection is captured */
    HostdescWriter writer;
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

/* The next tick comes at that time, or earlier if it was due earlier. */
static void tick_by(Collector *c, uint64_t us)
{
    c->next_us = MIN(c->next_us, us);
    (void)sd_event_source_set_time(c->tick, c->next_us);
}

/* Hands the text over, or tells that there is none. */
static void end_capture(Collector *c, int error, char *text)
{
    CapturedFunction captured = TAKE_PTR(c->captured);

    c->capturing = false;
    hostdesc_writer_done(&c->writer);
    captured(error, text, text ? strlen(text) : 0, c->captured_userdata);
    free(text);
}

static void finish(Collector *c, Snapshot *snapshot, int error)
{
    c->running = false;
    c->rows = host_rows_free(c->rows);
    c->seal = seal_free(c->seal);
    (void)sd_event_source_set_enabled(c->work, SD_EVENT_OFF);
    c->earliest_us = c->begun_us + MAX(COLLECTION_GAP_US, STORM_FACTOR * c->spent_us);
    count(c, snapshot);
    log_outcome(c, error);
    c->error = error;
    if (c->capturing)
        end_capture(c, error, NULL);
    if (error < 0) { /* again with the next tick, not at once, but nobody waits an hour for it */
        c->wanted |= c->full;
        tick_by(c, clock_us(CLOCK_MONOTONIC) + COLLECTION_INTERVAL_US);
    }
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
    c->capturing = full && c->captured;
    hostdesc_writer_done(&c->writer);
    c->rows = host_rows_free(c->rows);
    c->seal = seal_free(c->seal);
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

/* One step; at the end the capture has been handed over. */
static void capture(Collector *c)
{
    char *text = NULL;
    int r = hostdesc_writer_step(&c->writer, &text);

    if (r <= 0)
        end_capture(c, r, text);
}

static int begin_seal(Collector *c)
{
    const SealOptions options = {
        .generation = c->generation + 1,
        .time_us = (int64_t)clock_us(CLOCK_REALTIME),
    };

    return seal_new(TAKE_PTR(c->rows), &options, &c->seal);
}

static int collect(Collector *c)
{
    int r = c->source->ops->step(c->source, &c->rows);

    if (r == 0 && !c->rows)
        return -ENODATA;
    if (r == 0)
        host_rows_estimate_fragments(c->rows);
    if (r == 0 && c->capturing)
        hostdesc_writer_init(&c->writer, c->rows);
    return r;
}

/* One step of what is to be done next. 1: there is more; 0: *ret_snapshot is there; or negative. */
static int work(Collector *c, Snapshot **ret_snapshot)
{
    int r = 1;

    if (c->seal)
        return seal_step(c->seal, ret_snapshot);
    if (!c->rows)
        r = collect(c);
    else if (c->capturing)
        capture(c);
    else
        r = begin_seal(c);
    return r < 0 ? r : 1;
}

static int on_work(sd_event_source *event_source, int fd, uint32_t revents, void *userdata)
{
    Collector *c = userdata;
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    uint64_t start = clock_us(CLOCK_MONOTONIC);
    int r = work(c, &snapshot);

    c->spent_us += clock_us(CLOCK_MONOTONIC) - start;
    if (r > 0)
        return 0;
    if (snapshot)
        c->generation++;
    finish(c, snapshot, r);
    return 0;
}

static int on_tick(sd_event_source *tick, uint64_t scheduled, void *userdata)
{
    Collector *c = userdata;
    uint64_t now = clock_us(CLOCK_MONOTONIC);

    c->next_us += c->interval_us;
    if (c->next_us <= now) /* late by whole intervals: those are lost */
        c->next_us = now + c->interval_us - (now - c->next_us) % c->interval_us;
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
        log_errno(LOG_WARNING, r, "domain events are lost, new domains are seen at the next interval: %m");
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
        r = turn_add(event, &c->work, on_work, c);
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
    *c = (Collector){.source = source,
                     .stats = stats,
                     .collected = collected,
                     .userdata = userdata,
                     .wanted = true,
                     .interval_us = COLLECTION_INTERVAL_US};
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
    hostdesc_writer_done(&c->writer);
    host_rows_free(c->rows);
    seal_free(c->seal);
    source_free(c->source);
    free(c);
    return NULL;
}

void collector_set_interval(Collector *c, uint64_t interval_us)
{
    if (c->interval_us == interval_us)
        return;
    c->interval_us = interval_us;
    tick_by(c, clock_us(CLOCK_MONOTONIC) + interval_us); /* what is due is not put off */
}

uint64_t collector_begun_us(const Collector *c)
{
    return c->begun_us;
}

int collector_read_memory(Collector *c, HostMemory **ret_memory)
{
    return c->source->ops->read_memory(c->source, ret_memory);
}

int collector_capture(Collector *c, CapturedFunction captured, void *userdata)
{
    if (c->captured)
        return -EALREADY;
    c->captured = captured;
    c->captured_userdata = userdata;
    c->wanted = true;
    begin_wanted(c);
    return 0;
}

int collector_reload(Collector *c, char **ret_error)
{
    int r = c->source->ops->reload(c->source, ret_error);

    if (r < 0)
        return r;
    begin(c, true); /* drops one under way, which may mix old and new */
    return 0;
}
