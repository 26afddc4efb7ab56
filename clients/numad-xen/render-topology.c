/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdio.h>

/* Two or three columns of short labels, then a text that goes on below itself when it is long. */
static void add_entry(const char *labels, const char *text, unsigned width, Text *to)
{
    unsigned column = display_width(labels);

    text_add(to, labels);
    display_add_wrapped(to, text, column, column, width);
    text_add(to, "\n");
}

static void add_heads(const Screen *screen, const char *heads, Text *to)
{
    text_add(to, "\n");
    screen_add(screen, to, STYLE_STRONG, heads);
    text_add(to, "\n");
}

static void add_nodes(const TopologyView *view, const Screen *screen, unsigned width, Text *to)
{
    static const Column columns[] = {
        {.head = "NODE"},
        {.head = "KIND"},
        {.head = "CORES", .right = true},
        {.head = "PXM", .right = true},
        {.head = "CPUS", .min = 8, .separator = ','},
    };
    _cleanup_(table_free_p) Table *table = table_new(columns, ARRAY_SIZE(columns), screen->ascii_names);

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
        render_add_set(table, node->cpus_text);
    }
    text_add(to, "\n");
    table_print(table, screen, width, to);
}

static void add_distances(const NodeViews *nodes, const Screen *screen, unsigned width, Text *to)
{
    DistanceForm form = render_distance_form(nodes);
    char label[32];

    if (!nodes->n)
        return;
    add_heads(screen, form == DISTANCE_ROW ? "NODE  DISTANCE TO EACH NODE" : "NODE  DISTANCE:NODES", to);
    for (size_t i = 0; i < nodes->n; i++) {
        _cleanup_free_ char *text = render_distances(nodes, &nodes->items[i], form);

        snprintf(label, sizeof(label), "%-4u  ", nodes->items[i].id);
        if (text)
            add_entry(label, text, width, to);
        else
            to->failed = true;
    }
}

static bool same_core(const CpuView *a, const CpuView *b)
{
    return a->core != VALUE_UNKNOWN && a->node == b->node && a->socket == b->socket && a->core == b->core;
}

/* Adds "0:0-1", the core and its CPUs. */
static void add_core(const CpuView *cpu, Text *to)
{
    _cleanup_free_ char *siblings = NULL;

    if (cpu->siblings.data)
        siblings = display_escape(cpu->siblings.data, cpu->siblings.size, 0);
    text_printf(to, "%s%s:%s", to->size ? " " : "", display_number(cpu->core).text, siblings ? siblings : "-");
}

/* The cores of one socket on one node, from cpus[first] on; returns where the next begin. */
static size_t add_socket(const TopologyView *view, size_t first, unsigned width, Text *to)
{
    const CpuView *cpus = view->cpus, *last = NULL;
    _cleanup_text_ Text cores = {0};
    _cleanup_free_ char *string = NULL;
    char label[64];
    size_t i;

    for (i = first; i < view->n_cpus; i++) {
        if (cpus[i].node != cpus[first].node || cpus[i].socket != cpus[first].socket)
            break;
        if (!cpus[i].online || (last && same_core(last, &cpus[i])))
            continue;
        add_core(&cpus[i], &cores);
        last = &cpus[i];
    }
    if (!last)
        return i;
    snprintf(label, sizeof(label), "%-4s  %-6s  ", display_number(cpus[first].node).text,
             display_number(cpus[first].socket).text);
    if (text_take(&cores, &string, NULL) < 0)
        to->failed = true;
    else
        add_entry(label, string, width, to);
    return i;
}

