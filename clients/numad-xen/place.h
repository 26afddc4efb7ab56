/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "feed.h"
#include "lib/core/placement-request.h"
#include "view.h"

/* What `place` asks for, and what it does with the answer. */

typedef enum PlaceFormat { PLACE_TEXT, PLACE_JSON, PLACE_XL, _PLACE_FORMAT_MAX } PlaceFormat;

typedef struct PlaceOptions {
    PlacementRequest request;
    bool dry_run, explain;
    PlaceFormat format;
} PlaceOptions;

void place_options_done(PlaceOptions *options);
/* Reads the arguments; the bad one is reported by its name. As options_parse(). */
int place_options_read(const Command *command, Globals *globals, int argc, char **argv, PlaceOptions *ret_options);

/* The answer, a placement document: with its candidates, asked of the daemon or worked out from a host description. */
int feed_explain(Feed *feed, const PlacementRequest *request, char **ret_json);
/* Decides and reserves. Each: 0 or an exit status, and feed_error() says why. */
int feed_place(Feed *feed, const PlacementRequest *request, char **ret_token, char **ret_json);
int feed_commit(Feed *feed, const char *token, uint32_t domid);
int feed_release(Feed *feed, const char *token);

#define XL_E_OTHER 1
/*
 * Lines of an xl.cfg by which stock xl does what the placement says. 0; XL_E_OTHER when there are none, and *ret_why
 * (owned) says why and what to do; or -ENOMEM.
 */
int xl_lines(const PlacementView *placement, const TopologyView *topology, const PlacementRequest *request, Text *to,
             char **ret_why);
