/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bitmap.h"

#include <ctype.h>
#include <string.h>

#define WORD_BITS 64u

void bitmap_done(Bitmap *b)
{
    free(b->words);
    *b = (Bitmap){0};
}

static int grow(Bitmap *b, size_t n_words)
{
    uint64_t *words;

    if (n_words <= b->n_words)
        return 0;
    words = reallocarray(b->words, n_words, sizeof(*words));
    if (!words)
        return -ENOMEM;
    memset(words + b->n_words, 0, (n_words - b->n_words) * sizeof(*words));
    b->words = words;
    b->n_words = n_words;
    return 0;
}

int bitmap_set(Bitmap *b, unsigned bit)
{
    int r = grow(b, bit / WORD_BITS + 1);

    if (r < 0)
        return r;
    b->words[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
    return 0;
}

int bitmap_set_range(Bitmap *b, unsigned low, unsigned high)
{
    int r = grow(b, high / WORD_BITS + 1);

    if (r < 0)
        return r;
    for (unsigned i = low / WORD_BITS; i <= high / WORD_BITS; i++) {
        uint64_t word = ~UINT64_C(0);

        if (i == low / WORD_BITS)
            word &= ~UINT64_C(0) << low % WORD_BITS;
        if (i == high / WORD_BITS)
            word &= ~UINT64_C(0) >> (WORD_BITS - 1 - high % WORD_BITS);
        b->words[i] |= word;
    }
    return 0;
}

static size_t used_words(const Bitmap *b)
{
    size_t n = b->n_words;

    while (n && !b->words[n - 1])
        n--;
    return n;
}

int bitmap_copy(Bitmap *to, const Bitmap *from)
{
    size_t n = used_words(from);
    int r = grow(to, n);

    if (r < 0)
        return r;
    if (n)
        memcpy(to->words, from->words, n * sizeof(*to->words));
    if (to->n_words > n)
        memset(to->words + n, 0, (to->n_words - n) * sizeof(*to->words));
    return 0;
}

int bitmap_and(Bitmap *to, const Bitmap *a, const Bitmap *b)
{
    size_t n = MIN(a->n_words, b->n_words);
    int r = grow(to, n);

    if (r < 0)
        return r;
    for (size_t i = 0; i < to->n_words; i++)
        to->words[i] = i < n ? a->words[i] & b->words[i] : 0;
    return 0;
}

int bitmap_or(Bitmap *to, const Bitmap *from)
{
    size_t n = used_words(from);
    int r = grow(to, n);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        to->words[i] |= from->words[i];
    return 0;
}

int bitmap_from_bytes(Bitmap *to, const uint8_t *bytes, size_t n_bytes)
{
    int r = grow(to, (n_bytes + 7) / 8);

    if (r < 0)
        return r;
    for (size_t i = 0; i < to->n_words; i++)
        to->words[i] = 0;
    for (size_t i = 0; i < n_bytes; i++)
        to->words[i / 8] |= (uint64_t)bytes[i] << i % 8 * 8;
    return 0;
}

void bitmap_clear(Bitmap *b, unsigned bit)
{
    if (bit / WORD_BITS < b->n_words)
        b->words[bit / WORD_BITS] &= ~(UINT64_C(1) << bit % WORD_BITS);
}

void bitmap_cut(Bitmap *b, unsigned n_bits)
{
    size_t full = n_bits / WORD_BITS;

    if (full >= b->n_words)
        return;
    b->words[full] &= (UINT64_C(1) << n_bits % WORD_BITS) - 1;
    for (size_t i = full + 1; i < b->n_words; i++)
        b->words[i] = 0;
}

bool bitmap_isset(const Bitmap *b, unsigned bit)
{
    return bit / WORD_BITS < b->n_words && b->words[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

bool bitmap_isempty(const Bitmap *b)
{
    return used_words(b) == 0;
}

bool bitmap_equal(const Bitmap *a, const Bitmap *b)
{
    size_t n = used_words(a);

    return n == used_words(b) && (!n || memcmp(a->words, b->words, n * sizeof(*a->words)) == 0);
}

unsigned bitmap_weight(const Bitmap *b)
{
    return bitmap_weight_and(b, b);
}

unsigned bitmap_weight_and(const Bitmap *a, const Bitmap *b)
{
    size_t n = MIN(a->n_words, b->n_words);
    unsigned weight = 0;

    for (size_t i = 0; i < n; i++)
        weight += (unsigned)__builtin_popcountll(a->words[i] & b->words[i]);
    return weight;
}

unsigned bitmap_next(const Bitmap *b, unsigned from)
{
    for (size_t i = from / WORD_BITS; i < b->n_words; i++) {
        uint64_t word = b->words[i];

        if (i == from / WORD_BITS)
            word &= ~UINT64_C(0) << from % WORD_BITS;
        if (word)
            return (unsigned)(i * WORD_BITS) + (unsigned)__builtin_ctzll(word);
    }
    return UINT32_MAX;
}

/* First number at or above `from` that is not a member. */
static unsigned next_absent(const Bitmap *b, unsigned from)
{
    for (size_t i = from / WORD_BITS; i < b->n_words; i++) {
        uint64_t word = ~b->words[i];

        if (i == from / WORD_BITS)
            word &= ~UINT64_C(0) << from % WORD_BITS;
        if (word)
            return (unsigned)(i * WORD_BITS) + (unsigned)__builtin_ctzll(word);
    }
    return MAX(from, (unsigned)(b->n_words * WORD_BITS));
}

void bitmap_print(const Bitmap *b, Text *text)
{
    const char *comma = "";

    for (unsigned low = bitmap_next(b, 0); low != UINT32_MAX;) {
        unsigned end = next_absent(b, low);

        text_add(text, comma);
        text_add_u64(text, low);
        if (end - low > 1) {
            text_add(text, "-");
            text_add_u64(text, end - 1);
        }
        comma = ",";
        low = bitmap_next(b, end);
    }
}

char *bitmap_to_text(const Bitmap *b)
{
    _cleanup_text_ Text text = {0};
    char *string = NULL;

    bitmap_print(b, &text);
    return text_take(&text, &string, NULL) < 0 ? NULL : string;
}

static int parse_number(const char **text, unsigned highest, unsigned *ret)
{
    uint64_t value = 0;

    if (!isdigit((unsigned char)**text))
        return BITMAP_E_SYNTAX;
    for (; isdigit((unsigned char)**text); (*text)++) {
        value = value * 10 + (uint64_t)(**text - '0');
        if (value > highest)
            return BITMAP_E_RANGE;
    }
    *ret = (unsigned)value;
    return 0;
}

int bitmap_parse(Bitmap *b, const char *text, unsigned highest)
{
    _cleanup_bitmap_ Bitmap parsed = {0};
    const char *p = text;

    while (*p) {
        unsigned low, high;
        int r = parse_number(&p, highest, &low);

        high = low;
        if (r == 0 && *p == '-') {
            p++;
            r = parse_number(&p, highest, &high);
        }
        if (r == 0 && high < low)
            r = BITMAP_E_BACKWARD;
        if (r == 0 && *p && (*p++ != ',' || !*p))
            r = BITMAP_E_SYNTAX;
        if (r == 0)
            r = bitmap_set_range(&parsed, low, high);
        if (r != 0)
            return r;
    }
    bitmap_done(b);
    *b = parsed;
    parsed = (Bitmap){0};
    return 0;
}
