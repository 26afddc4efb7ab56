/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

/*
 * ACPI's System Resource Affinity Table, revisions 1 to 3 (ACPI 6.5, section 5.2.16): which processors, memory ranges
 * and initiators belong to which proximity domain (PXM). Entries that are not enabled and types that are not used are
 * skipped by their length. A revision nobody has heard of is read as the nearest that is known.
 */
typedef enum SratCpuKind { SRAT_CPU_APIC, SRAT_CPU_X2APIC, SRAT_CPU_GICC } SratCpuKind;

typedef struct SratCpu {
    SratCpuKind kind;
    uint32_t pxm;
    uint32_t id; /* APIC id, x2APIC id, ACPI processor UID */
} SratCpu;

typedef struct SratRange {
    uint32_t pxm;
    uint64_t base, length; /* bytes; base + length does not wrap. 0: no memory, but Xen counts its PXM as a node */
    bool hotplug;          /* room for memory that may be added, not memory that is there */
    bool nonvolatile;      /* not RAM */
} SratRange;

typedef struct Srat {
    unsigned revision;
    SratCpu *cpus; /* owned, in the table's order */
    size_t n_cpus;
    SratRange *ranges; /* owned, in the table's order */
    size_t n_ranges;
    uint32_t *initiators; /* owned; PXMs of generic initiators, in the table's order */
    size_t n_initiators;
    char *fault; /* owned; what is wrong with the table, for a person; NULL: nothing */
    bool cut;    /* a fault left entries unread: there may be more of everything */
} Srat;

/*
 * Reads a table of any bytes. Reading ends at the first entry that cannot be, and what came before is kept; a wrong
 * checksum alone is a fault that keeps everything. 0 or -ENOMEM.
 */
int srat_parse(const uint8_t *bytes, size_t size, Srat *ret_srat);
void srat_done(Srat *srat);
