/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/* The document numad-xen-topology/1 (contract, section 3). *ret_text is owned, JSON on one line. 0 or -ENOMEM. */
int topology_document(const Snapshot *snapshot, char **ret_text);
