/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "error.h"

#include <stdarg.h>

#define PREFIX "org.numadxen.NumadXen1.Error."

static const char *const names[_BUS_ERROR_MAX] = {
    [BUS_ERROR_NO_FIT] = PREFIX "NoFit",
    [BUS_ERROR_INVALID_REQUEST] = PREFIX "InvalidRequest",
    [BUS_ERROR_UNKNOWN_DOMAIN] = PREFIX "UnknownDomain",
    [BUS_ERROR_UNKNOWN_TOKEN] = PREFIX "UnknownToken",
    [BUS_ERROR_EXPIRED] = PREFIX "Expired",
    [BUS_ERROR_UNSUPPORTED] = PREFIX "Unsupported",
    [BUS_ERROR_LIMIT_REACHED] = PREFIX "LimitReached",
};

int bus_reply_error(sd_bus_message *call, BusError error, const char *format, ...)
{
    va_list arguments;
    int r;

    va_start(arguments, format);
    r = sd_bus_reply_method_errorfv(call, names[error], format, arguments);
    va_end(arguments);
    return r;
}
