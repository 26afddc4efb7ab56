/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_us(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts); /* cannot fail for the clocks of Linux */
    return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}
