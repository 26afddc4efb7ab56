/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <sys/types.h>

/*
 * How many costly requests each user may make a second: a token bucket a uid, which holds the requests of one
 * second. No clock in here, so that tests bring their own.
 */
#define LIMIT_REQUESTS_PER_S 200u
#define LIMIT_USERS_MAX 256u

typedef struct Bucket {
    uid_t uid;
    uint64_t full_us; /* when it is full again; a request moves that on by the time one token takes */
} Bucket;

/* A zeroed Limit with `per_s` set is ready. */
typedef struct Limit {
    unsigned per_s;
    size_t n;
    Bucket buckets[LIMIT_USERS_MAX];
} Limit;

/* Whether the user may make one more request now; if so, it is counted. */
bool limit_take(Limit *limit, uid_t uid, uint64_t now_us);
