/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/firmware.h"

/* The firmware's NUMA tables, as Linux shows them to dom0. Xen leaves them to it as they are. */
typedef enum AcpiTable { ACPI_SRAT, ACPI_SLIT, _ACPI_TABLE_MAX } AcpiTable;

extern const char *const acpi_table_paths[_ACPI_TABLE_MAX]; /* below the root: "/sys/firmware/acpi/tables/SRAT" */

/*
 * Reads what tables there are below `root` ("" for this system). *ret_firmware: one reference, or NULL when there is
 * none. ret_errors[table]: 0 when the table was read or the host has no such table, else the negative errno that kept
 * it from being read (-EACCES: not root; -EFBIG: no such table can be that large). What is in a table is not judged
 * here. 0 or -ENOMEM.
 */
int acpi_read_firmware(const char *root, Firmware **ret_firmware, int ret_errors[_ACPI_TABLE_MAX]);
