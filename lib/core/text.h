/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

#include <string.h>

/*
 * A text that grows. A zeroed Text is empty. Running out of memory is remembered, further additions do nothing, and
 * text_take() tells: a writer checks once, at its end.
 */
typedef struct Text {
    char *data; /* always ends in 0 once anything was added */
    size_t size, capacity;
    bool failed;
} Text;

void text_done(Text *text);
#define _cleanup_text_ _cleanup_(text_done)

void text_add_bytes(Text *text, const char *bytes, size_t n);
void text_add_u64(Text *text, uint64_t value);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void text_add(Text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string));
}

/* Hands the string over (never NULL on success) and empties the text. 0 or -ENOMEM. */
int text_take(Text *text, char **ret_string, size_t *ret_size);

/* For messages: "1 node", "2 nodes"; "is", "are". */
static inline const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}
static inline const char *are(size_t n)
{
    return n == 1 ? "is" : "are";
}
