/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/snapshot.h"
#include "lib/core/stats.h"

/*
 * The texts of the current snapshot, each built when it is first asked for and then shared by all readers until the
 * next generation. (The topology document tells free memory and warnings too, so it lives no longer.)
 */
typedef struct Documents {
    Snapshot *snapshot; /* one reference; NULL: none yet */
    const Stats *stats;
    char *status, *topology;
} Documents;

void documents_set(Documents *documents, Snapshot *snapshot); /* takes a reference; NULL is allowed */

/* Valid until the next documents_set(). 0, -ENODATA without a snapshot, or -ENOMEM. */
int documents_status(Documents *documents, const char **ret_text);
int documents_topology(Documents *documents, const char **ret_text);
