/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "display.h"

#include <locale.h>
#include <stdio.h>
#include <wchar.h>

#define REPLACEMENT 0xfffd
#define MARKS_MAX 3 /* combining characters on one letter */

void display_init(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "en_US.UTF-8");
}

/* The code point at p (n > 0 bytes left) and its length; a byte that begins none is a replacement of length 1. */
static size_t decode(const unsigned char *p, size_t n, uint32_t *ret_point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    uint32_t point = length < 2 ? p[0] : p[0] & (0x7fu >> length);

    *ret_point = REPLACEMENT;
    if (length == 0 || length > n)
        return 1;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 1;
        point = point << 6 | (p[i] & 0x3f);
    }
    if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 1;
    *ret_point = point;
    return length;
}

/* Characters without a picture that change how others are shown, or the order of a line. */
static bool is_format(uint32_t point)
{
    return point == 0xad || point == 0x61c || (point >= 0x200b && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) || point == 0xfeff ||
           (point >= 0xfff9 && point <= 0xfffb) || (point >= 0xe0000 && point <= 0xe0fff);
}

static void add_escaped(Text *to, uint32_t point)
{
    if (point == '\n')
        text_add(to, "\\n");
    else if (point == '\t')
        text_add(to, "\\t");
    else if (point == '\r')
        text_add(to, "\\r");
    else if (point == '"' || point == '\\')
        text_printf(to, "\\%c", (char)point);
    else
        text_printf(to, point < 0x80 ? "\\x%02x" : point <= 0xffff ? "\\u%04x" : "\\U%08x", point);
}

/* Columns of a character that may be shown as it is; -1: escape it. `marks` counts combining ones in a row. */
static int shown_width(uint32_t point, unsigned flags, unsigned *marks)
{
    int width;

    if (point < 0x20 || (point >= 0x7f && point < 0xa0) || is_format(point))
        return -1;
    if ((flags & DISPLAY_QUOTES) && (point == '"' || point == '\\'))
        return -1;
    if (point < 0x80) {
        *marks = 0;
        return 1;
    }
    width = flags & DISPLAY_ASCII ? -1 : wcwidth((wchar_t)point);
    if (width == 0)
        return (*marks)++ < MARKS_MAX ? 0 : -1;
    *marks = 0;
    return width;
}

char *display_escape(const char *bytes, size_t size, unsigned flags)
{
    unsigned marks = MARKS_MAX; /* none at the beginning: there is no letter to carry it */
    _cleanup_text_ Text text = {0};
    char *string = NULL;

    for (size_t i = 0, n; i < size; i += n) {
        uint32_t point;

        n = decode((const unsigned char *)bytes + i, size - i, &point);
        if (shown_width(point, flags, &marks) < 0) {
            add_escaped(&text, point);
            marks = 0;
        } else if (point == REPLACEMENT)
            text_add(&text, "\xef\xbf\xbd");
        else
            text_add_bytes(&text, bytes + i, n);
    }
    return text_take(&text, &string, NULL) < 0 ? NULL : string;
}

static unsigned point_width(uint32_t point)
{
    int width = point < 0x80 ? 1 : wcwidth((wchar_t)point);

    return width < 0 ? 1 : (unsigned)width;
}

unsigned display_width(const char *text)
{
    size_t size = strlen(text);
    unsigned width = 0;
    uint32_t point;

    for (size_t i = 0; i < size;) {
        i += decode((const unsigned char *)text + i, size - i, &point);
        width += point_width(point);
    }
    return width;
}

size_t display_fit(const char *text, unsigned width)
{
    size_t size = strlen(text), i = 0, n;
    uint32_t point;

    while (i < size) {
        n = decode((const unsigned char *)text + i, size - i, &point);
        if (point_width(point) > width)
            break;
        width -= point_width(point);
        i += n;
    }
    return i;
}

void display_add_spaces(Text *to, unsigned n)
{
    static const char spaces[] = "                                ";

    for (; n >= sizeof(spaces); n -= (unsigned)sizeof(spaces) - 1)
        text_add(to, spaces);
    text_add_bytes(to, spaces, n);
}

static unsigned add_measured(Text *to, const char *text, size_t size)
{
    _cleanup_free_ char *copy = strndup(text, size);

    if (!copy) {
        to->failed = true;
        return 0;
    }
    text_add(to, copy);
    return display_width(copy);
}

