/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-write.h"

#include <stdio.h>

/* The header of an ACPI table (ACPI 6.5, section 5.2.6). */
#define TABLE_CHECKSUM 9
#define TABLE_NAMES 10 /* who made the table, and with what program, up to the end of the header */
#define TABLE_HEADER 36

/*
 * Blanks who made a table. The sum of its bytes stays what it was: a table that was sound stays so, and one that was
 * not does not become it.
 */
static void blank_names(uint8_t *bytes, size_t size)
{
    for (size_t i = TABLE_NAMES; i < MIN(size, (size_t)TABLE_HEADER); i++) {
        bytes[TABLE_CHECKSUM] = (uint8_t)(bytes[TABLE_CHECKSUM] + bytes[i]);
        bytes[i] = 0;
    }
}

/* A table of its own without names; NULL where there is none. */
static int copy_table(const uint8_t *bytes, size_t size, uint8_t **ret_copy)
{
    *ret_copy = NULL;
    if (!bytes)
        return 0;
    *ret_copy = new_array(size, 1);
    if (!*ret_copy)
        return -ENOMEM;
    memcpy(*ret_copy, bytes, size);
    blank_names(*ret_copy, size);
    return 0;
}

static void free_table(uint8_t **bytes)
{
    free(*bytes);
}

/* Firmware is shared with whoever else holds a reference: these rows get another one. */
static int anonymize_firmware(HostRows *rows)
{
    _cleanup_(free_table) uint8_t *srat = NULL, *slit = NULL;
    const Firmware *old = rows->firmware;
    Firmware *firmware = NULL;
    int r;

    if (!old)
        return 0;
    r = copy_table(old->srat_bytes, old->srat_size, &srat);
    if (r == 0)
        r = copy_table(old->slit_bytes, old->slit_size, &slit);
    if (r == 0)
        r = firmware_new(srat, old->srat_size, slit, old->slit_size, &firmware);
    if (r < 0)
        return r;
    firmware_unref(rows->firmware);
    rows->firmware = firmware;
    return 0;
}

/* 00000000-0000-4000-8000-00000000002a for domain 42: a random one in form, and never the nil UUID. */
static void make_uuid(DomainRow *domain)
{
    memset(domain->uuid, 0, sizeof(domain->uuid));
    domain->uuid[6] = 0x40;
    domain->uuid[8] = 0x80;
    domain->uuid[14] = (uint8_t)(domain->domid >> 8);
    domain->uuid[15] = (uint8_t)domain->domid;
}

static int anonymize_domain(DomainRow *domain)
{
    char *name;

    if (domain->has_uuid)
        make_uuid(domain);
    if (!domain->name)
        return 0;
    if (asprintf(&name, domain->domid == 0 ? "Domain-%u" : "domain-%u", domain->domid) < 0)
        return -ENOMEM;
    free(domain->name);
    domain->name = name;
    return 0;
}

int hostdesc_anonymize(HostRows *rows)
{
    int r = anonymize_firmware(rows);

    for (size_t i = 0; r == 0 && i < rows->n_domains; i++)
        r = anonymize_domain(&rows->domains[i]);
    return r;
}
