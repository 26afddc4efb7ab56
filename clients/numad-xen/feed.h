/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "command.h"
#include "lib/client/numadxen.h"
#include "lib/core/snapshot.h"

/*
 * Where documents come from: the daemon, or a host description that this process reads itself. A zeroed feed but for
 * its globals is ready; after a failure the next read connects, or reads the file, anew.
 */
typedef struct Feed {
    const Globals *globals;
    numadx_client *client; /* NULL: not connected */
    char *error;           /* of the last failure; NULL: memory was short */
    int cause;             /* its negative errno, where the daemon was asked */
} Feed;

void feed_done(Feed *feed);
#define _cleanup_feed_ _cleanup_(feed_done)

/* The documents of one moment; either out-param may be NULL. 0 or an exit status, and feed_error() says why. */
int feed_read(Feed *feed, char **ret_status, char **ret_topology);
/* The host's topology as hwloc XML. 0 or an exit status. */
int feed_read_hwloc(Feed *feed, char **ret_xml);
/* The host as a host description. 0 or an exit status. */
int feed_read_capture(Feed *feed, char **ret_text);
/* Connects to the bus, if it is not yet. Not for a host description. 0 or an exit status. */
int feed_connect(Feed *feed);
/* The daemon's version. Not for a host description. 0 or an exit status. */
int feed_read_version(Feed *feed, char **ret_version);
const char *feed_error(const Feed *feed);
/* Reports it; the command is named where it is about what the command asked, and not about the way to the daemon. */
void feed_report(const Feed *feed, int status, const char *command);

/* Parts that feeds share. A host description's snapshot: 0 or an exit status. */
int feed_seal(Feed *feed, Snapshot **ret_snapshot);
/* Keeps an error (taken over; NULL: memory is short). Returns STATUS_FAILED. */
int feed_fail(Feed *feed, char *text);
/* Keeps what the client says of its failure r, and drops the connection. Returns an exit status. */
int feed_fail_client(Feed *feed, int r);
