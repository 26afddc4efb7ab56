/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <sys/types.h>
#include <systemd/sd-bus.h>

/* Calls whose answer is big or costly, from their arrival to their answer. */
typedef struct Bus Bus;
/* As sd_bus_reply_method_return(); or -EAGAIN: it is being built, ask again in another dispatch. */
typedef struct Request Request;
typedef int (*AnswerFunction)(Bus *bus, Request *request);

/* Who may make a call, and how often. */
typedef enum Admission {
    ADMIT_ALL,        /* at once: who asks is not even looked at */
    ADMIT_LIMITED,    /* counts against the caller's limit */
    ADMIT_PRIVILEGED, /* as well, but not of root and the user the daemon runs as */
} Admission;

#define REQUESTS_MAX 256u /* that read, and as many that change something */

struct Request {
    sd_bus_message *call; /* owned */
    AnswerFunction answer;
    sd_bus_slot *lookup; /* owned; of the question who the caller is */
    bool admitted;
    Admission admission;
    uid_t uid;  /* the caller's, once admitted; not known with ADMIT_ALL */
    void *work; /* what the answer function keeps between its calls; NULL at first */
    void (*work_free)(void *work);
};

/* Whether the caller is root or the user the daemon runs as, who may do what changes something. */
bool request_is_privileged(const Request *request);

typedef struct Requests {
    size_t n;
    Request *items[2 * REQUESTS_MAX]; /* oldest first */
    sd_event_source *drained;         /* enabled while some wait for the write queue */
    sd_event_source *work;            /* enabled while some that read can be answered */
    uint64_t worked_us;               /* when one was last, CLOCK_MONOTONIC */
} Requests;

int requests_init(Bus *bus);
void requests_done(Bus *bus);
/* That sender has left the bus: nobody waits for its answers. */
void requests_left(Bus *bus, const char *sender);

/*
 * For a method handler: answers the call with `answer` now, or when the caller's uid is known and earlier answers have
 * left.
 */
int request_add(Bus *bus, sd_bus_message *call, AnswerFunction answer, Admission admission);
