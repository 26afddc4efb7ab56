/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define MATRIX_NODES_MAX 8u  /* up to here a domain's memory has a column for each node */
#define GROUPS_WIDTH_MAX 56u /* of distances in groups */
#define CPUS_COLUMNS 16u
#define RESERVED_COLUMN 4u /* of the nodes, there when something is reserved */
#define STALE_SECONDS 10

static double share(uint64_t part, uint64_t whole)
{
    return part == VALUE_UNKNOWN || whole == VALUE_UNKNOWN || !whole ? NAN : (double)part / (double)whole;
}

static uint64_t known_difference(uint64_t a, uint64_t b)
{
    return a == VALUE_UNKNOWN || b == VALUE_UNKNOWN ? VALUE_UNKNOWN : sub_saturating(a, b);
}

static void add_load(Table *table, const NodeView *node)
{
    bool crowded = node->cores && node->cores != VALUE_UNKNOWN && node->vcpus > (double)node->cores;

    if (isnan(node->vcpus))
        table_add(table, STYLE_PLAIN, "-");
    else
        table_printf(table, crowded ? STYLE_FAIR : STYLE_PLAIN, node->vcpus < 99.95 ? "%.1f" : "%.0f", node->vcpus);
}

/* A column that is there when a node has something in it. */
static bool any_reserved(const NodeViews *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (nodes->items[i].reserved != VALUE_UNKNOWN && nodes->items[i].reserved)
            return true;
    return false;
}

typedef struct NodeTable {
    Table *table;
    const NodeViews *nodes;
    DistanceForm form;
    bool reserved; /* has that column */
    bool folded;
} NodeTable;

static void add_node(NodeTable *t, const NodeView *node)
{
    _cleanup_free_ char *distances = render_distances(t->nodes, node, t->form);
    uint64_t total = node_view_total(node);
    double used = share(known_difference(total, node->free), total);

    table_printf(t->table, STYLE_STRONG, "%u", node->id);
    table_add_bar(t->table, used, share(known_difference(node->free, node->available), total));
    table_add(t->table, STYLE_PLAIN, display_percent(used).text);
    table_add(t->table, STYLE_PLAIN, display_size(node->free).text);
    if (t->reserved)
        table_add(t->table, STYLE_PLAIN, display_size(node->reserved).text);
    table_add(t->table, STYLE_PLAIN, display_size(node->available).text);
    table_add(t->table, STYLE_PLAIN, display_size(total).text);
    render_add_set(t->table, &node->cpus, node->cpus_text.data, CPUS_COLUMNS, &t->folded);
    add_load(t->table, node);
    table_add(t->table, STYLE_PLAIN, distances ? distances : "-");
}

static uint64_t count_stray_cpus(const StatusView *view)
{
    uint64_t on_nodes = 0;

    for (size_t i = 0; i < view->nodes.n; i++)
        on_nodes += bitmap_weight(&view->nodes.items[i].cpus);
    return view->host.online_cpus == VALUE_UNKNOWN ? 0 : sub_saturating(view->host.online_cpus, on_nodes);
}

/* What the columns mean where it is not what everybody expects. */
static void add_node_notes(const StatusView *view, DistanceForm form, bool folded, const Screen *screen, unsigned width,
                           Text *to)
{
    uint64_t strays = count_stray_cpus(view);
    bool held = false, holes = false;

    for (size_t i = 0; i < view->nodes.n; i++) {
        const NodeView *node = &view->nodes.items[i];
        uint64_t difference = known_difference(node->free, node->available);

        held = held || (difference != VALUE_UNKNOWN && difference);
        holes = holes || node->present == VALUE_UNKNOWN;
    }
    if (strays)
        render_note(screen, width, to,
                    strays == 1 ? "%s CPU is on no node: see numad-xen topology."
                                : "%s CPUs are on no node: see numad-xen topology.",
                    display_number(strays).text);
    if (held)
        render_note(screen, width, to, "AVAIL is FREE less DMA memory, claims, reservations, headroom and small chunks.");
    if (form == DISTANCE_COUNTS)
        render_note(screen, width, to, "DISTANCE 22x48: 48 nodes are at distance 22; numad-xen topology tells which.");
    if (folded)
        render_step_note(screen, width, to);
    if (holes)
        render_note(screen, width, to,
                    "TOTAL and USED include holes in the address space: what is present is unknown.");
}

/* Groups that nobody could read in a table are counted. */
static DistanceForm choose_distance_form(const NodeViews *nodes)
{
    DistanceForm form = render_distance_form(nodes);

    for (size_t i = 0; form == DISTANCE_GROUPS && i < nodes->n; i++) {
        _cleanup_free_ char *text = render_distances(nodes, &nodes->items[i], form);

        if (text && strlen(text) > GROUPS_WIDTH_MAX)
            form = DISTANCE_COUNTS;
    }
    return form;
}

