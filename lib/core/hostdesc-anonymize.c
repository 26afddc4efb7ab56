/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-tables.h"
#include "hostdesc-write.h"

#include <stdio.h>

static void free_table(uint8_t **bytes)
{
    free(*bytes);
}

/* Firmware is shared with whoever else holds a reference: these rows get another one. */
static int anonymize_firmware(HostRows *rows)
{
    _cleanup_(free_table) uint8_t *srat = NULL, *slit = NULL;
    const Firmware *old = rows->firmware;
    size_t srat_size = 0, slit_size = 0;
    Firmware *firmware = NULL;
    int r = 0;

    if (!old)
        return 0;
    if (old->srat_bytes)
        r = hostdesc_copy_srat(old->srat_bytes, old->srat_size, &srat, &srat_size);
    if (r == 0 && old->slit_bytes)
        r = hostdesc_copy_slit(old->slit_bytes, old->slit_size, &slit, &slit_size);
    if (r == 0)
        r = firmware_new(srat, srat_size, slit, slit_size, &firmware);
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
