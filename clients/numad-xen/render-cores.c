/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdio.h>

#define ROW_MIN 6u /* so many cores that are told by the first two and the last */

/* The online CPUs of one core: `n` of the view's, which are sorted, from `first` on. */
typedef struct Core {
    const CpuView *first;
    size_t n;
} Core;

static bool same_socket(const CpuView *a, const CpuView *b)
{
    return a->node == b->node && a->socket == b->socket;
}

static bool same_core(const CpuView *a, const CpuView *b)
{
    return a->core != VALUE_UNKNOWN && same_socket(a, b) && a->core == b->core;
}

/* Takes the next core of the socket that cpus[*i] is of; false: there is none. */
static bool next_core(const TopologyView *view, const CpuView *socket, size_t *i, Core *ret_core)
{
    const CpuView *cpus = view->cpus;
    size_t first;

    while (*i < view->n_cpus && !cpus[*i].online && same_socket(&cpus[*i], socket))
        (*i)++;
    if (*i == view->n_cpus || !same_socket(&cpus[*i], socket))
        return false;
    first = (*i)++;
    while (*i < view->n_cpus && cpus[*i].online && same_core(&cpus[first], &cpus[*i]))
        (*i)++;
    *ret_core = (Core){&cpus[first], *i - first};
    return true;
}

/* Those of many CPUs first: where only some have their siblings online, each kind is in a row. */
static int compare_core(const void *a, const void *b)
{
    const Core *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    if (x->first->core != y->first->core)
        return x->first->core < y->first->core ? -1 : 1;
    return (x->first->cpu > y->first->cpu) - (x->first->cpu < y->first->cpu);
}

/* Whether b is `cores` and `cpus` further on than a. */
static bool follows(const Core *a, const Core *b, uint64_t cores, uint64_t cpus)
{
    if (a->n != b->n || a->first->core == VALUE_UNKNOWN || b->first->core != a->first->core + cores)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->first[i].cpu + cpus != b->first[i].cpu)
            return false;
    return true;
}

/* How many cores from cores[0] on differ each by the same from the one before. */
static size_t length_of_row(const Core *cores, size_t n)
{
    size_t row = 1;

    if (n < ROW_MIN || cores[1].first->cpu <= cores[0].first->cpu)
        return 1;
    while (row < n && follows(&cores[row - 1], &cores[row], cores[1].first->core - cores[0].first->core,
                              cores[1].first->cpu - cores[0].first->cpu))
        row++;
    return row < ROW_MIN ? 1 : row;
}

/* Adds "0:0-1", the core and its CPUs. */
static void add_core(const Core *core, Text *to)
{
    _cleanup_bitmap_ Bitmap cpus = {0};
    _cleanup_free_ char *text = NULL;

    for (size_t i = 0; i < core->n; i++)
        if (bitmap_set(&cpus, (unsigned)core->first[i].cpu) < 0)
            to->failed = true;
    text = bitmap_to_text(&cpus);
    text_printf(to, "%s%s:%s", to->size ? " " : "", display_number(core->first->core).text, text ? text : "-");
}

/* Adds the cores of a row by the first two and the last, or one core; returns how many. */
static size_t add_row(const Core *cores, size_t n, Text *to)
{
    size_t row = length_of_row(cores, n);

    add_core(&cores[0], to);
    if (row == 1)
        return 1;
    add_core(&cores[1], to);
    text_add(to, " ..");
    add_core(&cores[row - 1], to);
    return row;
}

/* The cores of one socket on one node, from cpus[first] on; returns where the next begin. */
static size_t add_socket(const TopologyView *view, size_t first, Core *cores, unsigned width, Text *to)
{
    const CpuView *socket = &view->cpus[first];
    _cleanup_text_ Text text = {0};
    _cleanup_free_ char *string = NULL;
    size_t n = 0, i = first;
    char label[64];

    while (next_core(view, socket, &i, &cores[n]))
        n++;
    if (!n)
        return i;
    qsort(cores, n, sizeof(*cores), compare_core);
    for (size_t k = 0; k < n;)
        k += add_row(&cores[k], n - k, &text);
    snprintf(label, sizeof(label), "%-4s  %-6s  ", display_number(socket->node).text,
             display_number(socket->socket).text);
    if (text_take(&text, &string, NULL) < 0)
        to->failed = true;
    else
        render_entry(label, string, width, to);
    return i;
}

static void add_which(const TopologyView *view, const char *label, bool online, bool *folded, unsigned width, Text *to)
{
    _cleanup_bitmap_ Bitmap set = {0};
    _cleanup_free_ char *text = NULL;

    for (size_t i = 0; i < view->n_cpus; i++)
        if (view->cpus[i].online == online && (!online || view->cpus[i].node == VALUE_UNKNOWN) &&
            bitmap_set(&set, (unsigned)view->cpus[i].cpu) < 0)
            to->failed = true;
    text = render_set(&set, width - (unsigned)strlen(label), folded);
    if (!text)
        to->failed = true;
    else if (*text)
        render_entry(label, text, width, to);
}

void render_cores(const TopologyView *view, bool *folded, const Screen *screen, unsigned width, Text *to)
{
    Core *cores = new_array(view->n_cpus + 1, sizeof(*cores));

    if (!view->n_cpus || !cores) {
        to->failed = to->failed || !cores;
        free(cores);
        return;
    }
    render_heads(screen, "NODE  SOCKET  CORE:CPUS", to);
    for (size_t i = 0; i < view->n_cpus;)
        i = add_socket(view, i, cores, width, to);
    add_which(view, "offline CPUs: ", false, folded, width, to);
    add_which(view, "CPUs on no node: ", true, folded, width, to);
    free(cores);
}
