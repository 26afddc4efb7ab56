/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/text.h"

/*
 * Text as a terminal shows it. Names come from guests' owners: whatever bytes they hold, what is printed is valid
 * UTF-8 without control characters, and its width is known.
 */

#define DISPLAY_QUOTES 1u /* escape quotes and backslashes too */
#define DISPLAY_ASCII 2u  /* escape all that is not ASCII */

/* Call once, after setlocale(LC_CTYPE, ""): widths are those of UTF-8 whatever the locale is. */
void display_init(void);

/* Owned; NULL when memory is short. */
char *display_escape(const char *bytes, size_t size, unsigned flags);
/* Columns that a valid, escaped text takes. */
unsigned display_width(const char *text);
/* Length in bytes of the longest beginning that takes at most `width` columns. */
size_t display_fit(const char *text, unsigned width);

/* Adds a text cut to `width` columns; a cut one ends in `mark`. Returns the columns taken. */
unsigned display_add_cut(Text *to, const char *text, unsigned width, const char *mark);
/* Adds a line with styles of screen.h, which take no columns and are all kept, cut to `width` columns. */
void display_add_line(Text *to, const char *line, unsigned width);
/*
 * Adds a list ("0,2,4-7") cut between elements; how many were left out follows, as "..+5", or stands alone. Returns the
 * columns taken.
 */
unsigned display_add_list(Text *to, const char *list, char separator, unsigned width);
/* Adds words, wrapped; lines but the first begin with `indent` spaces, `column` columns of the first are taken. */
void display_add_wrapped(Text *to, const char *text, unsigned column, unsigned indent, unsigned width);
void display_add_spaces(Text *to, unsigned n);

/* Bytes in at most 5 columns: "448M", "1.5G". "-" for VALUE_UNKNOWN. */
typedef struct SizeText {
    char text[24];
} SizeText;
SizeText display_size(uint64_t bytes);
/* A share of 1 as "25%"; 100% and 0% only when it is just that. "-" for NAN. */
SizeText display_percent(double share);
SizeText display_number(uint64_t value); /* "-" for VALUE_UNKNOWN */
