/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "client.h"

/* Puts the request into a call, as its argument a{sv}: the keys that were set, and no others. 0 or a negative errno. */
int request_append(const numadx_request *request, sd_bus_message *call);
