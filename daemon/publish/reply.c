/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "reply.h"

#include "error.h"

#include <string.h>

int reply_refuse_size(sd_bus_message *call, size_t size)
{
    return bus_reply_error(call, BUS_ERROR_LIMIT_REACHED,
                           "the answer is too large: it has %zu bytes, a D-Bus message may have %u with its header; "
                           "ListDomains and GetDomainMemory answer in parts",
                           size, REPLY_MESSAGE_MAX);
}

/* sd_bus_message_append() would look at each byte whether it is UTF-8, which takes longer than a dispatch may. */
static int append_text(sd_bus_message *reply, const char *text, size_t size)
{
    char *space = NULL;
    int r = sd_bus_message_append_string_space(reply, size, &space);

    if (r < 0)
        return r;
    memcpy(space, text, size);
    return 0;
}

int reply_text(sd_bus_message *call, const char *text, size_t size)
{
    _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
    size_t end = reply_string_end(0, size);
    int r;

    if (end > REPLY_BODY_MAX)
        return reply_refuse_size(call, end);
    r = sd_bus_message_new_method_return(call, &reply);
    if (r >= 0)
        r = append_text(reply, text, size);
    return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}
