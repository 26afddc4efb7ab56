/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

/* What the daemon counts about itself since its start. */

#define HISTOGRAM_BOUNDS 12 /* 50 us .. 1 s; one more bucket counts everything (+Inf) */

typedef struct Histogram {
    uint64_t count;
    uint64_t sum_us;
    uint64_t buckets[HISTOGRAM_BOUNDS + 1]; /* cumulative */
} Histogram;

void histogram_add(Histogram *histogram, uint64_t duration_us);
uint64_t histogram_bound_us(unsigned i); /* upper bound of bucket i < HISTOGRAM_BOUNDS */

typedef struct Stats {
    int64_t since_us;           /* CLOCK_REALTIME at the start */
    int64_t last_collection_us; /* CLOCK_REALTIME at the end of the last good collection; -1: answered from a file */
    Histogram collection;
    Histogram placement;
    uint64_t placed, nofit, invalid, limit;
    uint64_t errors_xen, errors_srat, errors_hwloc, errors_xenstore;
} Stats;
