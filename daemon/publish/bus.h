/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "callers.h"
#include "documents.h"
#include "gather.h"
#include "limit.h"
#include "place.h"
#include "request.h"

#include "daemon/source/source.h"

#include <systemd/sd-bus.h>

#define BUS_NAME "org.numadxen.NumadXen1"
#define BUS_PATH "/org/numadxen/NumadXen1"
#define BUS_INTERFACE "org.numadxen.NumadXen1"

/* How asking for the name ended: 0, or negative (it has been logged). */
typedef void (*OwnedFunction)(int error, void *userdata);

/* The daemon on the bus: shows the current snapshot to whoever asks. */
struct Bus {
    sd_bus *bus;
    sd_event *event; /* borrowed */
    Documents documents;
    Snapshot *next;            /* one reference; newer than what is shown, NULL: there is none */
    sd_event_source *next_due; /* enabled while there is a next one */
    Callers callers;
    Limit limit;
    Requests requests;
    Gather gather;
    PlaceCalls place;
    Source *simulated; /* borrowed; of the Sim interface */
    Stats *stats; /* borrowed */
    OwnedFunction owned;
    void *userdata; /* of owned */
    sd_event_source *patience;
};

/*
 * Connects to the bus at `address`, NULL for the system bus. When the bus goes away later, the loop exits with
 * EXIT_NO_BUS: a service without its bus is of no use, and a new start finds the new bus.
 * 0 or negative; it has logged why.
 */
int bus_new(sd_event *event, const char *address, Stats *stats, Bus **ret_bus);
Bus *bus_free(Bus *bus); /* takes NULL, returns NULL */

/*
 * Asks for the name; owned() hears how it ended, unless the bus goes away or does not answer in BUS_PATIENCE_US:
 * then the loop exits. 0 or negative; it has logged why.
 */
#define BUS_PATIENCE_US (10u * 1000u * 1000u)
int bus_own_name(Bus *bus, OwnedFunction owned, void *userdata);

/* How a capture is asked for; before the first call can come. */
void bus_set_capture(Bus *bus, CaptureFunction capture, void *userdata);
/* What came of it. */
void bus_captured(Bus *bus, int error, const char *text, size_t size);

/* Who decides on placements, and what is true; both borrowed, before the first call can come. */
void bus_set_placer(Bus *bus, Placer *placer, const Books *books);
/* Tells that an open reservation has ended by itself. */
void bus_reservation_ended(Bus *bus, const char *token);

/*
 * What is answered from now on; tells the bus what has changed. While a text of the last one is being built for those
 * who wait for it, the new one waits too: what is shown is always of one generation.
 */
void bus_set_snapshot(Bus *bus, Snapshot *snapshot);
