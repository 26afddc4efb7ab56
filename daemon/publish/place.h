/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/placer.h"

#include <systemd/sd-bus.h>

/* The methods Place, Commit, Release and Explain, and their signals. */
typedef struct Bus Bus;
typedef struct PlaceCall PlaceCall;

typedef struct PlaceCalls {
    Placer *placer;     /* borrowed */
    const Books *books; /* borrowed */
    PlaceCall *waiting; /* those without an answer yet */
} PlaceCalls;

int place_call(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
int place_commit(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
int place_release(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
int place_explain(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);

/* That sender has left the bus: what it asks for is not placed any more. */
void place_left(Bus *bus, const char *sender);
void place_done(Bus *bus); /* those who wait are not answered any more */
