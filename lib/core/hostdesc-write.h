/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rows.h"

/*
 * Writes rows as a host description, numad-xen-host/1: a capture. Read back by hostdesc_parse() it gives the same
 * snapshot; only backend, simulated and the warnings about reads that failed do not come back.
 *
 * 0, -ENOMEM, or -ENODATA: the rows hold no node, and no host description is without. Free *ret_text with free().
 */
int hostdesc_document(const HostRows *rows, char **ret_text);

/* Takes out of the rows what names people's machines: domain names and UUIDs. 0 or -ENOMEM. */
int hostdesc_anonymize(HostRows *rows);
