/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-event.h>

/*
 * Work that is done a piece a dispatch while others have their turn in between: the handler is called again and again
 * while the source is enabled. It begins disabled. 0 or negative.
 */
int turn_add(sd_event *event, sd_event_source **ret_source, sd_event_io_handler_t handler, void *userdata);
