/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "screen.h"

#include "display.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_MIN 40u

static bool locale_is_utf8;

static const char *const style_codes[_STYLE_MAX] = {
    [STYLE_PLAIN] = NULL, [STYLE_STRONG] = "1", [STYLE_WEAK] = "2",       [STYLE_GOOD] = "32",
    [STYLE_FAIR] = "33",  [STYLE_BAD] = "31",   [STYLE_ALARM] = "1;7;33",
};

void screen_init(void)
{
    setlocale(LC_CTYPE, "");
    locale_is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    display_init();
}

Screen screen_get(const Globals *globals)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    Screen screen = {.columns = UINT32_MAX, .rows = UINT32_MAX, .edge = UINT32_MAX};
    bool dumb = !term || !*term || strcmp(term, "dumb") == 0;
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return screen;
    screen.terminal = true;
    screen.bars = true;
    screen.utf8 = locale_is_utf8 && !dumb;
    screen.ascii_names = !locale_is_utf8;
    screen.addressable = !dumb;
    screen.color = !dumb && !globals->no_color && !(no_color && *no_color);
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) {
        screen.columns = MAX((unsigned)size.ws_col, COLUMNS_MIN);
        screen.edge = size.ws_col;
        screen.rows = size.ws_row ? size.ws_row : UINT32_MAX;
    }
    return screen;
}

unsigned screen_width(const Screen *screen, size_t n_nodes)
{
    return MIN(screen->columns, n_nodes <= 4 ? 80u : 120u);
}

const char *screen_mark(const Screen *screen)
{
    return screen->utf8 ? "\u2026" : "..";
}

void screen_begin(const Screen *screen, Text *to, Style style)
{
    if (screen->color && style_codes[style])
        text_printf(to, "\033[%sm", style_codes[style]);
}

void screen_end(const Screen *screen, Text *to, Style style)
{
    if (screen->color && style_codes[style])
        text_add(to, "\033[0m");
}

void screen_add(const Screen *screen, Text *to, Style style, const char *text)
{
    screen_begin(screen, to, style);
    text_add(to, text);
    screen_end(screen, to, style);
}

static void add_repeated(const Screen *screen, Text *to, Style style, const char *sign, unsigned n)
{
    screen_begin(screen, to, n ? style : STYLE_PLAIN);
    for (unsigned i = 0; i < n; i++)
        text_add(to, sign);
    screen_end(screen, to, n ? style : STYLE_PLAIN);
}

/* Columns for a share: something shows as at least one, and only all of it fills the bar. */
static unsigned share_columns(double share, unsigned width)
{
    unsigned columns;

    if (!(share > 0) || width == 0)
        return 0;
    if (share >= 1)
        return width;
    columns = (unsigned)lround(share * width);
    return columns == 0 ? 1 : columns == width ? width - 1 : columns;
}

void screen_add_bar(const Screen *screen, Text *to, unsigned width, double used, double held)
{
    unsigned n_used = share_columns(used, width);
    unsigned n_held = MIN(share_columns(held, width), width - n_used);
    Style style = used >= 0.95 ? STYLE_BAD : used >= 0.8 ? STYLE_FAIR : STYLE_GOOD;

    if (screen->utf8) {
        add_repeated(screen, to, style, "\u2588", n_used);
        add_repeated(screen, to, STYLE_WEAK, "\u2592", n_held);
        add_repeated(screen, to, STYLE_WEAK, isnan(used) ? " " : "\u00b7", width - n_used - n_held);
        return;
    }
    add_repeated(screen, to, style, "#", n_used);
    add_repeated(screen, to, STYLE_PLAIN, "+", n_held);
    add_repeated(screen, to, STYLE_WEAK, isnan(used) ? " " : ".", width - n_used - n_held);
}