static void add_cores(const TopologyView *view, const Screen *screen, unsigned width, Text *to)
{
    _cleanup_bitmap_ Bitmap offline = {0};
    _cleanup_free_ char *text = NULL;

    if (!view->n_cpus)
        return;
    add_heads(screen, "NODE  SOCKET  CORE:CPUS", to);
    for (size_t i = 0; i < view->n_cpus;)
        i = add_socket(view, i, width, to);
    for (size_t i = 0; i < view->n_cpus; i++)
        if (!view->cpus[i].online && bitmap_set(&offline, (unsigned)view->cpus[i].cpu) < 0)
            to->failed = true;
    text = bitmap_to_text(&offline);
    if (!text)
        to->failed = true;
    else if (*text)
        add_entry("offline CPUs: ", text, width, to);
}

static char *nodes_of(const NodeViews *nodes, const Bitmap *cpus)
{
    _cleanup_bitmap_ Bitmap set = {0};

    for (size_t i = 0; i < nodes->n; i++)
        if (bitmap_weight_and(&nodes->items[i].cpus, cpus) && bitmap_set(&set, nodes->items[i].id) < 0)
            return NULL;
    return bitmap_to_text(&set);
}

static void add_pools(const TopologyView *view, const Screen *screen, unsigned width, Text *to)
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
        _cleanup_free_ char *nodes = nodes_of(&view->nodes, &view->pools[i].cpus);

        table_add(table, STYLE_STRONG, display_number(view->pools[i].pool).text);
        render_add_set(table, (Bytes){nodes, nodes ? strlen(nodes) : 0});
        render_add_set(table, view->pools[i].cpus_text);
    }
    text_add(to, "\n");
    table_print(table, screen, width, to);
}

/* Devices of one node on one line; node VALUE_UNKNOWN: those of which it is not known. */
static void add_devices_of(const TopologyView *view, uint64_t node, unsigned width, Text *to)
{
    _cleanup_text_ Text list = {0};
    _cleanup_free_ char *string = NULL;
    char label[32];

    for (size_t i = 0; i < value_count(view->devices); i++) {
        struct json_object *row = value_at(view->devices, i);
        Bytes pci = value_bytes(row, "pci");
        _cleanup_free_ char *shown = NULL;

        if (value_u64(row, "node") != node || !pci.data)
            continue;
        shown = display_escape(pci.data, pci.size, DISPLAY_ASCII);
        text_printf(&list, "%s%s", list.size ? " " : "", shown ? shown : "-");
    }
    if (!list.size)
        return;
    snprintf(label, sizeof(label), "%-4s  ", display_number(node).text);
    if (text_take(&list, &string, NULL) < 0)
        to->failed = true;
    else
        add_entry(label, string, width, to);
}

static void add_devices(const TopologyView *view, const Screen *screen, unsigned width, Text *to)
{
    if (!value_count(view->devices))
        return;
    add_heads(screen, "NODE  PCI DEVICES", to);
    for (size_t i = 0; i < view->nodes.n; i++)
        add_devices_of(view, view->nodes.items[i].id, width, to);
    add_devices_of(view, VALUE_UNKNOWN, width, to);
}

static void add_dom0(const TopologyView *view, unsigned width, Text *to)
{
    char text[128];

    if (view->dom0_nodes == VALUE_UNKNOWN && view->dom0_cpus == VALUE_UNKNOWN)
        return;
    snprintf(text, sizeof(text), "dom0 sees %s node%s and %s CPU%s: its own view, not the host's.",
             display_number(view->dom0_nodes).text, view->dom0_nodes == 1 ? "" : "s",
             display_number(view->dom0_cpus).text, view->dom0_cpus == 1 ? "" : "s");
    text_add(to, "\n");
    add_entry("", text, width, to);
}

void render_topology(const TopologyView *view, const Screen *screen, Text *to)
{
    unsigned width = screen_width(screen, view->nodes.n);

    render_heading(&view->host, view->nodes.n, screen, to);
    add_nodes(view, screen, width, to);
    add_distances(&view->nodes, screen, width, to);
    add_cores(view, screen, width, to);
    if (view->n_pools)
        add_pools(view, screen, width, to);
    add_devices(view, screen, width, to);
    add_dom0(view, width, to);
    render_warnings(&view->host, screen, width, to);
}
