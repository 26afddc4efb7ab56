/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/text.h"
#include "tests/unit/unit.h"

/* Builds the bytes of ACPI tables: header, entries, then table_end(), which makes length and checksum right. */

enum { ON = 1, HOTPLUG = 2, NONVOLATILE = 4 };

static inline void put(Text *table, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_add_bytes(table, &(const char){(char)(value >> 8 * i)}, 1);
}

static inline void table_begin(Text *table, const char *signature, unsigned revision)
{
    text_add_bytes(table, signature, 4);
    put(table, 0, 4);
    put(table, revision, 1);
    put(table, 0, 1);
    text_add_bytes(table, "NUMADXTESTHOST", 14);
    put(table, 1, 4);
    text_add_bytes(table, "TEST", 4);
    put(table, 1, 4);
}

static inline void srat_begin(Text *table, unsigned revision)
{
    table_begin(table, "SRAT", revision);
    put(table, 1, 4);
    put(table, 0, 8);
}

static inline void slit_begin(Text *table, uint64_t localities)
{
    table_begin(table, "SLIT", 1);
    put(table, localities, 8);
}

static inline void put_apic(Text *table, uint32_t pxm, uint32_t id, uint32_t flags)
{
    put(table, 0, 1);
    put(table, 16, 1);
    put(table, pxm, 1);
    put(table, id, 1);
    put(table, flags, 4);
    put(table, 0xee, 1);
    put(table, pxm >> 8, 3);
    put(table, 0, 4);
}

static inline void put_x2apic(Text *table, uint32_t pxm, uint32_t id, uint32_t flags)
{
    put(table, 2, 1);
    put(table, 24, 1);
    put(table, 0, 2);
    put(table, pxm, 4);
    put(table, id, 4);
    put(table, flags, 4);
    put(table, 0, 8);
}

static inline void put_gicc(Text *table, uint32_t pxm, uint32_t id, uint32_t flags)
{
    put(table, 3, 1);
    put(table, 18, 1);
    put(table, pxm, 4);
    put(table, id, 4);
    put(table, flags, 4);
    put(table, 0, 4);
}

static inline void put_memory(Text *table, uint32_t pxm, uint64_t base, uint64_t length, uint32_t flags)
{
    put(table, 1, 1);
    put(table, 40, 1);
    put(table, pxm, 4);
    put(table, 0, 2);
    put(table, base, 8);
    put(table, length, 8);
    put(table, 0, 4);
    put(table, flags, 4);
    put(table, 0, 8);
}

enum { HANDLE_ACPI, HANDLE_PCI };

static inline void put_initiator(Text *table, uint32_t pxm, unsigned handle, uint32_t flags)
{
    put(table, 5, 1);
    put(table, 32, 1);
    put(table, 0, 1);
    put(table, handle, 1);
    put(table, pxm, 4);
    if (handle == HANDLE_ACPI)
        text_add_bytes(table, "ACPI0017\1\0\0\0\0\0\0\0", 16); /* _HID, _UID */
    else
        text_add_bytes(table, "\0\0\xb8\x3b\0\0\0\0\0\0\0\0\0\0\0\0", 16); /* segment, bus and function */
    put(table, flags, 4);
    put(table, 0, 4);
}

/* An entry of any type and length, filled with `fill`. */
static inline void put_entry(Text *table, unsigned type, unsigned length, unsigned fill)
{
    put(table, type, 1);
    put(table, length, 1);
    for (unsigned i = 2; i < length; i++)
        put(table, fill, 1);
}

static inline void table_end(Text *table)
{
    uint8_t sum = 0;

    assert_false(table->failed);
    for (size_t i = 0; i < 4; i++)
        table->data[4 + i] = (char)(table->size >> 8 * i);
    table->data[9] = 0;
    for (size_t i = 0; i < table->size; i++)
        sum = (uint8_t)(sum + (uint8_t)table->data[i]);
    table->data[9] = (char)-sum;
}

/* The first `size` bytes alone, so that reading beyond them is seen. Free with free(). */
static inline uint8_t *table_copy(const Text *table, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    assert_non_null(copy);
    memcpy(copy, table->data, size);
    return copy;
}
