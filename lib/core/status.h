/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonwriter.h"
#include "snapshot.h"
#include "stats.h"

/*
 * The document numad-xen-status/1 (contract, section 3). *ret_text is owned, JSON on one line. 0 or -ENOMEM.
 */
int status_document(const Snapshot *snapshot, const Stats *stats, char **ret_text);

/* The same in steps of bounded work, for a loop that a host of thousands of domains must not hold. */
#define STATUS_STEP_BYTES (256u << 10) /* a step ends after about so much text */

typedef struct StatusWriter {
    const Snapshot *snapshot; /* borrowed */
    JsonWriter json;
    nodeid_t node;
    bool domains_begun;
    size_t domain;
} StatusWriter;

void status_writer_init(StatusWriter *writer, const Snapshot *snapshot);
void status_writer_done(StatusWriter *writer); /* a zeroed one too */
/* 1: call again. 0: *ret_text is owned and has *ret_size (NULL: not asked) bytes. -ENOMEM. */
int status_writer_step(StatusWriter *writer, const Stats *stats, char **ret_text, size_t *ret_size);

/* The parts it shares with other documents. */
void status_write_host(JsonWriter *w, const Snapshot *snapshot);
void status_write_node_identity(JsonWriter *w, const Snapshot *snapshot, nodeid_t id); /* node .. cores */
void status_write_distances(JsonWriter *w, const Snapshot *snapshot, nodeid_t id);
void status_write_devices(JsonWriter *w, const Snapshot *snapshot);
