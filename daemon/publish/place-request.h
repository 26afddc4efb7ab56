/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/placement-request.h"

#include <systemd/sd-bus.h>

/*
 * Reads the a{sv} of Place and Explain under the message's cursor (contract, section 2, "Request keys"). 0;
 * REQUEST_E_INVALID, and *ret_why (owned) begins with the key; or negative. The caller frees the request in any case.
 */
int place_request_read(sd_bus_message *call, PlacementRequest *request, char **ret_why);
