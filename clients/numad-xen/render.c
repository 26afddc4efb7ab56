/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdarg.h>
#include <stdio.h>

#define WORD_MAX 60u /* columns of a word of a warning: a longer one is a list nobody reads to its end */

/* Worth to know, nothing to see to. */
static const char *const notes[] = {"dom0-view-differs", "node-offline", "slit-asymmetric"};

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

static bool is_note(struct json_object *warning)
{
    Bytes code = value_bytes(warning, "code");

    for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
        if (bytes_equal(code, notes[i]))
            return true;
    return false;
}

/* A long list of numbers is cut, and how many there are more is told. */
static void add_words(Text *to, const char *text, unsigned column, unsigned width)
{
    _cleanup_text_ Text words = {0};
    unsigned word_max = MIN(WORD_MAX, width - 4);

    while (*text) {
        size_t n = strcspn(text, " ");
        _cleanup_free_ char *word = strndup(text, n);

        if (!word) {
            to->failed = true;
            return;
        }
        if (n > word_max && strchr(word, ','))
            display_add_list(&words, word, ',', word_max);
        else
            text_add(&words, word);
        text += n;
        n = strspn(text, " ");
        text_add_bytes(&words, text, n);
        text += n;
    }
    to->failed = to->failed || words.failed;
    display_add_wrapped(to, words.data ? words.data : "", column, 2, width);
}

static void add_warning(struct json_object *warning, bool note, bool brief, const Screen *screen, unsigned width,
                        Text *to)
{
    _cleanup_free_ char *code = shown(value_bytes(warning, "code"), screen, "-");
    _cleanup_free_ char *text = shown(value_bytes(warning, "text"), screen, "-");
    Style style = note ? STYLE_WEAK : STYLE_FAIR;
    const char *head = note ? "note " : "warning ";
    char *end;

    if (!code || !text) {
        to->failed = true;
        return;
    }
    end = brief ? strstr(text, ": ") : NULL;
    if (end)
        *end = '\0';
    screen_begin(screen, to, style);
    text_add(to, head);
    display_add_cut(to, code, 24, screen_mark(screen));
    text_add(to, ":");
    screen_end(screen, to, style);
    text_add(to, " ");
    add_words(to, text, (unsigned)strlen(head) + 2 + MIN(display_width(code), 24u), width);
    text_add(to, "\n");
}

void render_warnings(const HostView *host, bool brief, const Screen *screen, unsigned width, Text *to)
{
    size_t n = value_count(host->warnings);
    bool any = false;

    for (unsigned note = 0; note <= 1; note++)
        for (size_t i = 0; i < n; i++) {
            struct json_object *warning = value_at(host->warnings, i);

            if (is_note(warning) != (bool)note)
                continue;
            text_add(to, any ? "" : "\n");
            any = true;
            add_warning(warning, note, note && brief, screen, width, to);
        }
}

void render_note(const Screen *screen, unsigned width, Text *to, const char *format, ...)
{
    char note[160];
    va_list ap;

    va_start(ap, format);
    vsnprintf(note, sizeof(note), format, ap);
    va_end(ap);
    screen_begin(screen, to, STYLE_WEAK);
    display_add_wrapped(to, note, 0, 0, width);
    screen_end(screen, to, STYLE_WEAK);
    text_add(to, "\n");
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

void render_add_home(Table *table, const NodeViews *nodes, const DomainView *domain)
{
    _cleanup_free_ char *text = NULL;
    bool any = true; /* of the nodes that have CPUs */

    if (!domain->has_home) {
        table_add(table, STYLE_PLAIN, "-");
        return;
    }
    for (size_t i = 0; i < nodes->n; i++)
        if (!bitmap_isempty(&nodes->items[i].cpus) && !bitmap_isset(&domain->home, nodes->items[i].id))
            any = false;
    if (any || bitmap_isempty(&domain->home)) {
        table_add(table, STYLE_PLAIN, bitmap_isempty(&domain->home) ? "none" : "any");
        return;
    }
    text = bitmap_to_text(&domain->home);
    table_add_bytes(table, STYLE_PLAIN, text, text ? strlen(text) : 0);
}
