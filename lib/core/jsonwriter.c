/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jsonwriter.h"

#include <math.h>
#include <stdio.h>

static void add_escaped(Text *text, const char *value)
{
    const char *plain = value;

    text_add_bytes(text, "\"", 1);
    for (const char *p = value; *p; p++) {
        if (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
            continue;
        text_add_bytes(text, plain, (size_t)(p - plain));
        if (*p == '"' || *p == '\\')
            text_printf(text, "\\%c", *p);
        else
            text_printf(text, "\\u%04x", (unsigned)*p);
        plain = p + 1;
    }
    text_add(text, plain);
    text_add_bytes(text, "\"", 1);
}

/* What stands before a value: comma and key. Keys are ours and need no escaping. */
static void before(JsonWriter *w, const char *key)
{
    if (w->comma)
        text_add_bytes(&w->text, ",", 1);
    w->comma = true;
    if (key) {
        text_add_bytes(&w->text, "\"", 1);
        text_add(&w->text, key);
        text_add_bytes(&w->text, "\":", 2);
    }
}

void jsonw_begin(JsonWriter *w, const char *key, char bracket)
{
    before(w, key);
    text_add_bytes(&w->text, &bracket, 1);
    w->comma = false;
}

void jsonw_end(JsonWriter *w, char bracket)
{
    text_add_bytes(&w->text, &bracket, 1);
    w->comma = true;
}

void jsonw_null(JsonWriter *w, const char *key)
{
    before(w, key);
    text_add(&w->text, "null");
}

void jsonw_bool(JsonWriter *w, const char *key, bool value)
{
    before(w, key);
    text_add(&w->text, value ? "true" : "false");
}

void jsonw_u64(JsonWriter *w, const char *key, uint64_t value)
{
    before(w, key);
    text_add_u64(&w->text, value);
}

void jsonw_known(JsonWriter *w, const char *key, uint64_t value)
{
    if (value == VALUE_UNKNOWN)
        jsonw_null(w, key);
    else
        jsonw_u64(w, key, value);
}

void jsonw_id(JsonWriter *w, const char *key, uint32_t value)
{
    jsonw_known(w, key, value == UINT32_MAX ? VALUE_UNKNOWN : value);
}

/* Rounds to 6 decimals and drops zeros at the end, but for one: 1.0, 0.25, 0.333333. */
void jsonw_ratio(JsonWriter *w, const char *key, double value)
{
    char digits[64];
    int n;

    if (isnan(value)) {
        jsonw_null(w, key);
        return;
    }
    before(w, key);
    n = snprintf(digits, sizeof(digits), "%.6f", value);
    while (n > 2 && digits[n - 1] == '0' && digits[n - 2] != '.')
        n--;
    text_add_bytes(&w->text, digits, (size_t)n);
}

void jsonw_string(JsonWriter *w, const char *key, const char *value)
{
    if (!value) {
        jsonw_null(w, key);
        return;
    }
    before(w, key);
    add_escaped(&w->text, value);
}

void jsonw_set(JsonWriter *w, const char *key, const Bitmap *set)
{
    before(w, key);
    text_add_bytes(&w->text, "\"", 1);
    bitmap_print(set, &w->text);
    text_add_bytes(&w->text, "\"", 1);
}
