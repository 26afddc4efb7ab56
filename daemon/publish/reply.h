/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <systemd/sd-bus.h>

/*
 * Large answers. The bus ends the connection of whoever sends a message that is too large for it, so that one question
 * about a very large host would take the daemon away from all who ask. dbus-daemon's limit is max_message_size, 32 MiB
 * if nobody has configured another; dbus-broker takes more. What stands before the body is some hundred bytes.
 */
#define REPLY_MESSAGE_MAX (32u << 20)
#define REPLY_BODY_MAX (REPLY_MESSAGE_MAX - 4096u)

/* Answers with LimitReached. As sd_bus_reply_method_return(). */
int reply_refuse_size(sd_bus_message *call, size_t size);
/* Answers with one string, which must be valid UTF-8, or with LimitReached. As sd_bus_reply_method_return(). */
int reply_text(sd_bus_message *call, const char *text, size_t size);

/* Where things end in a body that is `at` long without them: */
static inline size_t reply_align(size_t at, size_t to)
{
    return (at + to - 1) / to * to;
}
static inline size_t reply_string_end(size_t at, size_t length)
{
    return reply_align(at, 4) + 4 + length + 1;
}
