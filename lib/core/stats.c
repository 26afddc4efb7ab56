/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stats.h"

static const uint64_t bounds_us[HISTOGRAM_BOUNDS] = {50,   100,   250,   500,   1000,   2500,
                                                     5000, 10000, 25000, 50000, 100000, 1000000};

uint64_t histogram_bound_us(unsigned i)
{
    return bounds_us[i];
}

void histogram_add(Histogram *histogram, uint64_t duration_us)
{
    histogram->count++;
    histogram->sum_us = add_saturating(histogram->sum_us, duration_us);
    for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++)
        if (duration_us <= bounds_us[i])
            histogram->buckets[i]++;
    histogram->buckets[HISTOGRAM_BOUNDS]++;
}
