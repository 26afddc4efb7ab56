/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "feed.h"
#include "screen.h"

/* Adds the text of the status. 0 or an exit status, and feed_error() says why. */
int status_add_text(Feed *feed, const Screen *screen, Text *to);

/* Shows the status every second until q, SIGINT or SIGTERM. Returns an exit status. */
int watch_run(Feed *feed);
