/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placer.h"

/* One request of the placer and what came of it; only the placer's own files include this. */

typedef enum CallKind { CALL_PLACE, CALL_COMMIT, CALL_RELEASE } CallKind;

struct PlacerCall {
    CallKind kind;
    uid_t uid;
    PlacementRequest request; /* PLACE */
    char token[TOKEN_SIZE];   /* COMMIT, RELEASE */
    domid_t domid;            /* COMMIT */
    PlacerFunction done;      /* NULL: cancelled */
    void *userdata;

    int error;
    char *why; /* owned */
    bool changed;
    Reservation *reservation; /* one reference */
    Placement *placement;     /* owned */
};

PlacerCall *placer_call_free(PlacerCall *call); /* takes NULL, returns NULL */
DEFINE_CLEANUP(PlacerCall *, placer_call_free)

/* Sets the outcome: `error`, PLACER_E_* or negative, and what is told of it. */
void placer_call_fail(PlacerCall *call, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The books could not be read or changed: -errno r, with what they say of it. */
void placer_call_fail_books(PlacerCall *call, int r, const Books *books);
/* Tells it, unless cancelled, and frees the call. */
void placer_call_tell(PlacerCall *call);

/* A list of calls in the order they are added. */
typedef struct CallList {
    PlacerCall **items;
    size_t n;
} CallList;

int call_list_add(CallList *list, PlacerCall *call); /* 0 or -ENOMEM */
bool call_list_remove(CallList *list, const PlacerCall *call);
PlacerCall *call_list_take_first(CallList *list); /* NULL: it is empty */
void call_list_done(CallList *list);              /* frees the calls too */

/* Those places that are decided together, in steps. A zeroed one is not begun. */
typedef struct PlacerBatch {
    CallList calls; /* largest first */
    size_t cursor;  /* those before it are decided */
    PlacementSearch *search;
    HostMemory *memory;
    Ledger *ledger;     /* with what this batch has promised so far */
    Snapshot *snapshot; /* and what that leaves */
    uint64_t begun_us;
} PlacerBatch;

static inline bool batch_is_begun(const PlacerBatch *batch)
{
    return batch->calls.n > 0;
}
/* Takes the calls over, leaving an empty list. Never fails: a call that cannot be decided has its error. */
void batch_begin(PlacerBatch *batch, CallList *calls, Books *books);
/* 1: call again. 0: all are decided, and what is promised is on the disk. */
int batch_step(PlacerBatch *batch, Books *books, const PlacerSettings *settings);
void batch_done(PlacerBatch *batch);
