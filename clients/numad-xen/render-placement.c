/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <math.h>
#include <stdio.h>

#define GROUPS_MAX 16u /* of vCPUs with the same sets */
#define SET_COLUMNS 40u

typedef struct Page {
    const Screen *screen;
    unsigned width;
    Text *to;
} Page;

/* A line, which goes on below itself. */
static void add_line(const Page *page, const char *label, Text *line)
{
    _cleanup_free_ char *text = NULL;
    char head[16];

    if (text_take(line, &text, NULL) < 0) {
        page->to->failed = true;
        return;
    }
    snprintf(head, sizeof(head), "%-10s", label);
    render_entry(head, text, page->width, page->to);
}

static void add_bytes(const Page *page, Bytes bytes, Text *line)
{
    _cleanup_free_ char *text =
        bytes.data ? display_escape(bytes.data, bytes.size, page->screen->ascii_names ? DISPLAY_ASCII : 0) : NULL;

    line->failed = line->failed || (bytes.data && !text);
    text_add(line, text ? text : "-");
}

static void add_nodes(const Page *page, const PlacementView *view)
{
    _cleanup_free_ char *nodes = bitmap_to_text(&view->nodes);
    Text line = {.failed = !nodes};

    text_add(&line, nodes && *nodes ? nodes : "-");
    add_line(page, "nodes", &line);
}

static void add_memory(const Page *page, const PlacementView *view)
{
    Text line = {0};

    for (size_t i = 0; i < view->n_memory; i++)
        text_printf(&line, "%s%u:%s", i ? " " : "", view->memory[i].node, display_size(view->memory[i].bytes).text);
    if (view->overhead != VALUE_UNKNOWN && view->overhead)
        text_printf(&line, ", and %s beside it for Xen", display_size(view->overhead).text);
    add_line(page, "memory", &line);
}

/* A set of CPUs, which the document has as text, in as many columns as a person reads. */
static void add_set(Bytes text, Text *line)
{
    _cleanup_bitmap_ Bitmap set = {0};
    _cleanup_free_ char *string = NULL;
    bool folded = false;

    if (!text.data || bitmap_parse(&set, text.data, CPUS_MAX - 1) != 0) {
        text_add(line, "-");
        return;
    }
    string = render_set(&set, SET_COLUMNS, &folded);
    line->failed = line->failed || !string;
    if (string && *string)
        display_add_list(line, string, ',', SET_COLUMNS);
    else
        text_add(line, "none");
}

/* vCPUs from `first` to before `end`, which have the same sets. */
static void add_group(const Page *page, const PlacementView *view, size_t first, size_t end)
{
    const VcpuSets *sets = &view->vcpus[first];
    Text line = {0};

    if (end - first == 1)
        text_printf(&line, "%zu", first);
    else
        text_printf(&line, "%zu-%zu", first, end - 1);
    text_add(&line, " on CPUs ");
    if (bytes_same(sets->hard, sets->soft))
        add_set(sets->hard, &line);
    else {
        add_set(sets->soft, &line);
        text_add(&line, " by preference, of ");
        add_set(sets->hard, &line);
    }
    add_line(page, first ? "" : "vcpus", &line);
}

static void add_vcpus(const Page *page, const PlacementView *view)
{
    unsigned groups = 0;
    size_t end;

    for (size_t first = 0; first < view->n_vcpus; first = end) {
        Text line = {0};

        for (end = first + 1; end < view->n_vcpus; end++)
            if (!bytes_same(view->vcpus[first].hard, view->vcpus[end].hard) ||
                !bytes_same(view->vcpus[first].soft, view->vcpus[end].soft))
                break;
        if (groups++ < GROUPS_MAX) {
            add_group(page, view, first, end);
            continue;
        }
        text_printf(&line, "and %zu more: --format json has them all", view->n_vcpus - first);
        add_line(page, "", &line);
        return;
    }
}

static void add_answer(const Page *page, const PlacementView *view)
{
    Text locality = {0}, reason = {0}, token = {0};

    add_nodes(page, view);
    add_memory(page, view);
    add_vcpus(page, view);
    text_printf(&locality, "%s expected", display_percent(view->locality).text);
    add_line(page, "locality", &locality);
    add_bytes(page, view->reason, &reason);
    add_line(page, "reason", &reason);
    if (view->token.data)
        add_bytes(page, view->token, &token);
    else
        text_add(&token, "none: nothing is reserved");
    add_line(page, "token", &token);
    if (view->token.data && view->expires_ms != VALUE_UNKNOWN) {
        Text left = {0};

        text_printf(&left, "%llu s for the domain to come", (unsigned long long)((view->expires_ms + 999) / 1000));
        add_line(page, "time left", &left);
    }
}

static void add_distance(Table *table, double distance, const char *format)
{
    if (isnan(distance))
        table_add(table, STYLE_PLAIN, "-");
    else
        table_printf(table, STYLE_PLAIN, format, distance);
}

static void add_candidate_nodes(Table *table, struct json_object *nodes)
{
    _cleanup_bitmap_ Bitmap set = {0};
    bool known = nodes != NULL, folded = false;

    for (size_t i = 0; i < value_count(nodes); i++) {
        uint64_t node = value_u64_of(value_at(nodes, i));

        known = known && node < NODES_MAX && bitmap_set(&set, (unsigned)node) == 0;
    }
    render_add_set(table, &set, known, 24, &folded);
}

static void add_candidate(Table *table, struct json_object *row)
{
    Bytes refused_by = value_bytes(row, "refused_by");
    uint64_t shortage = value_u64(row, "short_bytes");

    table_add(table, STYLE_STRONG, display_number(value_u64(row, "rank")).text);
    add_candidate_nodes(table, value_array(row, "nodes"));
    if (value_true(row, "fits"))
        table_add(table, STYLE_GOOD, "yes");
    else
        table_add(table, STYLE_FAIR, "no");
    if (value_true(row, "fits"))
        table_add(table, STYLE_PLAIN, "");
    else
        table_add_bytes(table, STYLE_PLAIN, refused_by.data, refused_by.size);
    table_add(table, STYLE_PLAIN, shortage ? display_size(shortage).text : "");
    add_distance(table, value_ratio(row, "worst_distance"), "%.0f");
    add_distance(table, value_ratio(row, "mean_distance"), "%.1f");
    add_distance(table, value_ratio(row, "vcpus_per_core"), "%.2f");
    table_add(table, STYLE_PLAIN, display_size(value_u64(row, "left")).text);
}

static void add_candidates(const Page *page, struct json_object *rows)
{
    static const Column columns[] = {
        {.head = "RANK"},
        {.head = "NODES", .min = 8, .separator = ','},
        {.head = "FITS"},
        {.head = "REFUSED"},
        {.head = "SHORT", .right = true},
        {.head = "FARTHEST", .right = true},
        {.head = "MEAN", .right = true},
        {.head = "VCPUS/CORE", .right = true},
        {.head = "LEFT", .right = true},
    };
    _cleanup_(table_free_p) Table *table = table_new(columns, ARRAY_SIZE(columns), page->screen->ascii_names);

    if (!table) {
        page->to->failed = true;
        return;
    }
    for (size_t i = 0; i < value_count(rows); i++)
        add_candidate(table, value_at(rows, i));
    text_add(page->to, "\n");
    table_print(table, page->screen, page->width, page->to);
}

void render_placement(const PlacementView *view, const Screen *screen, Text *to)
{
    const Page page = {.screen = screen, .width = screen_width(screen, 1), .to = to};

    add_answer(&page, view);
    if (value_count(view->candidates))
        add_candidates(&page, view->candidates);
}
