/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include "display.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define BAR_MIN 10u

typedef struct Cell {
    char *text; /* owned; NULL: a bar */
    unsigned width;
    Style style;
    double used, held;
} Cell;

struct Table {
    const Column *columns;
    size_t n_columns;
    bool ascii_names;
    Cell *cells;
    size_t n, capacity;
    unsigned *widths; /* of the columns */
    unsigned gap;
    unsigned dropped; /* columns up to this Column.drop are left out */
    bool failed;
};

Table *table_new(const Column *columns, size_t n_columns, bool ascii_names)
{
    Table *table = calloc(1, sizeof(*table));

    if (!table)
        return NULL;
    table->widths = new_array(n_columns, sizeof(*table->widths));
    if (!table->widths)
        return table_free(table);
    table->columns = columns;
    table->n_columns = n_columns;
    table->ascii_names = ascii_names;
    return table;
}

Table *table_free(Table *table)
{
    if (!table)
        return NULL;
    for (size_t i = 0; i < table->n; i++)
        free(table->cells[i].text);
    free(table->cells);
    free(table->widths);
    free(table);
    return NULL;
}

static void add_cell(Table *table, Cell cell)
{
    size_t capacity = MAX(table->capacity * 2, (size_t)64);
    Cell *cells;

    if (table->n == table->capacity) {
        cells = reallocarray(table->cells, capacity, sizeof(*cells));
        if (!cells) {
            free(cell.text);
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    table->cells[table->n++] = cell;
}

/* Takes the text over. */
static void add_owned(Table *table, Style style, char *text)
{
    if (text)
        add_cell(table, (Cell){.text = text, .width = display_width(text), .style = style});
    else
        table->failed = true;
}

void table_add(Table *table, Style style, const char *text)
{
    add_owned(table, style, strdup(text));
}

void table_printf(Table *table, Style style, const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    int r;

    va_start(ap, format);
    r = vasprintf(&text, format, ap);
    va_end(ap);
    add_owned(table, style, r < 0 ? NULL : text);
}

void table_add_bytes(Table *table, Style style, const char *bytes, size_t size)
{
    unsigned flags = DISPLAY_QUOTES | (table->ascii_names ? DISPLAY_ASCII : 0);
    _cleanup_free_ char *text = bytes ? display_escape(bytes, size, flags) : NULL;

    if (!bytes)
        table_add(table, STYLE_PLAIN, "-");
    else if (!size || bytes[0] == ' ' || bytes[size - 1] == ' ' || (size == 1 && bytes[0] == '-'))
        table_printf(table, style, "\"%s\"", text ? text : "");
    else
        add_owned(table, style, TAKE_PTR(text));
}

void table_add_bar(Table *table, double used, double held)
{
    add_cell(table, (Cell){.used = used, .held = held});
}

static bool is_dropped(const Table *table, size_t c)
{
    return table->columns[c].drop && table->columns[c].drop <= table->dropped;
}

static void measure(Table *table)
{
    for (size_t c = 0; c < table->n_columns; c++)
        table->widths[c] = table->columns[c].bar ? 0 : display_width(table->columns[c].head);
    for (size_t i = 0; i < table->n; i++)
        if (table->cells[i].width > table->widths[i % table->n_columns])
            table->widths[i % table->n_columns] = table->cells[i].width;
    for (size_t c = 0; c < table->n_columns; c++) {
        if (table->columns[c].max && table->widths[c] > table->columns[c].max)
            table->widths[c] = table->columns[c].max;
        if (is_dropped(table, c))
            table->widths[c] = 0;
    }
}

static unsigned line_width(const Table *table)
{
    unsigned sum = 0;

    for (size_t c = 0; c < table->n_columns; c++)
        if (table->widths[c])
            sum += table->widths[c] + (sum ? table->gap : 0);
    return sum;
}

/* Takes columns from the widest that may shrink until the line fits or none has anything to give. */
static void shrink(Table *table, unsigned width)
{
    unsigned *widest, sum = line_width(table);

    for (; sum > width; sum--) {
        widest = NULL;
        for (size_t c = 0; c < table->n_columns; c++)
            if (table->columns[c].min && table->widths[c] > table->columns[c].min &&
                (!widest || table->widths[c] > *widest))
                widest = &table->widths[c];
        if (!widest)
            return;
        (*widest)--;
    }
}

static bool fits(Table *table, unsigned gap, unsigned more, unsigned width)
{
    table->gap = gap;
    return line_width(table) + more <= width;
}

/* Two columns of gap; one where that makes room for a bar, or lets more be seen of what must be cut. */
static void choose_gap(Table *table, bool bar, unsigned width)
{
    if (bar && (fits(table, 2, 2 + BAR_MIN, width) || fits(table, 1, 1 + BAR_MIN, width)))
        return;
    if (!fits(table, 2, 0, width))
        table->gap = 1;
}

/* Leaves one more column out; false: there is none. */
static bool drop_one(Table *table)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->columns[c].drop == table->dropped + 1) {
            table->dropped++;
            return true;
        }
    return false;
}

