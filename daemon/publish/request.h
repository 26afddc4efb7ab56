/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <sys/types.h>
#include <systemd/sd-bus.h>

/* Calls whose answer is big or costly, from their arrival to their answer. */
typedef struct Bus Bus;
/* As sd_bus_reply_method_return(); or -EAGAIN: it is being built, ask again in another dispatch. */
typedef struct Request Request;
typedef int (*AnswerFunction)(Bus *bus, const Request *request);

#define REQUESTS_MAX 256u

struct Request {
    sd_bus_message *call; /* owned */
    AnswerFunction answer;
    sd_bus_slot *lookup; /* owned; of the question who the caller is */
    bool admitted;
    uid_t uid; /* the caller's, once admitted; not known of one that is not limited */
};

typedef struct Requests {
    size_t n;
    Request *items[REQUESTS_MAX]; /* oldest first */
    sd_event_source *drained;     /* enabled while some wait for the write queue */
    sd_event_source *work;        /* enabled while an answer is being built */
} Requests;

int requests_init(Bus *bus);
void requests_done(Bus *bus);

/*
 * For a method handler: answers the call with `answer` now, or when the caller's uid is known and earlier answers have
 * left. `limited`: counts against the caller's limit.
 */
int request_add(Bus *bus, sd_bus_message *call, AnswerFunction answer, bool limited);
