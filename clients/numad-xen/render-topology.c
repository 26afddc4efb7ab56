/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdio.h>

#define NODES_COLUMNS 16u
#define TABLE_COLUMNS 30u /* of the table of nodes, but for its CPUS */

void render_entry(const char *labels, const char *text, unsigned width, Text *to)
{
    unsigned column = display_width(labels);

    text_add(to, labels);
    display_add_wrapped(to, text, column, column, width);
    text_add(to, "\n");
}

void render_heads(const Screen *screen, const char *heads, Text *to)
{
    text_add(to, "\n");
    screen_add(screen, to, STYLE_STRONG, heads);
    text_add(to, "\n");
}

static void add_nodes(const TopologyView *view, bool *folded, const Screen *screen, unsigned width, Text *to)
{
    static const Column columns[] = {
        {.head = "NODE"},
        {.head = "KIND"},
        {.head = "CORES", .right = true},
        {.head = "PXM", .right = true},
        {.head = "CPUS", .min = 8, .separator = ','},
    };
    _cleanup_(table_free_p) Table *table = table_new(columns, ARRAY_SIZE(columns), screen->ascii_names);
    unsigned room = width > 2 * TABLE_COLUMNS ? width - TABLE_COLUMNS : TABLE_COLUMNS;

    if (!table) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < view->nodes.n; i++) {
        const NodeView *node = &view->nodes.items[i];

        table_printf(table, STYLE_STRONG, "%u", node->id);
        table_add_bytes(table, STYLE_PLAIN, node->kind.data, node->kind.size);
        table_add(table, STYLE_PLAIN, display_number(node->cores).text);
        table_add(table, STYLE_PLAIN, display_number(node->pxm).text);
        render_add_set(table, &node->cpus, node->cpus_text.data, room, folded);
    }
    text_add(to, "\n");
    table_print(table, screen, width, to);
}

static int nodes_of(const NodeViews *nodes, const Bitmap *cpus, Bitmap *ret_nodes)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < nodes->n; i++)
        if (bitmap_weight_and(&nodes->items[i].cpus, cpus))
            r = bitmap_set(ret_nodes, nodes->items[i].id);
    return r;
}

static void add_pools(const TopologyView *view, bool *folded, const Screen *screen, unsigned width, Text *to)
{
    static const Column columns[] = {
        {.head = "POOL"},
        {.head = "NODES", .min = 6, .separator = ','},
        {.head = "CPUS", .min = 8, .separator = ','},
    };
    _cleanup_(table_free_p) Table *table = table_new(columns, ARRAY_SIZE(columns), screen->ascii_names);

    if (!table) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < view->n_pools; i++) {
        const PoolView *pool = &view->pools[i];
        _cleanup_bitmap_ Bitmap nodes = {0};
        int r = nodes_of(&view->nodes, &pool->cpus, &nodes);

        table_add(table, STYLE_STRONG, display_number(pool->pool).text);
        render_add_set(table, &nodes, r == 0, NODES_COLUMNS, folded);
        render_add_set(table, &pool->cpus, pool->cpus_text.data, width / 2, folded);
    }
    text_add(to, "\n");
    table_print(table, screen, width, to);
}

static void add_dom0(const TopologyView *view, unsigned width, Text *to)
{
    char text[128];

    if ((view->dom0_nodes == VALUE_UNKNOWN && view->dom0_cpus == VALUE_UNKNOWN) ||
        host_view_warns(&view->host, "dom0-view-differs")) /* which says more */
        return;
    snprintf(text, sizeof(text), "dom0 sees %s node%s and %s CPU%s: its own view, not the host's.",
             display_number(view->dom0_nodes).text, plural(view->dom0_nodes), display_number(view->dom0_cpus).text,
             plural(view->dom0_cpus));
    text_add(to, "\n");
    render_entry("", text, width, to);
}

void render_topology(const TopologyView *view, const Screen *screen, Text *to)
{
    unsigned width = screen_width(screen, view->nodes.n);
    bool folded = false;

    render_heading(&view->host, view->nodes.n, screen, to);
    add_nodes(view, &folded, screen, width, to);
    render_distance_matrix(&view->nodes, screen, width, to);
    render_cores(view, &folded, screen, width, to);
    if (view->n_pools)
        add_pools(view, &folded, screen, width, to);
    if (folded)
        render_step_note(screen, width, to);
    render_devices(view, screen, width, to);
    add_dom0(view, width, to);
    render_warnings(&view->host, false, screen, width, to);
}
