/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdio.h>

#define ROW_NODES_MAX 8u     /* up to here a node's distances are a row of numbers */
#define MATRIX_NODES_MAX 16u /* up to here all of them are a matrix */
#define FAR_NODES_MIN 8u     /* from here on equal distances are worth a word */
#define GROUP_MAX 40u        /* columns of a set of nodes */
#define REST_MIN 12u         /* a set longer than that is told as the rest, when it is the largest */

/* Columns of the longest of all distances: those of one node stand under those of another. */
static int widest_distance(const NodeViews *nodes)
{
    size_t widest = 2;

    for (size_t from = 0; from < nodes->n; from++)
        for (size_t to = 0; to < nodes->n; to++)
            widest =
                MAX(widest, strlen(display_number(node_view_distance(&nodes->items[from], nodes->items[to].id)).text));
    return (int)widest;
}

static void add_distance_row(const NodeViews *nodes, const NodeView *node, Text *to)
{
    int widest = widest_distance(nodes);

    for (size_t i = 0; i < nodes->n; i++) {
        SizeText distance = display_number(node_view_distance(node, nodes->items[i].id));

        text_printf(to, i ? " %*s" : "%*s", widest, distance.text);
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

/* --- the whole matrix --- */

/* All distances as plain numbers: they are compared n x n times. Index: position in the list of nodes, not id. */
typedef struct Matrix {
    const NodeViews *nodes;
    uint64_t *cells; /* owned */
    size_t n;
} Matrix;

static uint64_t distance(const Matrix *m, size_t from, size_t to)
{
    return m->cells[from * m->n + to];
}

static int matrix_read(Matrix *m, const NodeViews *nodes)
{
    *m = (Matrix){.nodes = nodes, .n = nodes->n, .cells = new_array(nodes->n * nodes->n, sizeof(*m->cells))};
    if (!m->cells)
        return -ENOMEM;
    for (size_t from = 0; from < m->n; from++)
        for (size_t to = 0; to < m->n; to++)
            m->cells[from * m->n + to] = node_view_distance(&nodes->items[from], nodes->items[to].id);
    return 0;
}

/* Whether two nodes are equally far from every other one, both ways, and from each other. */
static bool alike(const Matrix *m, size_t a, size_t b)
{
    if (distance(m, a, b) != distance(m, b, a))
        return false;
    for (size_t other = 0; other < m->n; other++)
        if (other != a && other != b &&
            (distance(m, a, other) != distance(m, b, other) || distance(m, other, a) != distance(m, other, b)))
            return false;
    return true;
}

/*
 * Nodes that are alike go on one line: being alike holds from one to the next, so each is compared with the first of
 * its class. ret_first: for each node the first of its class. Returns how many classes there are.
 */
static size_t find_classes(const Matrix *m, size_t *ret_first)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++) {
        ret_first[i] = i;
        for (size_t first = 0; first < i; first++)
            if (ret_first[first] == first && alike(m, first, i)) {
                ret_first[i] = first;
                break;
            }
        n += ret_first[i] == i;
    }
    return n;
}

static int set_of_class(const Matrix *m, const size_t *first, size_t class, Bitmap *set)
{
    int r = 0;

    for (size_t i = class; r == 0 && i < m->n; i++)
        if (first[i] == class)
            r = bitmap_set(set, m->nodes->items[i].id);
    return r;
}

/* Adds "22:4-15"; what is many and takes long to name is "22:rest". */
static int add_far_group(const Reach *reach, size_t n, bool largest, Text *to)
{
    _cleanup_bitmap_ Bitmap set = {0};
    _cleanup_free_ char *text = NULL;
    bool folded = false;

    for (size_t i = 0; i < n; i++)
        if (bitmap_set(&set, reach[i].node) < 0)
            return -ENOMEM;
    text = render_set(&set, GROUP_MAX, &folded);
    if (!text)
        return -ENOMEM;
    text_printf(to, "%s%s:", to->size ? " " : "", display_number(reach->distance).text);
    if (largest && strlen(text) > REST_MIN)
        text_add(to, "rest");
    else
        display_add_list(to, text, ',', GROUP_MAX);
    return 0;
}

static size_t end_of_group(const Reach *reach, size_t n, size_t first)
{
    size_t end = first + 1;

    while (end < n && reach[end].distance == reach[first].distance)
        end++;
    return end;
}

/* From one class to all nodes that are not of it, the nearest first. Owned; NULL when memory is short. */
static char *far_of_class(const Matrix *m, const size_t *first, size_t class)
{
    Reach *reach = new_array(m->n, sizeof(*reach));
    size_t n = 0, largest = 0, most = 0;
    _cleanup_text_ Text text = {0};
    char *string = NULL;

    for (size_t i = 0; reach && i < m->n; i++)
        if (first[i] != class)
            reach[n++] = (Reach){distance(m, class, i), m->nodes->items[i].id};
    if (reach)
        qsort(reach, n, sizeof(*reach), compare_reach);
    for (size_t i = 0, end; reach && i < n; i = end) {
        end = end_of_group(reach, n, i);
        if (end - i > most) {
            largest = i;
            most = end - i;
        }
    }
    text.failed = !reach;
    for (size_t i = 0, end; reach && i < n; i = end) {
        end = end_of_group(reach, n, i);
        if (add_far_group(&reach[i], end - i, i == largest, &text) < 0)
            text.failed = true;
    }
    free(reach);
    return text_take(&text, &string, NULL) < 0 ? NULL : string;
}

