/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement.h"

/* What a placement document tells beside the placement itself. */
typedef struct PlacementDocument {
    const char *token;   /* NULL: nothing is reserved */
    uint64_t expires_ms; /* VALUE_UNKNOWN: nothing expires */
} PlacementDocument;

/* The document numad-xen-placement/1 (contract, section 3), JSON on one line; *ret_text is owned. 0 or -ENOMEM. */
int placement_document(const Placement *placement, const PlacementDocument *more, char **ret_text);
