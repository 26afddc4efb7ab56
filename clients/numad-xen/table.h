/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "screen.h"

/*
 * A table whose columns are as wide as their contents want, as long as a line fits. Where it does not, columns that
 * may shrink are cut, the one with the most to give first; where that is not enough, whole columns are left out, and a
 * line says which.
 */
typedef struct Column {
    const char *head;
    bool right;     /* aligned to the right */
    unsigned min;   /* may shrink to this; 0: never shrinks */
    unsigned max;   /* never wider than this; 0: as wide as it likes */
    char separator; /* cells are lists, cut between elements; 0: plain text */
    unsigned drop;  /* left out first: 1, then 2, ...; 0: never */
    unsigned bar;   /* a bar of at most this many columns, drawn when there is room for 10; 0: no bar */
} Column;

typedef struct Table Table;

/* The columns are used as long as the table lives. NULL when memory is short. */
Table *table_new(const Column *columns, size_t n_columns, bool ascii_names);
Table *table_free(Table *table); /* takes NULL, returns NULL */
DEFINE_CLEANUP(Table *, table_free)

/* Each adds the next cell; a row is complete with the last column. The text is taken as it is. */
void table_add(Table *table, Style style, const char *text);
void table_printf(Table *table, Style style, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Bytes of others: escaped, quoted where they would not be seen or mistaken, "-" for NULL. */
void table_add_bytes(Table *table, Style style, const char *bytes, size_t size);
void table_add_bar(Table *table, double used, double held); /* screen_add_bar() */

/* Lines of at most `width` columns, the heads first. A failure for memory is remembered in `to`. */
void table_print(Table *table, const Screen *screen, unsigned width, Text *to);
