/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <systemd/sd-bus.h>

/* Calls whose answer is big or costly, from their arrival to their answer. */
typedef struct Bus Bus;
/* As sd_bus_reply_method_return(); or -EAGAIN: it is being built, ask again in another dispatch. */
typedef int (*AnswerFunction)(Bus *bus, sd_bus_message *call);

#define REQUESTS_MAX 256u

typedef struct Request {
    sd_bus_message *call; /* owned */
    AnswerFunction answer;
    sd_bus_slot *lookup; /* owned; of the question who the caller is */
    bool admitted;
} Request;

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
