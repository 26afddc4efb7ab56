/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/snapshot.h"

/* Nodes that exist: holes in the numbering are none. */
static inline uint32_t count_nodes(const Snapshot *snapshot)
{
    uint32_t n = 0;

    for (size_t i = 0; i < snapshot->n_nodes; i++)
        n += snapshot->nodes[i].exists;
    return n;
}
