/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonwriter.h"
#include "snapshot.h"
#include "stats.h"

/*
 * The document numad-xen-status/1 (contract, section 3). *ret_text is owned, JSON on one line. 0 or -ENOMEM.
 */
int status_document(const Snapshot *snapshot, const Stats *stats, char **ret_text);

/* The parts it shares with other documents. */
void status_write_host(JsonWriter *w, const Snapshot *snapshot);
void status_write_node_identity(JsonWriter *w, const Snapshot *snapshot, nodeid_t id); /* node .. cores */
void status_write_distances(JsonWriter *w, const Snapshot *snapshot, nodeid_t id);
void status_write_devices(JsonWriter *w, const Snapshot *snapshot);
