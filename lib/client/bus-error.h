/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The one place where D-Bus error names become errno values.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Whose bus: the one at an address, another host's system bus, or, when both are NULL, this machine's. */
typedef struct BusPlace {
    const char *address, *host;
    unsigned patience; /* seconds that an answer was waited for */
} BusPlace;

/*
 * What a failed call means. `r` is what the call returned, `error` what the bus or the daemon said (may be unset).
 * Returns a negative errno of numadxen.h; *ret_text is the text for a person (owned, NULL when memory is short).
 */
int bus_error_explain(int r, const sd_bus_error *error, BusPlace place, char **ret_text);
/* The same for a bus that could not be reached. -EINVAL: its address is none. */
int bus_error_explain_connect(int r, const char *address, char **ret_text);
/* Whether sd-bus knows a way to it; it says of anything else that the connection was refused. */
bool bus_address_is_one(const char *address);
