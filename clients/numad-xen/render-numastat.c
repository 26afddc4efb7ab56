/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdio.h>

#define ALL_NODES_MAX 8u /* beyond, only nodes that hold memory of a domain have a column */
#define NAME_MAX_WIDTH 20u

/* What is shown: domains down, nodes across, in blocks as wide as the screen allows. The last column is the total. */
typedef struct Grid {
    const DomainView *domains;
    size_t n_domains;
    nodeid_t *nodes; /* owned */
    size_t n_nodes;
    unsigned name_width, value_width;
} Grid;

typedef struct Mebibytes {
    char text[32];
} Mebibytes;

static Mebibytes mebibytes(uint64_t bytes)
{
    Mebibytes m = {"-"};

    if (bytes > 0 && bytes < (1 << 20) / 200) /* some is not none */
        return (Mebibytes){"<0.01"};
    if (bytes != VALUE_UNKNOWN)
        snprintf(m.text, sizeof(m.text), "%.2f", (double)bytes / (1 << 20));
    return m;
}

/* Of a domain in column c. */
static uint64_t value_at_column(const Grid *grid, const DomainView *domain, size_t c)
{
    return c < grid->n_nodes ? domain_view_on(domain, grid->nodes[c]) : domain->total;
}

/* Of all domains; unknown when that of one is. */
static uint64_t sum_of_column(const Grid *grid, size_t c)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < grid->n_domains; i++) {
        uint64_t value = value_at_column(grid, &grid->domains[i], c);

        if (value == VALUE_UNKNOWN)
            return VALUE_UNKNOWN;
        sum = add_saturating(sum, value);
    }
    return sum;
}

static int choose_nodes(Grid *grid, const NodeViews *nodes)
{
    _cleanup_bitmap_ Bitmap shown = {0};

    if (render_memory_nodes(nodes, nodes->n <= ALL_NODES_MAX, grid->domains, grid->n_domains, &shown) < 0)
        return -ENOMEM;
    grid->nodes = new_array(bitmap_weight(&shown), sizeof(*grid->nodes));
    if (!grid->nodes)
        return -ENOMEM;
    for (unsigned id = bitmap_next(&shown, 0); id < NODES_MAX; id = bitmap_next(&shown, id + 1))
        grid->nodes[grid->n_nodes++] = (nodeid_t)id;
    return 0;
}

static unsigned name_width(Bytes name, const Screen *screen)
{
    unsigned flags = DISPLAY_QUOTES | (screen->ascii_names ? DISPLAY_ASCII : 0);
    _cleanup_free_ char *shown = name.data ? display_escape(name.data, name.size, flags) : NULL;

    return shown ? MIN(display_width(shown), NAME_MAX_WIDTH) : 1;
}

static void measure(Grid *grid, const Screen *screen)
{
    grid->name_width = 4;
    grid->value_width = 8; /* of "NODE1023" */
    for (size_t i = 0; i < grid->n_domains; i++) {
        grid->name_width = MAX(grid->name_width, name_width(grid->domains[i].name, screen));
        grid->value_width = MAX(grid->value_width, (unsigned)strlen(mebibytes(grid->domains[i].total).text));
    }
    for (size_t c = 0; c <= grid->n_nodes; c++)
        grid->value_width = MAX(grid->value_width, (unsigned)strlen(mebibytes(sum_of_column(grid, c)).text));
}

static void add_rows(Table *table, const Grid *grid, size_t first, size_t end)
{
    for (size_t i = 0; i < grid->n_domains; i++) {
        const DomainView *domain = &grid->domains[i];

        table_printf(table, STYLE_STRONG, "%u", domain->domid);
        table_add_bytes(table, STYLE_PLAIN, domain->name.data, domain->name.size);
        for (size_t c = first; c < end; c++) {
            uint64_t value = value_at_column(grid, domain, c);

            table_add(table, value ? STYLE_PLAIN : STYLE_WEAK, mebibytes(value).text);
        }
    }
    if (grid->n_domains == 1)
        return;
    table_add(table, STYLE_STRONG, "total");
    table_add(table, STYLE_PLAIN, "");
    for (size_t c = first; c < end; c++)
        table_add(table, STYLE_STRONG, mebibytes(sum_of_column(grid, c)).text);
}

/* Columns first..end-1. */
static void add_block(const Grid *grid, size_t first, size_t end, const Screen *screen, unsigned width, Text *to)
{
    Column *columns = new_array(end - first + 2, sizeof(*columns));
    char(*heads)[16] = new_array(end - first, sizeof(*heads));
    Table *table = NULL;

    if (columns && heads) {
        columns[0] = (Column){.head = "DOMID"};
        columns[1] = (Column){.head = "NAME", .min = 8, .max = NAME_MAX_WIDTH};
        for (size_t c = first; c < end; c++) {
            if (c < grid->n_nodes)
                snprintf(heads[c - first], sizeof(*heads), "NODE%u", grid->nodes[c]);
            else
                snprintf(heads[c - first], sizeof(*heads), "TOTAL");
            columns[c - first + 2] = (Column){.head = heads[c - first], .right = true};
        }
        table = table_new(columns, end - first + 2, screen->ascii_names);
    }
    if (table) {
        add_rows(table, grid, first, end);
        table_print(table, screen, width, to);
    } else
        to->failed = true;
    table_free(table);
    free(heads);
    free(columns);
}

void render_numastat(const StatusView *view, const DomainView *domains, size_t n, const Screen *screen, Text *to)
{
    unsigned width = screen_width(screen, view->nodes.n), room, at_once;
    Grid grid = {.domains = domains, .n_domains = n};

    if (choose_nodes(&grid, &view->nodes) < 0) {
        to->failed = true;
        free(grid.nodes);
        return;
    }
    measure(&grid, screen);
    room = sub_saturating(width, 5 + 2 + grid.name_width);
    at_once = MAX(room / (grid.value_width + 2), 1u);
    if (view->host.simulated) {
        screen_add(screen, to, STYLE_ALARM, "SIMULATED");
        text_add(to, "  ");
    }
    display_add_wrapped(to, "Memory of domains on nodes, in MiB", view->host.simulated ? 11 : 0, 0, width);
    text_add(to, "\n");
    for (size_t first = 0; first <= grid.n_nodes; first += at_once) {
        text_add(to, "\n");
        add_block(&grid, first, MIN(first + at_once, grid.n_nodes + 1), screen, width, to);
    }
    free(grid.nodes);
}
