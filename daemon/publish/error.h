/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Conditions that callers see, as D-Bus error names. */
typedef enum BusError {
    BUS_ERROR_NO_FIT,
    BUS_ERROR_INVALID_REQUEST,
    BUS_ERROR_UNKNOWN_DOMAIN,
    BUS_ERROR_UNKNOWN_TOKEN,
    BUS_ERROR_EXPIRED,
    BUS_ERROR_UNSUPPORTED,
    BUS_ERROR_LIMIT_REACHED,
    _BUS_ERROR_MAX,
} BusError;

/* Answers a call with the error. As sd_bus_reply_method_error(). */
int bus_reply_error(sd_bus_message *call, BusError error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
