/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "documents.h"

#include "lib/core/status.h"
#include "lib/core/topology.h"

void documents_set(Documents *d, Snapshot *snapshot)
{
    Snapshot *old = d->snapshot;

    d->snapshot = snapshot ? snapshot_ref(snapshot) : NULL;
    snapshot_unref(old);
    free(TAKE_PTR(d->status));
    free(TAKE_PTR(d->topology));
}

int documents_status(Documents *d, const char **ret_text)
{
    int r = 0;

    if (!d->snapshot)
        return -ENODATA;
    if (!d->status)
        r = status_document(d->snapshot, d->stats, &d->status);
    if (r == 0)
        *ret_text = d->status;
    return r;
}

int documents_topology(Documents *d, const char **ret_text)
{
    int r = 0;

    if (!d->snapshot)
        return -ENODATA;
    if (!d->topology)
        r = topology_document(d->snapshot, &d->topology);
    if (r == 0)
        *ret_text = d->topology;
    return r;
}
