/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "acpitable.h"

#include <stdarg.h>
#include <stdio.h>

#define HEADER_SIZE 36

void acpi_fault(Text *fault, const char *format, ...)
{
    _cleanup_free_ char *text = NULL;
    va_list ap;
    int r;

    va_start(ap, format);
    r = vasprintf(&text, format, ap);
    va_end(ap);
    if (r < 0) {
        text = NULL;
        fault->failed = true;
        return;
    }
    if (fault->size)
        text_add(fault, "; ");
    text_add(fault, text);
}

static bool sums_to_zero(const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum == 0;
}

size_t acpi_check_header(const uint8_t *bytes, size_t size, const char signature[5], size_t content, Text *fault)
{
    uint32_t length;

    if (size < HEADER_SIZE) {
        acpi_fault(fault, "it has %zu byte%s, which is too few", size, plural(size));
        return 0;
    }
    if (memcmp(bytes, signature, 4) != 0) {
        acpi_fault(fault, "it does not begin with %s", signature);
        return 0;
    }
    length = acpi_u32(bytes + ACPI_LENGTH);
    if (length < content || size < content) {
        acpi_fault(fault, "it has %zu byte%s, which is too few", MIN((size_t)length, size),
                   plural(MIN((size_t)length, size)));
        return 0;
    }
    if (length > size)
        acpi_fault(fault, "it says that it is %" PRIu32 " bytes long, and has %zu", length, size);
    else if (!sums_to_zero(bytes, length))
        acpi_fault(fault, "its checksum is wrong");
    return MIN((size_t)length, size);
}

int acpi_take_fault(Text *fault, char **ret_fault)
{
    size_t size;

    if (fault->failed)
        return -ENOMEM;
    return fault->size ? text_take(fault, ret_fault, &size) : 0;
}
