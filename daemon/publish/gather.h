/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <systemd/sd-bus.h>

/* Gather(): the host as a host description, for root and for whoever runs the daemon. */
typedef struct Bus Bus;

/* Asks for a capture; bus_captured() brings it. 0 or negative. */
typedef int (*CaptureFunction)(void *userdata);

#define GATHER_CALLS_MAX 4u /* each gets a copy of what may be megabytes */

typedef struct Gather {
    CaptureFunction capture;
    void *userdata;
    size_t n;
    sd_bus_message *calls[GATHER_CALLS_MAX]; /* owned; who waits for the capture */
} Gather;

void gather_done(Gather *gather);
/* Answers those who wait. */
void gather_answer(Gather *gather, int error, const char *text, size_t size);

/* The method's handler; userdata is the Bus. */
int gather_call(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