static void add_nodes(const StatusView *view, const Screen *screen, unsigned width, Text *to)
{
    static const Column all[] = {
        {.head = "NODE"},
        {.head = "MEMORY", .bar = 30},
        {.head = "USED", .right = true},
        {.head = "FREE", .right = true},
        {.head = "RESERVED", .right = true},
        {.head = "AVAIL", .right = true},
        {.head = "TOTAL", .right = true},
        {.head = "CPUS", .min = 8, .max = CPUS_COLUMNS, .separator = ',', .drop = 1},
        {.head = "LOAD", .right = true, .drop = 2},
        {.head = "DISTANCE", .min = 8, .separator = ' '},
    };
    NodeTable t = {.nodes = &view->nodes,
                   .form = choose_distance_form(&view->nodes),
                   .reserved = any_reserved(&view->nodes)};
    Column columns[ARRAY_SIZE(all)];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (i != RESERVED_COLUMN || t.reserved)
            columns[n++] = all[i];
    t.table = table_new(columns, n, screen->ascii_names);
    if (!t.table) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < t.nodes->n; i++)
        add_node(&t, &t.nodes->items[i]);
    text_add(to, "\n");
    table_print(t.table, screen, width, to);
    table_free(t.table);
    add_node_notes(view, t.form, t.folded, screen, width, to);
}

static Style state_style(Bytes state)
{
    if (bytes_equal(state, "crashed") || bytes_equal(state, "dying") || bytes_equal(state, "shutdown"))
        return STYLE_BAD;
    return bytes_equal(state, "paused") ? STYLE_FAIR : STYLE_PLAIN;
}

static void add_vcpus(Table *table, const DomainView *domain)
{
    if (domain->n_vcpus == VALUE_UNKNOWN || domain->n_online == VALUE_UNKNOWN || domain->n_online == domain->n_vcpus)
        table_add(table, STYLE_PLAIN, display_number(domain->n_vcpus).text);
    else
        table_printf(table, STYLE_PLAIN, "%llu/%llu", (unsigned long long)domain->n_online,
                     (unsigned long long)domain->n_vcpus);
}

static void add_locality(Table *table, double locality)
{
    Style style = locality >= 0.9 ? STYLE_GOOD : locality >= 0.5 ? STYLE_FAIR : STYLE_BAD;

    table_add(table, isnan(locality) ? STYLE_PLAIN : style, display_percent(locality).text);
}

/* Of a domain that was placed: whether its memory is where it was promised. */
static void add_kept(Table *table, const DomainView *domain)
{
    if (!domain->placed)
        table_add(table, STYLE_PLAIN, "");
    else if (domain->kept < 0)
        table_add(table, STYLE_PLAIN, "-");
    else
        table_add(table, domain->kept ? STYLE_GOOD : STYLE_BAD, domain->kept ? "yes" : "no");
}

/* Memory that the vCPUs must go far for stands out. */
static Style amount_style(const DomainView *domain, nodeid_t node, uint64_t bytes)
{
    if (bytes == VALUE_UNKNOWN)
        return STYLE_PLAIN;
    if (bytes == 0)
        return STYLE_WEAK;
    return domain->has_home && !bitmap_isset(&domain->home, node) ? STYLE_FAIR : STYLE_STRONG;
}

static void add_amount(Table *table, const DomainView *domain, nodeid_t node)
{
    uint64_t bytes = domain_view_on(domain, node);

    table_add(table, amount_style(domain, node, bytes), display_size(bytes).text);
}

static int compare_most(const void *a, const void *b)
{
    const NodeBytes *x = a, *y = b;
    int r = (x->bytes < y->bytes) - (x->bytes > y->bytes);

    return r ? r : (x->node > y->node) - (x->node < y->node);
}

/* "3:1.5G 1:512M", the most first. */
static void add_where(Table *table, const DomainView *domain)
{
    NodeBytes *rows = new_array(domain->n_nodes, sizeof(*rows));
    _cleanup_text_ Text text = {0};
    _cleanup_free_ char *string = NULL;

    if (rows && domain->n_nodes) {
        memcpy(rows, domain->nodes, domain->n_nodes * sizeof(*rows));
        qsort(rows, domain->n_nodes, sizeof(*rows), compare_most);
    }
    for (size_t i = 0; rows && i < domain->n_nodes; i++)
        text_printf(&text, "%s%u:%s", i ? " " : "", rows[i].node, display_size(rows[i].bytes).text);
    text.failed = text.failed || !rows;
    free(rows);
    if (text_take(&text, &string, NULL) < 0)
        string = NULL;
    if (!domain->has_nodes || !domain->n_nodes)
        table_add(table, STYLE_PLAIN, domain->has_nodes ? "none" : "-");
    else
        table_add_bytes(table, STYLE_PLAIN, string, string ? strlen(string) : 0);
}

