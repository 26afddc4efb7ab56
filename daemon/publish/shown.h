/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* As much of a text as is repeated to who sent it: whole characters of UTF-8, and none that a terminal acts on. */
#define SHOWN_MAX 64 /* bytes */

typedef struct Shown {
    char text[SHOWN_MAX + 4];
} Shown;

/* At most `max` bytes of it, SHOWN_MAX or less. */
static inline Shown shown_some(const char *text, size_t max)
{
    Shown result;
    size_t n = strnlen(text, max + 1);
    bool cut = n > max;

    if (cut)
        for (n = max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
            ;
    for (size_t i = 0; i < n; i++)
        result.text[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
    memcpy(result.text + n, cut ? "..." : "", cut ? 4 : 1);
    return result;
}

static inline Shown shown(const char *text)
{
    return shown_some(text, SHOWN_MAX);
}