static void add_class(Table *table, const Matrix *m, const size_t *first, size_t class, bool *folded)
{
    _cleanup_bitmap_ Bitmap set = {0};
    _cleanup_free_ char *far = far_of_class(m, first, class);
    size_t other = class;
    int r = set_of_class(m, first, class, &set);

    for (size_t i = class + 1; i < m->n && other == class; i++)
        other = first[i] == class ? i : class;
    render_add_set(table, &set, r == 0, GROUP_MAX, folded);
    table_add(table, STYLE_PLAIN, display_number(distance(m, class, other)).text);
    table_add(table, STYLE_PLAIN, far ? far : "-");
}

static void add_classes(const Matrix *m, const size_t *first, size_t n, const Screen *screen, unsigned width, Text *to)
{
    static const Column columns[] = {
        {.head = "NODES", .min = 8, .max = GROUP_MAX, .separator = ','},
        {.head = "WITHIN", .right = true},
        {.head = "TO OTHERS", .min = 12, .separator = ' '},
    };
    _cleanup_(table_free_p) Table *table = table_new(columns, ARRAY_SIZE(columns), screen->ascii_names);
    bool folded = false;

    if (!table) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < m->n; i++)
        if (first[i] == i)
            add_class(table, m, first, i, &folded);
    text_add(to, "\n");
    table_print(table, screen, width, to);
    if (n < m->n)
        render_note(screen, width, to, "Nodes of a line are equally far from all others; WITHIN: from one to another.");
    render_note(screen, width, to, "22:4-15 means distance 22 to nodes 4-15; numad-xen topology --json tells each.");
    if (folded)
        render_step_note(screen, width, to);
}

static void add_matrix(const Matrix *m, const Screen *screen, unsigned width, Text *to)
{
    Column columns[1 + MATRIX_NODES_MAX] = {{.head = "DISTANCE"}};
    char heads[MATRIX_NODES_MAX][12];
    _cleanup_(table_free_p) Table *table = NULL;

    for (size_t i = 0; i < m->n; i++) {
        snprintf(heads[i], sizeof(heads[i]), "%u", m->nodes->items[i].id);
        columns[1 + i] = (Column){.head = heads[i], .right = true};
    }
    table = table_new(columns, 1 + m->n, screen->ascii_names);
    if (!table) {
        to->failed = true;
        return;
    }
    for (size_t from = 0; from < m->n; from++) {
        table_printf(table, STYLE_STRONG, "%u", m->nodes->items[from].id);
        for (size_t to_node = 0; to_node < m->n; to_node++)
            table_add(table, STYLE_PLAIN, display_number(distance(m, from, to_node)).text);
    }
    text_add(to, "\n");
    table_print(table, screen, width, to);
}

/* Whether the matrix can be seen whole. */
static bool fits(const Matrix *m, unsigned width)
{
    size_t cell = m->n ? strlen(display_number(m->nodes->items[m->n - 1].id).text) : 0;

    for (size_t i = 0; i < m->n * m->n && m->n <= MATRIX_NODES_MAX; i++)
        cell = MAX(cell, strlen(display_number(m->cells[i]).text));
    return m->n <= MATRIX_NODES_MAX && strlen("DISTANCE") + m->n * (1 + cell) <= width;
}

/* The one distance there is between nodes; VALUE_UNKNOWN when they differ, or there is none. */
static uint64_t only_distance(const Matrix *m)
{
    uint64_t only = m->n > 1 ? distance(m, 0, 1) : VALUE_UNKNOWN;

    for (size_t from = 0; from < m->n; from++)
        for (size_t to = 0; to < m->n; to++)
            if (from != to && distance(m, from, to) != only)
                return VALUE_UNKNOWN;
    return only;
}

void render_distance_matrix(const NodeViews *nodes, const Screen *screen, unsigned width, Text *to)
{
    size_t *first = new_array(nodes->n, sizeof(*first));
    Matrix m = {0};
    uint64_t only;

    if (!nodes->n) {
        free(first);
        return;
    }
    if (!first || matrix_read(&m, nodes) < 0) {
        to->failed = true;
        free(first);
        return;
    }
    if (fits(&m, width))
        add_matrix(&m, screen, width, to);
    else
        add_classes(&m, first, find_classes(&m, first), screen, width, to);
    only = only_distance(&m);
    if (m.n >= FAR_NODES_MIN && only != VALUE_UNKNOWN && only > 10) /* 10: slit-flat says more */
        render_note(screen, width, to, "All nodes are equally far from each other: the firmware tells no hops apart.");
    free(m.cells);
    free(first);
}
