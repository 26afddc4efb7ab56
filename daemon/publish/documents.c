/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "documents.h"

#include "lib/core/hwlocxml.h"
#include "lib/core/topology.h"

#include <string.h>

bool documents_are_writing(const Documents *d)
{
    return d->writer.snapshot != NULL;
}

void documents_set(Documents *d, Snapshot *snapshot)
{
    Snapshot *old = d->snapshot;

    status_writer_done(&d->writer);
    d->snapshot = snapshot ? snapshot_ref(snapshot) : NULL;
    snapshot_unref(old);
    for (DocumentKind kind = 0; kind < _DOCUMENT_KIND_MAX; kind++) {
        free(d->items[kind].text);
        d->items[kind] = (Document){0};
    }
}

static int write_status(Documents *d, Document *document)
{
    int r;

    if (!documents_are_writing(d))
        status_writer_init(&d->writer, d->snapshot);
    r = status_writer_step(&d->writer, d->stats, &document->text, &document->size);
    if (r > 0)
        return -EAGAIN;
    status_writer_done(&d->writer);
    return r;
}

static int write_whole(const Documents *d, DocumentKind kind, Document *document)
{
    int r = kind == DOCUMENT_TOPOLOGY ? topology_document(d->snapshot, &document->text)
                                      : hwloc_xml_document(d->snapshot, &document->text);

    if (r == 0)
        document->size = strlen(document->text);
    return r > 0 ? DOCUMENT_E_EMPTY : r;
}

int documents_get(Documents *d, DocumentKind kind, const Document **ret_document)
{
    Document *document = &d->items[kind];
    int r = 0;

    if (!d->snapshot)
        return -ENODATA;
    if (!document->text) {
        r = kind == DOCUMENT_STATUS ? write_status(d, document) : write_whole(d, kind, document);
        if (r == 0 && document->size > STATUS_STEP_BYTES) /* to send so much is enough for a dispatch of its own */
            return -EAGAIN;
    }
    if (r == 0)
        *ret_document = document;
    return r;
}
