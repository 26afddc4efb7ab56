/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "acpi.h"

#include "lib/io/file.h"

#include <stdio.h>

/* A SLIT of 1024 localities is 1 MiB, an SRAT of 8192 processors a fifth of that. */
#define TABLE_MAX (4u << 20)

const char *const acpi_table_paths[_ACPI_TABLE_MAX] = {
    [ACPI_SRAT] = "/sys/firmware/acpi/tables/SRAT",
    [ACPI_SLIT] = "/sys/firmware/acpi/tables/SLIT",
};

/* 0 with *ret_bytes NULL: the host has no such table, or no ACPI. */
static int read_table(const char *root, const char *below, char **ret_bytes, size_t *ret_size)
{
    _cleanup_free_ char *path = NULL;
    int r;

    if (asprintf(&path, "%s%s", root, below) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    r = file_read_regular(path, TABLE_MAX, ret_bytes, ret_size);
    if (r == -ENOENT)
        return 0;
    return r == FILE_E_NOT_REGULAR ? -EINVAL : r;
}

int acpi_read_firmware(const char *root, Firmware **ret_firmware, int ret_errors[_ACPI_TABLE_MAX])
{
    _cleanup_free_ char *srat = NULL, *slit = NULL;
    size_t srat_size = 0, slit_size = 0;

    *ret_firmware = NULL;
    ret_errors[ACPI_SRAT] = read_table(root, acpi_table_paths[ACPI_SRAT], &srat, &srat_size);
    ret_errors[ACPI_SLIT] = read_table(root, acpi_table_paths[ACPI_SLIT], &slit, &slit_size);
    if (ret_errors[ACPI_SRAT] == -ENOMEM || ret_errors[ACPI_SLIT] == -ENOMEM)
        return -ENOMEM;
    if (!srat && !slit)
        return 0;
    return firmware_new((const uint8_t *)srat, srat_size, (const uint8_t *)slit, slit_size, ret_firmware);
}
