/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

#define SLIT_LOCAL 10        /* a node to itself; nothing may be below */
#define SLIT_UNREACHABLE 255 /* in the table's one byte; Xen's is ~0 */

/*
 * ACPI's System Locality Information Table (ACPI 6.5, section 5.2.17): distances between proximity domains, whose
 * numbers are its rows and columns.
 */
typedef struct Slit {
    unsigned n;         /* localities, at most NODES_MAX; 0: none, or broken */
    uint8_t *distances; /* owned, n x n by row, as they are; NULL: none, or broken */
    char *fault;        /* owned; what is wrong with the table, for a person; NULL: nothing */
} Slit;

/* Reads a table of any bytes. A wrong checksum alone is a fault that leaves the distances readable. 0 or -ENOMEM. */
int slit_parse(const uint8_t *bytes, size_t size, Slit *ret_slit);
void slit_done(Slit *slit);

/* DISTANCE_NONE when the table calls it unreachable (255), says what it may not (below 10) or has no such locality. */
static inline uint32_t slit_distance(const Slit *slit, uint32_t from, uint32_t to)
{
    uint8_t raw = from < slit->n && to < slit->n ? slit->distances[(size_t)from * slit->n + to] : SLIT_UNREACHABLE;

    return raw < SLIT_LOCAL || raw == SLIT_UNREACHABLE ? DISTANCE_NONE : raw;
}

/* For messages: "1 locality", "2 localities". */
static inline const char *slit_localities(uint64_t n)
{
    return n == 1 ? "locality" : "localities";
}
