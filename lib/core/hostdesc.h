/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rows.h"

#define HOSTDESC_MAX_BYTES (64u << 20)

#define HOSTDESC_E_REFUSED 1
/*
 * Reads a host description, numad-xen-host/1 (contract, section 4). 0, -ENOMEM, or HOSTDESC_E_REFUSED with
 * *ret_error (owned): where in the file and why.
 */
int hostdesc_parse(const char *text, size_t size, HostRows **ret_rows, char **ret_error);
