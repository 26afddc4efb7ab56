/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/snapshot.h"
#include "lib/core/stats.h"
#include "lib/core/status.h"

/*
 * The texts of the current snapshot, each built when it is first asked for and then shared by all readers until the
 * next generation. (The topology document tells free memory and warnings too, so it lives no longer.)
 */
typedef enum DocumentKind {
    DOCUMENT_STATUS,
    DOCUMENT_TOPOLOGY,
    DOCUMENT_TOPOLOGY_XML,
    _DOCUMENT_KIND_MAX
} DocumentKind;

typedef struct Document {
    char *text; /* owned; NULL: not built */
    size_t size;
} Document;

typedef struct Documents {
    Snapshot *snapshot; /* one reference; NULL: none yet */
    const Stats *stats;
    Document items[_DOCUMENT_KIND_MAX];
    StatusWriter writer; /* of the status, which takes several steps to build; zeroed: it is not being built */
} Documents;

bool documents_are_writing(const Documents *documents);       /* a text is half built */
void documents_set(Documents *documents, Snapshot *snapshot); /* takes a reference; NULL is allowed */

/*
 * Valid until the next documents_set(). 0; -EAGAIN: this call has gone on building it, call again in another dispatch
 * of the loop; DOCUMENT_E_EMPTY: the host has nothing that this kind could tell (hwlocxml.h); -ENODATA without a
 * snapshot; or -ENOMEM.
 */
#define DOCUMENT_E_EMPTY 1
int documents_get(Documents *documents, DocumentKind kind, const Document **ret_document);
