/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonwriter.h"
#include "rows.h"

/*
 * Writes rows as a host description, numad-xen-host/1: a capture. Read back by hostdesc_parse() it gives the same
 * snapshot; only backend, simulated and the warnings about reads that failed do not come back.
 *
 * 0, -ENOMEM, or -ENODATA: the rows hold no node, and no host description is without. Free *ret_text with free().
 */
int hostdesc_document(const HostRows *rows, char **ret_text);

/* The same in steps of bounded work, for a loop that a host of thousands of domains must not hold. */
#define HOSTDESC_STEP_BYTES (256u << 10) /* a step ends after about so much text */

typedef struct HostdescWriter {
    const HostRows *rows; /* borrowed */
    JsonWriter json;
    size_t domain;
} HostdescWriter;

void hostdesc_writer_init(HostdescWriter *writer, const HostRows *rows);
void hostdesc_writer_done(HostdescWriter *writer); /* a zeroed one too */
/* 1: call again. 0, or negative: as hostdesc_document(). */
int hostdesc_writer_step(HostdescWriter *writer, char **ret_text);

/*
 * Takes out of the rows what names people's machines: a domain's name becomes "domain-7" (dom0's Domain-0), its UUID
 * one made of its domid, and of the firmware's tables only what is read of them is left. What stays is the shape of the
 * host: the Xen version, amounts of memory, CPUs with their APIC ids, PCI addresses, domids, pools and affinities. 0 or
 * -ENOMEM.
 */
int hostdesc_anonymize(HostRows *rows);
