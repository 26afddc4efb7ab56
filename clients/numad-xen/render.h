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

/* Parts they share. */
void render_heading(const HostView *host, size_t n_nodes, const Screen *screen, Text *to);
void render_warnings(const HostView *host, const Screen *screen, unsigned width, Text *to);
typedef enum DistanceForm {
    DISTANCE_ROW,    /* "10 16 22 22", in the order of the nodes */
    DISTANCE_GROUPS, /* "10:0 16:1 22:2-3" */
    DISTANCE_COUNTS, /* "10x1 16x1 22x62" */
} DistanceForm;
/* A row where it can be read: on a small host without holes; else groups. */
DistanceForm render_distance_form(const NodeViews *nodes);
/* Owned; NULL when memory is short. */
char *render_distances(const NodeViews *nodes, const NodeView *node, DistanceForm form);
/* The nodes that need a column: all (if so asked), and any that a domain is said to have memory on. 0 or -ENOMEM. */
int render_memory_nodes(const NodeViews *nodes, bool all, const DomainView *domains, size_t n, Bitmap *ret_nodes);
/* A set as the document has it; "none" when empty. */
void render_add_set(Table *table, Bytes set);
/* A set of nodes; "any" when it holds all that have CPUs, "-" when not known. */
void render_add_home(Table *table, const NodeViews *nodes, const DomainView *domain);
