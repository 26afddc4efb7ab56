/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "srat.h"

#include "acpitable.h"

#define SRAT_CONTENT 48
#define ENTRY_HEADER 2 /* type, length */

#define FLAG_ENABLED 1u /* of all types */
#define FLAG_HOTPLUG 2u /* of memory */
#define FLAG_NONVOLATILE 4u

/* Room for one more. Arrays grow when their size is a power of two, so that none needs to know its capacity. */
static bool grow(void *array_pointer, size_t n, size_t size)
{
    void **array = array_pointer, *grown;

    if (n & (n - 1))
        return true;
    grown = reallocarray(*array, n ? 2 * n : 1, size);
    if (grown)
        *array = grown;
    return grown != NULL;
}

static int add_cpu(Srat *srat, SratCpuKind kind, uint32_t pxm, uint32_t id, uint32_t flags)
{
    if (!(flags & FLAG_ENABLED))
        return 0;
    if (!grow(&srat->cpus, srat->n_cpus, sizeof(*srat->cpus)))
        return -ENOMEM;
    srat->cpus[srat->n_cpus++] = (SratCpu){.kind = kind, .pxm = pxm, .id = id};
    return 0;
}

/* In revision 1 a PXM has 8 bits, and what became its other ones is reserved: any value may be there. */
static uint32_t pxm_of_revision(const Srat *srat, uint32_t pxm)
{
    return srat->revision < 2 ? pxm & 0xff : pxm;
}

static int read_apic(Srat *srat, const uint8_t *entry, Text *fault)
{
    uint32_t pxm = entry[2] | (uint32_t)entry[9] << 8 | (uint32_t)entry[10] << 16 | (uint32_t)entry[11] << 24;

    return add_cpu(srat, SRAT_CPU_APIC, pxm_of_revision(srat, pxm), entry[3], acpi_u32(entry + 4));
}

static int read_x2apic(Srat *srat, const uint8_t *entry, Text *fault)
{
    return add_cpu(srat, SRAT_CPU_X2APIC, acpi_u32(entry + 4), acpi_u32(entry + 8), acpi_u32(entry + 12));
}

static int read_gicc(Srat *srat, const uint8_t *entry, Text *fault)
{
    return add_cpu(srat, SRAT_CPU_GICC, acpi_u32(entry + 2), acpi_u32(entry + 6), acpi_u32(entry + 10));
}

static int read_memory(Srat *srat, const uint8_t *entry, Text *fault)
{
    uint32_t flags = acpi_u32(entry + 28);
    SratRange range = {
        .pxm = pxm_of_revision(srat, acpi_u32(entry + 2)),
        .base = acpi_u64(entry + 8),
        .length = acpi_u64(entry + 16),
        .hotplug = flags & FLAG_HOTPLUG,
        .nonvolatile = flags & FLAG_NONVOLATILE,
    };

    if (!(flags & FLAG_ENABLED))
        return 0;
    if (range.length > UINT64_MAX - range.base) {
        acpi_fault(fault, "memory of PXM %" PRIu32 " at 0x%" PRIx64 " is 0x%" PRIx64 " byte%s long, beyond any address",
                   range.pxm, range.base, range.length, range.length == 1 ? "" : "s");
        return 0;
    }
    if (!grow(&srat->ranges, srat->n_ranges, sizeof(*srat->ranges)))
        return -ENOMEM;
    srat->ranges[srat->n_ranges++] = range;
    return 0;
}

/* Its handle, of a PCI device or an ACPI one, is of no use here. */
static int read_initiator(Srat *srat, const uint8_t *entry, Text *fault)
{
    if (!(acpi_u32(entry + 24) & FLAG_ENABLED))
        return 0;
    if (!grow(&srat->initiators, srat->n_initiators, sizeof(*srat->initiators)))
        return -ENOMEM;
    srat->initiators[srat->n_initiators++] = acpi_u32(entry + 4);
    return 0;
}

/* Index = type. The others (ITS, generic port, RINTC, and what is to come) are nothing Xen makes a node of. */
static const struct {
    size_t size;
    int (*read)(Srat *srat, const uint8_t *entry, Text *fault);
} types[] = {
    {16, read_apic}, {40, read_memory}, {24, read_x2apic}, {18, read_gicc}, {0, NULL}, {32, read_initiator},
};

/* `left` bytes are there. Returns the entry's length, 0 after a fault; -ENOMEM. */
static int read_entry(Srat *srat, const uint8_t *entry, size_t left, size_t number, Text *fault)
{
    size_t type = entry[0], length, faults = fault->size;
    int r;

    if (left < ENTRY_HEADER || entry[1] > left) {
        acpi_fault(fault, "entry %zu goes beyond the table's end", number);
        return 0;
    }
    length = entry[1];
    if (length < ENTRY_HEADER || (type < ARRAY_SIZE(types) && length < types[type].size)) {
        acpi_fault(fault, "entry %zu of type %zu is %zu byte%s long, which is too short", number, type, length,
                   plural(length));
        return 0;
    }
    if (type >= ARRAY_SIZE(types) || !types[type].read)
        return (int)length;
    r = types[type].read(srat, entry, fault);
    if (r < 0)
        return r;
    return fault->size == faults ? (int)length : 0;
}

static int read_entries(Srat *srat, const uint8_t *bytes, size_t end, Text *fault)
{
    int length;

    for (size_t at = SRAT_CONTENT, number = 0; at < end; at += (size_t)length, number++) {
        length = read_entry(srat, bytes + at, end - at, number, fault);
        if (length <= 0) {
            srat->cut = true;
            return length;
        }
    }
    return 0;
}

int srat_parse(const uint8_t *bytes, size_t size, Srat *ret_srat)
{
    _cleanup_text_ Text fault = {0};
    size_t end = acpi_check_header(bytes, size, "SRAT", SRAT_CONTENT, &fault);
    int r = 0;

    *ret_srat = (Srat){.cut = end == 0};
    if (end) {
        ret_srat->revision = bytes[ACPI_REVISION];
        ret_srat->cut = acpi_u32(bytes + ACPI_LENGTH) > size;
        r = read_entries(ret_srat, bytes, end, &fault);
    }
    if (r == 0)
        r = acpi_take_fault(&fault, &ret_srat->fault);
    if (r < 0)
        srat_done(ret_srat);
    return r;
}

void srat_done(Srat *srat)
{
    free(srat->cpus);
    free(srat->ranges);
    free(srat->initiators);
    free(srat->fault);
    *srat = (Srat){0};
}
