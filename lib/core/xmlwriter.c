/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xmlwriter.h"

#define INDENT 2

static void add_line(XmlWriter *w)
{
    static const char spaces[] = "\n                                ";

    text_add_bytes(&w->text, spaces, 1 + MIN(w->depth * INDENT, sizeof(spaces) - 2));
}

static void close_tag(XmlWriter *w)
{
    if (w->in_tag)
        text_add_bytes(&w->text, ">", 1);
    w->in_tag = false;
}

void xmlw_begin(XmlWriter *w, const char *element)
{
    close_tag(w);
    if (w->text.size)
        add_line(w);
    text_add_bytes(&w->text, "<", 1);
    text_add(&w->text, element);
    w->depth++;
    w->in_tag = true;
}

void xmlw_end(XmlWriter *w, const char *element)
{
    w->depth--;
    if (w->in_tag) {
        text_add_bytes(&w->text, "/>", 2);
        w->in_tag = false;
        return;
    }
    if (!w->in_content)
        add_line(w);
    w->in_content = false;
    text_add_bytes(&w->text, "</", 2);
    text_add(&w->text, element);
    text_add_bytes(&w->text, ">", 1);
}

void xmlw_content_raw(XmlWriter *w, const Text *raw)
{
    close_tag(w);
    w->in_content = true;
    w->text.failed |= raw->failed;
    text_add_bytes(&w->text, raw->data, raw->size);
}

static void begin_attribute(XmlWriter *w, const char *name)
{
    text_add_bytes(&w->text, " ", 1);
    text_add(&w->text, name);
    text_add_bytes(&w->text, "=\"", 2);
}

void xmlw_attribute_u64(XmlWriter *w, const char *name, uint64_t value)
{
    begin_attribute(w, name);
    text_add_u64(&w->text, value);
    text_add_bytes(&w->text, "\"", 1);
}

void xmlw_attribute_raw(XmlWriter *w, const char *name, const Text *raw)
{
    w->text.failed |= raw->failed;
    begin_attribute(w, name);
    text_add_bytes(&w->text, raw->data, raw->size);
    text_add_bytes(&w->text, "\"", 1);
}

/* How the byte is written in a value; NULL: as it is. */
static const char *escape_of(unsigned char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return byte < 0x20 ? "\xef\xbf\xbd" : NULL;
    }
}

void xmlw_attribute(XmlWriter *w, const char *name, const char *value)
{
    begin_attribute(w, name);
    while (*value) {
        const char *escape = escape_of((unsigned char)*value);
        size_t n = 1;

        if (strncmp(value, "\xef\xbf\xbe", 3) == 0 || strncmp(value, "\xef\xbf\xbf", 3) == 0) {
            escape = "\xef\xbf\xbd"; /* U+FFFE and U+FFFF are no characters of XML */
            n = 3;
        }
        if (escape)
            text_add(&w->text, escape);
        else
            text_add_bytes(&w->text, value, n);
        value += n;
    }
    text_add_bytes(&w->text, "\"", 1);
}
