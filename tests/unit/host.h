/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/hostdesc.h"
#include "lib/core/snapshot.h"
#include "tests/unit/unit.h"

#include <string.h>

/* A snapshot (generation 1, no time) of a host description that must be good. */
static inline Snapshot *host(const char *json)
{
    HostRows *rows = NULL;
    Snapshot *snapshot = NULL;
    char *error = NULL;
    int r = hostdesc_parse(json, strlen(json), &rows, &error);

    if (r != 0)
        fail_msg("host refused: %s", error ? error : "no memory");
    assert_int_equal(snapshot_seal(rows, 1, -1, &snapshot), 0);
    return snapshot;
}