typedef struct DomainColumns {
    Column columns[8 + MATRIX_NODES_MAX];
    char heads[MATRIX_NODES_MAX][12];
    size_t n;
    nodeid_t nodes[MATRIX_NODES_MAX];
    size_t n_nodes;
    bool matrix, kept;
} DomainColumns;

/* Every node, and what is no node but holds memory all the same (a hole in the node numbers). */
static void add_node_columns(const Bitmap *nodes, DomainColumns *c)
{
    for (unsigned id = bitmap_next(nodes, 0); id < NODES_MAX; id = bitmap_next(nodes, id + 1)) {
        char *head = c->heads[c->n_nodes];

        snprintf(head, sizeof(c->heads[0]), "NODE%u", id);
        c->columns[c->n++] = (Column){.head = head, .right = true};
        c->nodes[c->n_nodes++] = (nodeid_t)id;
    }
}

static bool any_placed(const StatusView *view)
{
    for (size_t i = 0; i < view->n_domains; i++)
        if (view->domains[i].placed)
            return true;
    return false;
}

static void choose_columns(const Bitmap *nodes, bool kept, unsigned width, DomainColumns *ret_columns)
{
    DomainColumns *c = ret_columns;
    unsigned n_nodes = bitmap_weight(nodes);

    *c = (DomainColumns){
        .columns = {{.head = "DOMID"},
                    {.head = "NAME", .min = 8, .max = 40},
                    {.head = "STATE", .drop = 2},
                    {.head = "VCPUS", .right = true, .drop = 1},
                    {.head = "ON", .min = 4, .separator = ',', .drop = 3},
                    {.head = "MEMORY", .right = true}},
        .n = 6,
        .matrix = n_nodes <= MATRIX_NODES_MAX && 52 + 7 * n_nodes <= width,
        .kept = kept,
    };
    if (c->matrix)
        add_node_columns(nodes, c);
    else
        c->columns[c->n++] = (Column){.head = "WHERE", .min = 12, .separator = ' '};
    if (kept)
        c->columns[c->n++] = (Column){.head = "KEPT"};
    c->columns[c->n++] = (Column){.head = "LOCAL", .right = true};
}

static void add_domain(Table *table, const NodeViews *nodes, const DomainColumns *columns, const DomainView *domain)
{
    table_printf(table, STYLE_STRONG, "%u", domain->domid);
    table_add_bytes(table, STYLE_PLAIN, domain->name.data, domain->name.size);
    table_add_bytes(table, state_style(domain->state), domain->state.data, domain->state.size);
    add_vcpus(table, domain);
    render_add_home(table, nodes, domain);
    table_add(table, STYLE_PLAIN, display_size(domain->total).text);
    for (size_t i = 0; i < columns->n_nodes; i++)
        add_amount(table, domain, columns->nodes[i]);
    if (!columns->matrix)
        add_where(table, domain);
    if (columns->kept)
        add_kept(table, domain);
    add_locality(table, domain->locality);
}

static void add_domains(const StatusView *view, const Screen *screen, unsigned width, Text *to)
{
    _cleanup_(table_free_p) Table *table = NULL;
    _cleanup_bitmap_ Bitmap nodes = {0};
    DomainColumns columns;

    text_add(to, "\n");
    if (!view->n_domains) {
        text_add(to, "No domains.\n");
        return;
    }
    if (render_memory_nodes(&view->nodes, true, view->domains, view->n_domains, &nodes) == 0) {
        choose_columns(&nodes, any_placed(view), width, &columns);
        table = table_new(columns.columns, columns.n, screen->ascii_names);
    }
    if (!table) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < view->n_domains; i++)
        add_domain(table, &view->nodes, &columns, &view->domains[i]);
    table_print(table, screen, width, to);
}

/* Seconds since the document's time; negative: not known. */
static int64_t age_of(Bytes time_text, int64_t now)
{
    struct tm tm = {0};
    const char *end = now >= 0 && time_text.data ? strptime(time_text.data, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

    return end && !*end ? now - (int64_t)timegm(&tm) : -1;
}

void render_status(const StatusView *view, const Screen *screen, int64_t now, Text *to)
{
    unsigned width = screen_width(screen, view->nodes.n);
    int64_t age = age_of(view->time, now);
    char note[80];

    render_heading(&view->host, view->nodes.n, screen, to);
    add_nodes(view, screen, width, to);
    add_domains(view, screen, width, to);
    if (value_count(view->reservations)) {
        text_add(to, "\n");
        render_reservations(view->reservations, false, screen, width, to);
    }
    render_warnings(&view->host, true, screen, width, to);
    if (age < STALE_SECONDS)
        return;
    snprintf(note, sizeof(note), "these numbers are %lld s old: see numad-xen doctor", (long long)age);
    text_add(to, "\n");
    screen_add(screen, to, STYLE_BAD, "warning stale:");
    text_add(to, " ");
    display_add_wrapped(to, note, 15, 2, width);
    text_add(to, "\n");
}
