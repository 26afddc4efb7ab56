/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "uuid.h"

#include <string.h>

/* Whether a hyphen stands before that byte. */
static bool is_group(size_t i)
{
    return i == 4 || i == 6 || i == 8 || i == 10;
}

const char *uuid_to_text(const uint8_t uuid[16], char text[UUID_TEXT_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    char *p = text;

    for (size_t i = 0; i < 16; i++) {
        if (is_group(i))
            *p++ = '-';
        *p++ = hex[uuid[i] >> 4];
        *p++ = hex[uuid[i] & 15];
    }
    *p = '\0';
    return text;
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool uuid_from_text(const char *text, uint8_t ret_uuid[16])
{
    uint8_t uuid[16];

    for (size_t i = 0; i < sizeof(uuid); i++) {
        int high, low;

        if (is_group(i) && *text++ != '-')
            return false;
        high = hex_digit(*text);
        low = high < 0 ? -1 : hex_digit(text[1]);
        if (low < 0)
            return false;
        uuid[i] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    if (*text)
        return false;
    memcpy(ret_uuid, uuid, sizeof(uuid));
    return true;
}
