/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "screen.h"
#include "table.h"
#include "view.h"

/* Text from views. All add to `to`, which remembers when memory is short. */

/* now: CLOCK_REALTIME in seconds, to say so when the numbers are old; -1: don't. */
void render_status(const StatusView *view, const Screen *screen, int64_t now, Text *to);
/* Domains down, nodes across, in MiB. */
void render_numastat(const StatusView *view, const DomainView *domains, size_t n, const Screen *screen, Text *to);
void render_topology(const TopologyView *view, const Screen *screen, Text *to);
void render_placement(const PlacementView *view, const Screen *screen, Text *to);
/* Of a status; whole: with all of a token, and what Xen needs beside. */
void render_reservations(struct json_object *rows, bool whole, const Screen *screen, unsigned width, Text *to);

/* Parts they share. */
void render_heading(const HostView *host, size_t n_nodes, const Screen *screen, Text *to);
/* Notes are what is worth to know and nothing to see to; they come last, and brief by their first statement. */
void render_warnings(const HostView *host, bool brief, const Screen *screen, unsigned width, Text *to);
/* A line that explains, in a weak style. */
void render_note(const Screen *screen, unsigned width, Text *to, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

typedef enum DistanceForm {
    DISTANCE_ROW,    /* "10 16 22 22", in the order of the nodes */
    DISTANCE_GROUPS, /* "10:0 16:1 22:2-3" */
    DISTANCE_COUNTS, /* "10x1 16x1 22x62" */
} DistanceForm;
/* A row where it can be read: on a small host without holes; else groups. */
DistanceForm render_distance_form(const NodeViews *nodes);
/* Owned; NULL when memory is short. */
char *render_distances(const NodeViews *nodes, const NodeView *node, DistanceForm form);
/* The whole matrix, folded where there is much of it. */
void render_distance_matrix(const NodeViews *nodes, const Screen *screen, unsigned width, Text *to);
void render_cores(const TopologyView *view, bool *folded, const Screen *screen, unsigned width, Text *to);
void render_devices(const TopologyView *view, const Screen *screen, unsigned width, Text *to);
/* Columns of short labels, then a text that goes on below itself when it is long. */
void render_entry(const char *labels, const char *text, unsigned width, Text *to);
void render_heads(const Screen *screen, const char *heads, Text *to);

/* The nodes that need a column: all (if so asked), and any that a domain is said to have memory on. 0 or -ENOMEM. */
int render_memory_nodes(const NodeViews *nodes, bool all, const DomainView *domains, size_t n, Bitmap *ret_nodes);
/*
 * A set of CPUs or nodes in about that many columns: "0-3,8", or where that is longer with steps as taskset(1) writes
 * them, "0-184:8". *folded is set then. "none" when empty, "-" when not known.
 */
void render_add_set(Table *table, const Bitmap *set, bool known, unsigned columns, bool *folded);
char *render_set(const Bitmap *set, unsigned columns, bool *folded); /* owned; NULL when memory is short */
void render_step_note(const Screen *screen, unsigned width, Text *to);
/* A set of nodes; "any" when it holds all that have CPUs, "-" when not known. */
void render_add_home(Table *table, const NodeViews *nodes, const DomainView *domain);
