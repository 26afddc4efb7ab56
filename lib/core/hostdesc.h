/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rows.h"

#define HOSTDESC_MAX_BYTES (64u << 20)

#define HOSTDESC_E_REFUSED 1
/*
 * Reads a host description, numad-xen-host/1 (contract, section 4). 0, -ENOMEM, or HOSTDESC_E_REFUSED with
 * *ret_error (owned): where in the file and why.
 *
 * Refused is also what no real host has and would take very much memory: the hard and soft masks of all vCPUs of all
 * domains, of a bit for each CPU up to max_cpu_id, may take 1 GiB. That is 524288 vCPUs on 8192 CPUs, 16 million on
 * 256.
 */
int hostdesc_parse(const char *text, size_t size, HostRows **ret_rows, char **ret_error);
