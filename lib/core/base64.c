/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base64.h"

/*
 * Only one text stands for given bytes, so that a description that is read and written again does not change. Three
 * bytes are four letters; what is missing of the last three is '='.
 */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(Text *to, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        size_t n = MIN(size - i, (size_t)3);
        uint32_t bits = (uint32_t)bytes[i] << 16;
        char letters[4];

        if (n > 1)
            bits |= (uint32_t)bytes[i + 1] << 8;
        if (n > 2)
            bits |= bytes[i + 2];
        for (size_t j = 0; j < 4; j++)
            letters[j] = j <= n ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
        text_add_bytes(to, letters, 4);
    }
}

/* Which letter of the alphabet it is; -1: none. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Reads four letters, `n_letters` of which are no padding. False when they are none, or leave bits over. */
static bool decode_group(const char *letters, size_t n_letters, uint8_t *to)
{
    uint32_t bits = 0;

    for (size_t j = 0; j < n_letters; j++) {
        int value = value_of(letters[j]);

        if (value < 0)
            return false;
        bits |= (uint32_t)value << (18 - 6 * j);
    }
    for (size_t j = 0; j + 1 < n_letters; j++)
        to[j] = (uint8_t)(bits >> (16 - 8 * j));
    return n_letters == 4 || (bits & (n_letters == 3 ? 0xffu : 0xffffu)) == 0;
}

int base64_decode(const char *text, uint8_t **ret_bytes, size_t *ret_size)
{
    size_t n = strlen(text), padding = 0;
    uint8_t *bytes;

    if (n % 4 != 0)
        return BASE64_E_INVALID;
    while (n && padding < 2 && text[n - 1 - padding] == '=')
        padding++;
    bytes = new_array(n / 4 * 3, 1);
    if (!bytes)
        return -ENOMEM;
    for (size_t i = 0; i < n; i += 4)
        if (!decode_group(text + i, i + 4 == n ? 4 - padding : 4, bytes + i / 4 * 3)) {
            free(bytes);
            return BASE64_E_INVALID;
        }
    *ret_bytes = bytes;
    *ret_size = n / 4 * 3 - padding;
    return 0;
}
