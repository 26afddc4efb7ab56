/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/placement.h"

#include <systemd/sd-bus.h>

/*
 * The answer to Place, to be sent: the token and the a{sv} of the placement (contract, section 2, "Placement keys").
 * -EMSGSIZE: no D-Bus message holds it.
 */
int place_reply_new(sd_bus_message *call, const char *token, const Placement *placement, uint64_t expires_ms,
                    sd_bus_message **ret_reply);
