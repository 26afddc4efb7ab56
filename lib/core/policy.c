/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy.h"

#include <string.h>

static const char *const texts[_POLICY_MAX] = {
    [POLICY_BALANCE] = "balance",
    [POLICY_PACK] = "pack",
    [POLICY_INTERLEAVE] = "interleave",
    [POLICY_ANY] = "any",
};

const char *policy_to_text(PlacementPolicy policy)
{
    return texts[policy];
}

bool policy_from_text(const char *text, PlacementPolicy *ret_policy)
{
    for (PlacementPolicy policy = 0; policy < _POLICY_MAX; policy++)
        if (strcmp(text, texts[policy]) == 0) {
            *ret_policy = policy;
            return true;
        }
    return false;
}
