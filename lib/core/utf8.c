/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "utf8.h"

#include "text.h"

/*
 * Values that are no characters and never will be: U+FDD0..U+FDEF, and the last two of each plane. They are valid
 * UTF-8, but sd-bus refuses a message that has one.
 */
static bool is_noncharacter(const unsigned char *p, size_t n)
{
    if (n == 3)
        return p[0] == 0xef && ((p[1] == 0xb7 && p[2] >= 0x90 && p[2] <= 0xaf) || (p[1] == 0xbf && p[2] >= 0xbe));
    return n == 4 && (p[1] & 0x0f) == 0x0f && p[2] == 0xbf && p[3] >= 0xbe;
}

size_t utf8_length(const unsigned char *p)
{
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return n;
}

char *utf8_sanitize(const char *bytes)
{
    _cleanup_text_ Text text = {0};
    char *string = NULL;

    while (*bytes) {
        size_t n = utf8_length((const unsigned char *)bytes);

        if (n && !is_noncharacter((const unsigned char *)bytes, n))
            text_add_bytes(&text, bytes, n);
        else
            text_add(&text, "\xef\xbf\xbd");
        bytes += MAX(n, (size_t)1);
    }
    return text_take(&text, &string, NULL) < 0 ? NULL : string;
}

int utf8_replace(char **string)
{
    char *clean;

    if (!*string)
        return 0;
    clean = utf8_sanitize(*string);
    if (!clean)
        return -ENOMEM;
    free(*string);
    *string = clean;
    return 0;
}
