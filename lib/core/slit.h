/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

/* ACPI's System Locality Information Table (ACPI 6.5, section 5.2.17): distances between proximity domains. */
typedef struct Slit {
    unsigned n;         /* localities */
    uint8_t *distances; /* owned, n x n by row, as they are; NULL: none, or broken */
    char *fault;        /* owned; why the table is broken, for a person; NULL: it is not */
} Slit;

/* Reads a table of any bytes. 0 or -ENOMEM. */
int slit_parse(const uint8_t *bytes, size_t size, Slit *ret_slit);
void slit_done(Slit *slit);
