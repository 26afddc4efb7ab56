/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "command.h"
#include "lib/core/text.h"

/* Where text goes: a terminal with its size and abilities, or a pipe, which gets plain text of a fixed width. */
typedef struct Screen {
    bool terminal;
    bool bars;
    bool addressable; /* understands escape sequences */
    bool color;
    bool utf8;        /* what is drawn may be more than ASCII */
    bool ascii_names; /* a terminal that cannot show UTF-8 */
    unsigned columns; /* to lay text out for: at least 40; UINT32_MAX: a pipe */
    unsigned rows;
    unsigned edge; /* columns that there are */
} Screen;

typedef enum Style {
    STYLE_PLAIN,
    STYLE_STRONG,
    STYLE_WEAK,
    STYLE_GOOD,
    STYLE_FAIR,
    STYLE_BAD,
    STYLE_ALARM,
    _STYLE_MAX
} Style;

void screen_init(void); /* sets the locale; call once */
Screen screen_get(const Globals *globals);
/* Columns for a host of that many nodes: 80 for up to four, 120 for more, less on a narrow terminal. */
unsigned screen_width(const Screen *screen, size_t n_nodes);
const char *screen_mark(const Screen *screen); /* what ends a text that was cut */

void screen_begin(const Screen *screen, Text *to, Style style);
void screen_end(const Screen *screen, Text *to, Style style);
void screen_add(const Screen *screen, Text *to, Style style, const char *text);

/* A bar of `width` columns: what is used, what is free but held back, and the rest. Shares of 1; NAN: an empty bar. */
void screen_add_bar(const Screen *screen, Text *to, unsigned width, double used, double held);
