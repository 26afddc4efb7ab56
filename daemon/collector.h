/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/source.h"
#include "lib/core/snapshot.h"
#include "lib/core/stats.h"

#include <systemd/sd-event.h>

/*
 * Makes a snapshot each interval, a second by default, and at once when domains come or go. One that failed is tried
 * again in a second. It alone calls the source.
 */
typedef struct Collector Collector;

/*
 * What the collector has to tell after each collection: the new snapshot (whoever wants to keep it takes a
 * reference), or NULL when it failed and the last one still holds.
 */
typedef void (*CollectedFunction)(Snapshot *snapshot, void *userdata);

#define COLLECTION_INTERVAL_US (1000u * 1000u)
#define COLLECTION_GAP_US (50u * 1000u) /* least time between collections begun by events */

/* Takes the source over, also on failure. Begins with a full collection. */
int collector_new(sd_event *event, Source *source, Stats *stats, CollectedFunction collected, void *userdata,
                  Collector **ret_collector);
Collector *collector_free(Collector *collector); /* takes NULL, returns NULL */

/* How often a collection begins from now on; the default is COLLECTION_INTERVAL_US. */
void collector_set_interval(Collector *collector, uint64_t interval_us);
/* When the collection began that is under way or was the last, CLOCK_MONOTONIC. */
uint64_t collector_begun_us(const Collector *collector);
/* As SourceOps.read_memory, which is what decisions are made on between collections. */
int collector_read_memory(Collector *collector, HostMemory **ret_memory);

/*
 * Captures the host: what a full collection reads that begins now, or as soon as may be, as a host description.
 * captured() is called once, when it is complete; with a negative error and no text when the collection failed.
 * -EALREADY: a capture that was asked for before is not complete; its captured() will be called.
 */
typedef void (*CapturedFunction)(int error, const char *text, size_t size, void *userdata);
int collector_capture(Collector *collector, CapturedFunction captured, void *userdata);

/* Has the source read its configuration again and collects at once. On failure nothing changes. */
int collector_reload(Collector *collector, char **ret_error);
