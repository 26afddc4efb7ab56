/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "limit.h"

#define SECOND_US 1000000u

/* A full bucket says nothing that a new one would not say; of others the fullest loses least. */
static Bucket *find_bucket(Limit *limit, uid_t uid)
{
    Bucket *fullest = &limit->buckets[0];

    for (size_t i = 0; i < limit->n; i++) {
        if (limit->buckets[i].uid == uid)
            return &limit->buckets[i];
        if (limit->buckets[i].full_us < fullest->full_us)
            fullest = &limit->buckets[i];
    }
    if (limit->n < LIMIT_USERS_MAX)
        fullest = &limit->buckets[limit->n++];
    *fullest = (Bucket){.uid = uid};
    return fullest;
}

bool limit_take(Limit *limit, uid_t uid, uint64_t now_us)
{
    Bucket *bucket = find_bucket(limit, uid);
    uint64_t full_us = MAX(bucket->full_us, now_us) + SECOND_US / limit->per_s;

    if (full_us > now_us + SECOND_US)
        return false;
    bucket->full_us = full_us;
    return true;
}
