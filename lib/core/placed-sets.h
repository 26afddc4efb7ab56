/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement.h"

/*
 * On which CPUs each vCPU was placed, kept for as long as a reservation is open. Written anew with each change of the
 * ledger and looked at once, if ever: so sets are texts, and vCPUs are runs of such as share their sets. A set of a
 * few CPUs with high numbers has a short text and a large bitmap. Immutable, and shared by a reservation's copies.
 */
typedef struct PlacedRun {
    uint32_t n;          /* vCPUs, following those of the run before */
    uint32_t hard, soft; /* indexes into PlacedSets.texts */
} PlacedRun;

typedef struct PlacedSets {
    unsigned refs;
    size_t n_texts;
    char **texts; /* owned: "0-3,8"; in the order in which runs first name them, hard before soft */
    size_t n_runs;
    PlacedRun runs[]; /* of neighbours, hard or soft sets differ */
} PlacedSets;

/* Zeroed, with room for so many. One reference; NULL when memory is short. */
PlacedSets *placed_sets_blank(size_t n_texts, size_t n_runs);
/* Those of the placement's vCPUs. One reference; NULL when memory is short. */
PlacedSets *placed_sets_new(const Placement *placement);
PlacedSets *placed_sets_ref(PlacedSets *sets);
PlacedSets *placed_sets_unref(PlacedSets *sets); /* takes NULL, returns NULL */
DEFINE_CLEANUP(PlacedSets *, placed_sets_unref)
