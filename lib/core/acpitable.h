/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "text.h"

/* What ACPI's tables have in common: little-endian fields, and the header (ACPI 6.5, section 5.2.6). */

#define ACPI_LENGTH 4   /* offset of the table's length in bytes, header included */
#define ACPI_REVISION 8 /* offset of the header's revision, one byte */

/* `bytes` may be at any address. */
static inline uint32_t acpi_u32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t acpi_u64(const uint8_t *bytes)
{
    return acpi_u32(bytes) | (uint64_t)acpi_u32(bytes + 4) << 32;
}

/* Adds one more fault to what a person is told about a table. */
void acpi_fault(Text *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Checks the header of a table of `size` bytes whose content begins at `content`. Returns up to where the table can be
 * read; 0: nothing of it can. A wrong checksum is a fault, but no reason not to read on: Xen and Linux do the same.
 */
size_t acpi_check_header(const uint8_t *bytes, size_t size, const char signature[5], size_t content, Text *fault);

/* Hands the faults over, NULL when there are none. 0 or -ENOMEM. */
int acpi_take_fault(Text *fault, char **ret_fault);
