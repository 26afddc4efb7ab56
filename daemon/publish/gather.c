/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "gather.h"

#include "bus.h"
#include "error.h"
#include "reply.h"

#include <string.h>

/*
 * A capture tells domains' names, UUIDs and what the firmware says, so not everybody gets it. Who asks is the bus's own
 * answer (request.c). A capture takes a collection; calls that come while one is under way share its answer.
 */

void gather_done(Gather *gather)
{
    while (gather->n > 0)
        sd_bus_message_unref(gather->calls[--gather->n]);
}

static int answer_one(sd_bus_message *call, int error, const char *text, size_t size)
{
    if (error < 0)
        return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_FAILED, "the host could not be captured: %s",
                                          strerror(-error));
    return reply_text(call, text, size);
}

void gather_answer(Gather *gather, int error, const char *text, size_t size)
{
    for (size_t i = 0; i < gather->n; i++) {
        int r = answer_one(gather->calls[i], error, text, size);

        if (r < 0 && r != -ENOTCONN)
            (void)sd_bus_reply_method_errno(gather->calls[i], r, NULL);
    }
    gather_done(gather);
}

/* The caller's user is known. */
static int begin(Bus *bus, Request *request)
{
    Gather *gather = &bus->gather;
    int r;

    if (!request_is_privileged(request))
        return sd_bus_reply_method_errorf(request->call, SD_BUS_ERROR_ACCESS_DENIED, "only root may capture the host");
    if (gather->n == GATHER_CALLS_MAX)
        return bus_reply_error(request->call, BUS_ERROR_LIMIT_REACHED, "%u captures are waiting already",
                               GATHER_CALLS_MAX);
    r = gather->capture(gather->userdata);
    if (r < 0)
        return r;
    gather->calls[gather->n++] = sd_bus_message_ref(request->call);
    return 1;
}

int gather_call(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, begin, ADMIT_LIMITED);
}
