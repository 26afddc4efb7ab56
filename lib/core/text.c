/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

void text_done(Text *text)
{
    free(text->data);
    *text = (Text){0};
}

/* Makes room for n more bytes and the final 0. */
static bool reserve(Text *text, size_t n)
{
    size_t capacity = MAX(text->capacity, (size_t)64);
    char *data;

    if (text->failed)
        return false;
    if (n < text->capacity && text->size < text->capacity - n)
        return true;
    if (n > SIZE_MAX / 4 - text->size) {
        text->failed = true;
        return false;
    }
    while (capacity <= text->size + n)
        capacity *= 2;
    data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_add_bytes(Text *text, const char *bytes, size_t n)
{
    if (!reserve(text, n))
        return;
    memcpy(text->data + text->size, bytes, n);
    text->size += n;
    text->data[text->size] = '\0';
}

void text_add_u64(Text *text, uint64_t value)
{
    char digits[20];
    size_t i = sizeof(digits);

    do
        digits[--i] = (char)('0' + value % 10);
    while (value /= 10);
    text_add_bytes(text, digits + i, sizeof(digits) - i);
}

void text_printf(Text *text, const char *format, ...)
{
    char *string = NULL;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vasprintf(&string, format, ap);
    va_end(ap);
    if (n < 0) {
        text->failed = true;
        return;
    }
    text_add_bytes(text, string, (size_t)n);
    free(string);
}

int text_take(Text *text, char **ret_string, size_t *ret_size)
{
    text_add_bytes(text, "", 0); /* an empty text is a string too */
    if (text->failed) {
        text_done(text);
        return -ENOMEM;
    }
    *ret_string = text->data;
    if (ret_size)
        *ret_size = text->size;
    *text = (Text){0};
    return 0;
}
