/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>

/*
 * What dom0 shows of the host: the firmware's tables, and the flat view that its own kernel has of the hardware. They
 * do not change while the host runs, so they are read once, and again when the configuration is; what failed is said
 * in each generation that misses it, but counted once.
 */

#define READ_COST 32

static int warn_table(XenSource *s, AcpiTable table)
{
    int error = s->firmware_errors[table];

    return error < 0 ? xen_warn_unreadable(s, acpi_table_paths[table], error) : 0;
}

static int warn_all(XenSource *s)
{
    int r = warn_table(s, ACPI_SRAT);

    if (r == 0)
        r = warn_table(s, ACPI_SLIT);
    if (r == 0 && s->view_error < 0)
        r = xen_warn_unreadable(s, "hwloc's view of dom0", s->view_error);
    return r;
}

/* A table that cannot be read again stays what it was, with the other one: they are of one boot. */
static void read_tables(XenSource *s)
{
    _cleanup_(firmware_unref_p) Firmware *firmware = NULL;
    bool failed = false;
    int r;

    if (!s->tables_due)
        return;
    xen_spend(s, READ_COST);
    r = s->calls->ops->firmware(s->calls, &firmware, s->firmware_errors);
    s->tables_due = r < 0; /* memory was short; all else is not going to change */
    for (AcpiTable table = 0; r < 0 && table < _ACPI_TABLE_MAX; table++)
        s->firmware_errors[table] = r;
    for (AcpiTable table = 0; table < _ACPI_TABLE_MAX; table++)
        if (s->firmware_errors[table] < 0) {
            s->source.errors[ERROR_SRAT]++;
            failed = true;
        }
    if (failed && s->firmware)
        return;
    firmware_unref(s->firmware);
    s->firmware = TAKE_PTR(firmware);
}

static void read_view(XenSource *s)
{
    uint32_t nodes = 0, cpus = 0;

    if (!s->view_due)
        return;
    s->view_due = false;
    s->view_error = s->view(&nodes, &cpus);
    if (s->view_error < 0) {
        s->source.errors[ERROR_HWLOC]++;
        return;
    }
    s->has_dom0_view = true;
    s->dom0_nodes = nodes;
    s->dom0_cpus = cpus;
}

int xen_read_firmware(XenSource *s)
{
    read_tables(s);
    read_view(s);
    s->rows->firmware = firmware_ref(s->firmware);
    s->rows->has_dom0_view = s->has_dom0_view;
    s->rows->dom0_nodes = s->dom0_nodes;
    s->rows->dom0_cpus = s->dom0_cpus;
    return warn_all(s);
}
