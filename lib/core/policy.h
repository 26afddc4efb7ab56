/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

/* What a placement is to be good at. */
typedef enum PlacementPolicy {
    POLICY_BALANCE,    /* vCPUs and free memory of the nodes stay even */
    POLICY_PACK,       /* whole nodes stay free for large domains: best fit */
    POLICY_INTERLEAVE, /* an even split over a set of nodes */
    POLICY_ANY,        /* no preference: as Xen does it for a domain without affinity */
    _POLICY_MAX
} PlacementPolicy;

const char *policy_to_text(PlacementPolicy policy); /* "balance" */
bool policy_from_text(const char *text, PlacementPolicy *ret_policy);