unsigned display_add_cut(Text *to, const char *text, unsigned width, const char *mark)
{
    unsigned mark_width = display_width(mark), taken;

    if (!text[display_fit(text, width)])
        return add_measured(to, text, strlen(text));
    if (width < mark_width)
        return 0;
    taken = add_measured(to, text, display_fit(text, width - mark_width));
    text_add(to, mark);
    return taken + mark_width;
}

void display_add_line(Text *to, const char *line, unsigned width)
{
    while (*line) {
        size_t run = strcspn(line, "\033"), fit;
        _cleanup_free_ char *text = strndup(line, run);

        if (!text) {
            to->failed = true;
            return;
        }
        fit = display_fit(text, width);
        text_add_bytes(to, text, fit);
        width = fit < run ? 0 : width - display_width(text);
        line += run;
        run = *line ? strcspn(line, "m") + 1 : 0;
        run = MIN(run, strlen(line));
        text_add_bytes(to, line, run);
        line += run;
    }
}

unsigned display_add_list(Text *to, const char *list, char separator, unsigned width)
{
    unsigned left = 1, width_of_tail = 0;
    const char *end;
    char tail[24] = "";

    if (!list[display_fit(list, width)])
        return add_measured(to, list, strlen(list));
    /* From the end, one element less at a time, until the rest and the count fit. */
    for (end = strrchr(list, separator); end; end = memrchr(list, separator, (size_t)(end - list)), left++) {
        width_of_tail = (unsigned)snprintf(tail, sizeof(tail), "..+%u", left);
        if ((size_t)(end - list) + width_of_tail <= width)
            break;
    }
    if (!end) { /* not even one element: half of a number would be another number */
        snprintf(tail, sizeof(tail), "..+%u", left);
        return display_add_cut(to, tail, width, "..");
    }
    text_add_bytes(to, list, (size_t)(end - list));
    text_add(to, tail);
    return (unsigned)(end - list) + width_of_tail;
}

/* Bytes of the next word to put on a line of `room` columns; one that is longer is broken, after a comma if it can. */
static size_t next_word(const char *text, unsigned room)
{
    size_t n = strcspn(text, " "), fit = display_fit(text, room);
    const char *comma;

    if (n <= fit)
        return n;
    comma = memrchr(text, ',', fit);
    return comma ? (size_t)(comma + 1 - text) : MAX(fit, (size_t)1);
}

void display_add_wrapped(Text *to, const char *text, unsigned column, unsigned indent, unsigned width)
{
    unsigned room = width > indent + 8 ? width - indent : 8;
    bool first = true; /* word of a line */

    while (*text) {
        _cleanup_free_ char *word = strndup(text, next_word(text, room));
        unsigned columns = word ? display_width(word) : 0;

        if (!word) {
            to->failed = true;
            return;
        }
        if (!first && column + 1 + columns > width) {
            text_add(to, "\n");
            display_add_spaces(to, indent);
            column = indent;
            first = true;
        }
        if (!first)
            text_add(to, " ");
        text_add(to, word);
        column += columns + !first;
        first = false;
        text += strlen(word);
        text += strspn(text, " ");
    }
}

SizeText display_size(uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    double value = (double)bytes / 1024;
    SizeText size;
    unsigned unit = 0;

    if (bytes == VALUE_UNKNOWN)
        return (SizeText){"-"};
    if (bytes == 0)
        return (SizeText){"0"};
    if (bytes < 1024)
        return (SizeText){"<1K"};
    for (; value >= 999.5 && unit + 1 < sizeof(units) - 1; unit++)
        value /= 1024;
    /* Whole mebibytes are what memory is given in; a gibibyte is wanted finer. */
    if (value >= 99.95 || (unit < 2 && value == (double)(uint64_t)value))
        snprintf(size.text, sizeof(size.text), "%.0f%c", value, units[unit]);
    else
        snprintf(size.text, sizeof(size.text), "%.1f%c", value, units[unit]);
    return size;
}

SizeText display_percent(double share)
{
    SizeText size;

    if (!(share >= 0 && share <= 1e6)) /* NAN too */
        return (SizeText){"-"};
    if (share > 0 && share < 0.01)
        return (SizeText){"<1%"};
    snprintf(size.text, sizeof(size.text), "%.0f%%", share < 1 && share > 0.99 ? 99.0 : share * 100);
    return size;
}

SizeText display_number(uint64_t value)
{
    SizeText size;

    if (value == VALUE_UNKNOWN)
        return (SizeText){"-"};
    snprintf(size.text, sizeof(size.text), "%llu", (unsigned long long)value);
    return size;
}
