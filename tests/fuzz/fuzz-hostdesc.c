/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/core/hostdesc.h"
#include "lib/core/status.h"
#include "lib/core/topology.h"

/* Any bytes: refused with a reason, or a host whose snapshot and documents can be made. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const Stats stats = {0};
    _cleanup_free_ char *error = NULL, *status = NULL, *topology = NULL;
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    HostRows *rows = NULL;
    int r = hostdesc_parse((const char *)data, size, &rows, &error);

    if (r == HOSTDESC_E_REFUSED) {
        if (!error || !*error)
            abort(); /* a refusal says why */
        return 0;
    }
    if (r < 0)
        return 0;
    if (snapshot_seal(rows, 1, -1, &snapshot) == 0) {
        (void)status_document(snapshot, &stats, &status);
        (void)topology_document(snapshot, &topology);
    }
    return 0;
}
