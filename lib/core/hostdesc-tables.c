/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-tables.h"

#include "acpitable.h"

/* Each copy begins as zeros, and gets the fields that srat_parse() and slit_parse() read. */

#define TABLE_CHECKSUM 9
#define TABLE_HEADER 36
#define TABLE_KEPT 9 /* signature, length, revision; behind the checksum come the makers' names */

#define SRAT_CONTENT 48
#define ENTRY_HEADER 2 /* type, length */
#define ENTRY_MEMORY 1
#define FLAG_ENABLED 1

#define SLIT_LOCALITIES 36
#define SLIT_CONTENT 44

typedef struct Copy {
    const uint8_t *from;
    uint8_t *to;
    size_t end; /* of both */
} Copy;

static void keep(const Copy *copy, size_t at, size_t size)
{
    memcpy(copy->to + at, copy->from + at, size);
}

static uint8_t sum_of(const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum;
}

/*
 * Begins a copy as long as the table says it is, if there is as much. False: nothing of the table can be read, and of
 * the copy nothing more is to be filled.
 */
static bool begin_copy(const Copy *copy, const char signature[5], size_t content, size_t *size)
{
    uint32_t length;

    if (*size < TABLE_HEADER || memcmp(copy->from, signature, 4) != 0)
        return false;
    length = acpi_u32(copy->from + ACPI_LENGTH);
    keep(copy, 0, TABLE_KEPT);
    if (length < content || *size < content)
        return false;
    *size = MIN((size_t)length, *size);
    return true;
}

/* Makes the sum of the copy's bytes what the table's is: right stays right, and wrong stays wrong. */
static void finish_copy(const Copy *copy)
{
    copy->to[TABLE_CHECKSUM] = 0;
    copy->to[TABLE_CHECKSUM] = (uint8_t)(sum_of(copy->from, copy->end) - sum_of(copy->to, copy->end));
}

/* --- SRAT --- */

typedef struct Field {
    uint8_t at, size;
} Field;

/* Index = type. What is read of an entry that is enabled. */
static const struct {
    uint8_t size, flags, mask; /* of the entry; where its flags are, and which of them are read */
    Field fields[2];           /* always */
    Field wide;                /* from revision 2 on */
} types[] = {
    [0] = {16, 4, 1, {{2, 2}}, {9, 3}},           /* APIC: PXM, id */
    [1] = {40, 28, 7, {{2, 1}, {8, 16}}, {3, 3}}, /* memory: PXM, base and length */
    [2] = {24, 12, 1, {{4, 8}}, {0, 0}},          /* x2APIC: PXM, id */
    [3] = {18, 10, 1, {{2, 8}}, {0, 0}},          /* GICC: PXM, UID */
    [5] = {32, 24, 1, {{4, 4}}, {0, 0}},          /* initiator: PXM */
};

static bool is_used(size_t type)
{
    return type < ARRAY_SIZE(types) && types[type].size;
}

/* Copies what is read of an entry of a used type. False: it is at fault, and nothing behind it is read. */
static bool copy_fields(const Copy *copy, size_t at, size_t type)
{
    const uint8_t *entry = copy->from + at;
    uint8_t flags = entry[types[type].flags];

    if (!(flags & FLAG_ENABLED))
        return true;
    copy->to[at + types[type].flags] = flags & types[type].mask;
    for (size_t i = 0; i < ARRAY_SIZE(types[type].fields); i++)
        keep(copy, at + types[type].fields[i].at, types[type].fields[i].size);
    if (copy->from[ACPI_REVISION] >= 2)
        keep(copy, at + types[type].wide.at, types[type].wide.size);
    return type != ENTRY_MEMORY || acpi_u64(entry + 16) <= UINT64_MAX - acpi_u64(entry + 8);
}

/* Returns the entry's length; 0: it is at fault. */
static size_t copy_entry(const Copy *copy, size_t at)
{
    const uint8_t *entry = copy->from + at;
    size_t left = copy->end - at, type = entry[0], length;

    if (left < ENTRY_HEADER)
        return 0;
    length = entry[1];
    copy->to[at + 1] = entry[1];
    if (length > left)
        return 0;
    copy->to[at] = entry[0];
    if (length < ENTRY_HEADER || (is_used(type) && length < types[type].size))
        return 0;
    return is_used(type) && !copy_fields(copy, at, type) ? 0 : length;
}

int hostdesc_copy_srat(const uint8_t *bytes, size_t size, uint8_t **ret_copy, size_t *ret_size)
{
    Copy copy = {.from = bytes, .to = new_array(size, 1)};

    if (!copy.to)
        return -ENOMEM;
    if (begin_copy(&copy, "SRAT", SRAT_CONTENT, &size)) {
        copy.end = size;
        for (size_t at = SRAT_CONTENT, length; at < size; at += length) {
            length = copy_entry(&copy, at);
            if (length == 0)
                break;
        }
        finish_copy(&copy);
    }
    *ret_copy = copy.to;
    *ret_size = size;
    return 0;
}

/* --- SLIT --- */

int hostdesc_copy_slit(const uint8_t *bytes, size_t size, uint8_t **ret_copy, size_t *ret_size)
{
    Copy copy = {.from = bytes, .to = new_array(size, 1)};

    if (!copy.to)
        return -ENOMEM;
    if (begin_copy(&copy, "SLIT", SLIT_CONTENT, &size)) {
        uint64_t n = acpi_u64(bytes + SLIT_LOCALITIES);

        copy.end = size;
        keep(&copy, SLIT_LOCALITIES, SLIT_CONTENT - SLIT_LOCALITIES);
        if (n <= NODES_MAX && n * n <= size - SLIT_CONTENT)
            keep(&copy, SLIT_CONTENT, n * n);
        finish_copy(&copy);
    }
    *ret_copy = copy.to;
    *ret_size = size;
    return 0;
}
