/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "slit.h"
#include "srat-nodes.h"

/*
 * The firmware's ACPI tables SRAT and SLIT: as bytes, so that a capture can carry them, and parsed. They do not change
 * while a host runs, so one value is shared by all generations. Immutable.
 */
typedef struct Firmware {
    unsigned refs;
    uint8_t *srat_bytes, *slit_bytes; /* owned; NULL: the host has no such table */
    size_t srat_size, slit_size;
    Srat srat; /* what could be read of a broken table; `fault` says that it is broken */
    Slit slit;
    SratNodes nodes; /* what a hypervisor that uses the SRAT makes of it */
} Firmware;

/* Copies and parses the tables; either may be NULL. A broken table is no error. 0 or -ENOMEM. */
int firmware_new(const uint8_t *srat, size_t srat_size, const uint8_t *slit, size_t slit_size, Firmware **ret_firmware);
Firmware *firmware_ref(Firmware *firmware); /* takes NULL */
void firmware_unref(Firmware *firmware);    /* takes NULL */
DEFINE_CLEANUP(Firmware *, firmware_unref)
