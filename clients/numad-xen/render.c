/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdarg.h>
#include <stdio.h>

#define ROW_NODES_MAX 8u /* up to here distances are a row of numbers */

static char *shown(Bytes bytes, const Screen *screen, const char *unknown)
{
    return bytes.data ? display_escape(bytes.data, bytes.size, screen->ascii_names ? DISPLAY_ASCII : 0)
                      : strdup(unknown);
}

/* One more statement of the heading; on a line of its own when it would not fit. */
static void add_part(Text *to, unsigned width, unsigned *column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void add_part(Text *to, unsigned width, unsigned *column, const char *format, ...)
{
    char part[64];
    va_list ap;

    va_start(ap, format);
    vsnprintf(part, sizeof(part), format, ap);
    va_end(ap);
    if (*column + 2 + strlen(part) > width) {
        text_add(to, "\n");
        *column = 0;
    }
    text_add(to, "  ");
    text_add(to, part);
    *column += 2 + (unsigned)strlen(part);
}

static void add_memory(const HostView *host, unsigned width, unsigned *column, Text *to)
{
    add_part(to, width, column, "memory %s", display_size(host->total).text);
    if (host->free != VALUE_UNKNOWN && host->total != VALUE_UNKNOWN && host->total)
        add_part(to, width, column, "free %s (%s)", display_size(host->free).text,
                 display_percent((double)host->free / (double)host->total).text);
    else
        add_part(to, width, column, "free %s", display_size(host->free).text);
    if (host->claimed != VALUE_UNKNOWN && host->claimed)
        add_part(to, width, column, "claimed %s", display_size(host->claimed).text);
}

/* "SIMULATED  Xen 4.17.5 (sim)"; returns the columns taken. */
static unsigned add_xen(const HostView *host, const Screen *screen, Text *to)
{
    _cleanup_free_ char *version = shown(host->xen_version, screen, "-");
    _cleanup_free_ char *backend = shown(host->backend, screen, "-");
    unsigned column = 7; /* "Xen  ()" */

    if (!version || !backend) {
        to->failed = true;
        return 0;
    }
    if (host->simulated) {
        screen_add(screen, to, STYLE_ALARM, "SIMULATED");
        text_add(to, "  ");
        column += 11;
    }
    screen_begin(screen, to, STYLE_STRONG);
    text_add(to, "Xen ");
    column += display_add_cut(to, version, 12, screen_mark(screen));
    screen_end(screen, to, STYLE_STRONG);
    text_add(to, " (");
    column += display_add_cut(to, backend, 8, screen_mark(screen));
    text_add(to, ")");
    return column;
}

void render_heading(const HostView *host, size_t n_nodes, const Screen *screen, Text *to)
{
    unsigned width = screen_width(screen, n_nodes), column = add_xen(host, screen, to);

    add_part(to, width, &column, n_nodes == 1 ? "%zu node" : "%zu nodes", n_nodes);
    add_part(to, width, &column, host->online_cpus == 1 ? "%s CPU" : "%s CPUs", display_number(host->online_cpus).text);
    if (host->total != VALUE_UNKNOWN || host->free != VALUE_UNKNOWN)
        add_memory(host, width, &column, to);
    text_add(to, "\n");
}

void render_warnings(const HostView *host, const Screen *screen, unsigned width, Text *to)
{
    size_t n = value_count(host->warnings);

    if (!n)
        return;
    text_add(to, "\n");
    for (size_t i = 0; i < n; i++) {
        struct json_object *warning = value_at(host->warnings, i);
        _cleanup_free_ char *code = shown(value_bytes(warning, "code"), screen, "-");
        _cleanup_free_ char *text = shown(value_bytes(warning, "text"), screen, "-");

        if (!code || !text) {
            to->failed = true;
            return;
        }
        screen_begin(screen, to, STYLE_FAIR);
        text_add(to, "warning ");
        display_add_cut(to, code, 24, screen_mark(screen));
        text_add(to, ":");
        screen_end(screen, to, STYLE_FAIR);
        text_add(to, " ");
        display_add_wrapped(to, text, 10 + MIN(display_width(code), 24u), 2, width);
        text_add(to, "\n");
    }
}

static void add_distance_row(const NodeViews *nodes, const NodeView *node, Text *to)
{
    for (size_t i = 0; i < nodes->n; i++) {
        SizeText distance = display_number(node_view_distance(node, nodes->items[i].id));

        text_printf(to, i ? " %2s" : "%2s", distance.text);
    }
}

typedef struct Reach {
    uint64_t distance;
    nodeid_t node;
} Reach;

static int compare_reach(const void *a, const void *b)
{
    const Reach *x = a, *y = b;
    int r = (x->distance > y->distance) - (x->distance < y->distance);

    return r ? r : (x->node > y->node) - (x->node < y->node);
}

/* Adds "16:1-2", or "16x2", for the nodes of one distance. */
static int add_group(const Reach *reach, size_t n, bool count, Text *to)
{
    _cleanup_bitmap_ Bitmap set = {0};
    _cleanup_free_ char *text = NULL;

    text_printf(to, "%s%s", to->size ? " " : "", display_number(reach->distance).text);
    if (count) {
        text_printf(to, "x%zu", n);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        if (bitmap_set(&set, reach[i].node) < 0)
            return -ENOMEM;
    text = bitmap_to_text(&set);
    if (!text)
        return -ENOMEM;
    text_printf(to, ":%s", text);
    return 0;
}

static void add_distance_groups(const NodeViews *nodes, const NodeView *node, bool count, Text *to)
{
    Reach *reach = new_array(nodes->n, sizeof(*reach));

    to->failed = to->failed || !reach;
    for (size_t i = 0; reach && i < nodes->n; i++)
        reach[i] = (Reach){node_view_distance(node, nodes->items[i].id), nodes->items[i].id};
    if (reach)
        qsort(reach, nodes->n, sizeof(*reach), compare_reach);
    for (size_t first = 0, end; reach && first < nodes->n; first = end) {
        for (end = first + 1; end < nodes->n && reach[end].distance == reach[first].distance; end++)
            ;
        if (add_group(&reach[first], end - first, count, to) < 0)
            to->failed = true;
    }
    free(reach);
}

DistanceForm render_distance_form(const NodeViews *nodes)
{
    bool small = nodes->n <= ROW_NODES_MAX, holes = nodes->n && nodes->items[nodes->n - 1].id != nodes->n - 1;

    return small && !holes ? DISTANCE_ROW : DISTANCE_GROUPS;
}

char *render_distances(const NodeViews *nodes, const NodeView *node, DistanceForm form)
{
    _cleanup_text_ Text text = {0};
    char *string = NULL;

    if (form == DISTANCE_ROW)
        add_distance_row(nodes, node, &text);
    else
        add_distance_groups(nodes, node, form == DISTANCE_COUNTS, &text);
    return text_take(&text, &string, NULL) < 0 ? NULL : string;
}

int render_memory_nodes(const NodeViews *nodes, bool all, const DomainView *domains, size_t n, Bitmap *ret_nodes)
{
    int r = 0;

    for (size_t i = 0; r == 0 && all && i < nodes->n; i++)
        r = bitmap_set(ret_nodes, nodes->items[i].id);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; r == 0 && k < domains[i].n_nodes; k++)
            r = bitmap_set(ret_nodes, domains[i].nodes[k].node);
    return r;
}

void render_add_set(Table *table, Bytes set)
{
    if (set.data && !set.size)
        table_add(table, STYLE_WEAK, "none");
    else
        table_add_bytes(table, STYLE_PLAIN, set.data, set.size);
}

void render_add_home(Table *table, const NodeViews *nodes, const DomainView *domain)
{
    _cleanup_free_ char *text = NULL;
    bool any = nodes->n > 0;

    if (!domain->has_home) {
        table_add(table, STYLE_PLAIN, "-");
        return;
    }
    for (size_t i = 0; i < nodes->n; i++)
        if (!bitmap_isempty(&nodes->items[i].cpus) && !bitmap_isset(&domain->home, nodes->items[i].id))
            any = false;
    if (any || bitmap_isempty(&domain->home)) {
        table_add(table, STYLE_PLAIN, any ? "any" : "none");
        return;
    }
    text = bitmap_to_text(&domain->home);
    table_add_bytes(table, STYLE_PLAIN, text, text ? strlen(text) : 0);
}