static void lay_out(Table *table, const Screen *screen, unsigned width)
{
    const Column *bar = NULL;
    unsigned sum;

    for (size_t c = 0; c < table->n_columns; c++)
        if (screen->bars && table->columns[c].bar)
            bar = &table->columns[c];
    do {
        measure(table);
        choose_gap(table, bar, width);
        shrink(table, width);
    } while (line_width(table) > width && drop_one(table));
    sum = line_width(table) + table->gap;
    if (bar && sum + BAR_MIN <= width)
        table->widths[bar - table->columns] = MIN(bar->bar, width - sum);
}

static unsigned add_text(const Column *column, const Screen *screen, const char *text, unsigned width, Text *to)
{
    return column->separator ? display_add_list(to, text, column->separator, width)
                             : display_add_cut(to, text, width, screen_mark(screen));
}

/* `room`: columns left on the line; a column for which there are none is not printed. */
static void print_cell(const Table *table, const Screen *screen, size_t c, const Cell *cell, unsigned room, Text *to)
{
    const Column *column = &table->columns[c];
    unsigned width = MIN(table->widths[c], room), cell_width;
    bool last = c + 1 == table->n_columns;

    if (!cell->text) {
        screen_add_bar(screen, to, width, cell->used, cell->held);
        return;
    }
    cell_width = MIN(cell->width, width);
    if (column->right)
        display_add_spaces(to, width - cell_width);
    screen_begin(screen, to, cell->style);
    cell_width = cell->width <= width ? (text_add(to, cell->text), cell->width)
                                      : add_text(column, screen, cell->text, width, to);
    screen_end(screen, to, cell->style);
    if (!column->right && !last && cell_width < width)
        display_add_spaces(to, width - cell_width);
}

static void print_row(const Table *table, const Screen *screen, const Cell *cells, unsigned width, Text *to)
{
    unsigned column = 0;

    for (size_t c = 0; c < table->n_columns; c++) {
        if (!table->widths[c])
            continue;
        if (column) {
            if (column + table->gap >= width)
                break;
            display_add_spaces(to, table->gap);
            column += table->gap;
        }
        print_cell(table, screen, c, &cells[c], width - column, to);
        column += table->widths[c];
    }
    while (to->size && to->data[to->size - 1] == ' ')
        to->data[--to->size] = '\0';
    text_add(to, "\n");
}

static void print_heads(const Table *table, const Screen *screen, unsigned width, Text *to)
{
    Cell *cells = new_array(table->n_columns, sizeof(*cells));

    if (!cells) {
        to->failed = true;
        return;
    }
    for (size_t c = 0; c < table->n_columns; c++)
        cells[c] = (Cell){.text = (char *)table->columns[c].head,
                          .width = display_width(table->columns[c].head),
                          .style = STYLE_STRONG};
    print_row(table, screen, cells, width, to);
    free(cells);
}

static void print_dropped(const Table *table, const Screen *screen, unsigned width, Text *to)
{
    _cleanup_text_ Text note = {0};

    if (!table->dropped)
        return;
    text_add(&note, "No room for");
    for (size_t c = 0; c < table->n_columns; c++)
        if (is_dropped(table, c))
            text_printf(&note, " %s", table->columns[c].head);
    to->failed = to->failed || note.failed;
    screen_begin(screen, to, STYLE_WEAK);
    display_add_wrapped(to, note.data ? note.data : "", 0, 0, width);
    screen_end(screen, to, STYLE_WEAK);
    text_add(to, "\n");
}

void table_print(Table *table, const Screen *screen, unsigned width, Text *to)
{
    if (table->failed) {
        to->failed = true;
        return;
    }
    lay_out(table, screen, width);
    print_heads(table, screen, width, to);
    for (size_t i = 0; i + table->n_columns <= table->n; i += table->n_columns)
        print_row(table, screen, &table->cells[i], width, to);
    print_dropped(table, screen, width, to);
}
