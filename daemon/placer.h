/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "books.h"
#include "lib/core/stats.h"

/*
 * Takes requests to place, to commit and to release, decides, and tells whoever asked: once, from the loop, never from
 * within the call that asked. A lone request is decided at once; several are gathered and decided together, the largest
 * first. What a request was promised is on the disk before it is told.
 */
typedef struct Placer Placer;
typedef struct PlacerCall PlacerCall; /* a request that has not been told its outcome */

typedef struct PlacerSettings {
    PlacementPolicy policy;
    uint64_t ttl_ms, gather_ms, gather_max_ms;
    size_t reservations, per_uid; /* how many may be open, of all and of each user */
} PlacerSettings;

#define PLACER_CALLS_MAX 1024u /* that may wait */

#define PLACER_E_NOFIT 1
#define PLACER_E_INVALID 2
#define PLACER_E_LIMIT 3
#define PLACER_E_UNKNOWN_DOMAIN 4
#define PLACER_E_UNKNOWN_TOKEN 5
#define PLACER_E_EXPIRED 6
#define PLACER_E_DENIED 7 /* another user's token */

typedef struct PlacerOutcome {
    int error;                      /* 0, PLACER_E_*, or negative */
    const char *why;                /* for a person; NULL with 0, and with an error of which no more is known */
    const Reservation *reservation; /* of a placement */
    const Placement *placement;     /* of a placement */
    uint64_t expires_ms;            /* of a placement: left of its time */
    bool changed;                   /* of a commit: it was not made before */
} PlacerOutcome;

/* What the outcome points to is valid until it returns. */
typedef void (*PlacerFunction)(const PlacerOutcome *outcome, void *userdata);

int placer_new(sd_event *event, Books *books, Stats *stats, Placer **ret_placer); /* borrows both */
Placer *placer_free(Placer *placer); /* takes NULL, returns NULL; nobody is told any more */
void placer_set(Placer *placer, const PlacerSettings *settings);
/* What holds for a request that names no policy. */
PlacementOptions placer_options(const Placer *placer);

/* Takes the request over on success, leaving a zeroed one. 0, PLACER_E_LIMIT, or negative: done() is not called. */
int placer_place(Placer *placer, PlacementRequest *request, uid_t uid, PlacerFunction done, void *userdata,
                 PlacerCall **ret_call);
/* Of a token that token_is_valid(). 0, PLACER_E_LIMIT, or negative: done() is not called. */
int placer_commit(Placer *placer, const char *token, domid_t domid, uid_t uid, PlacerFunction done, void *userdata,
                  PlacerCall **ret_call);
int placer_release(Placer *placer, const char *token, uid_t uid, PlacerFunction done, void *userdata,
                   PlacerCall **ret_call);
/* Whoever asked is gone: nothing is promised to him, and done() is not called. */
void placer_cancel(Placer *placer, PlacerCall *call);
