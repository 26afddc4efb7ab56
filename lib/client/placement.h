/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "client.h"

/*
 * The placement document, numad-xen-placement/1, of a token and a placement's a{sv}, at which the answer stands. Keys
 * that are not known are passed over; one that is left out is null. *ret_json is owned. 0, -ENOMEM, or another negative
 * errno of an answer that makes no sense.
 */
int placement_json(sd_bus_message *answer, const char *token, char **ret_json);
