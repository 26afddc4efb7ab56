/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jsonscan.h"

#include <ctype.h>

/*
 * One pass over the text, a call for each value. An object's keys are kept, decoded, until its end; how many there may
 * be keeps the search for a second one short.
 */

#define MAX_KEYS 256
#define MAX_SHOWN 40 /* of a number, in a message */

typedef struct Scan {
    JsonReader *reader;
    const char *text, *end;
    const char *p; /* where the scan is */
    unsigned max_depth;
    unsigned n_objects;
} Scan;

static int scan_value(Scan *scan, const JsonPath *path, unsigned depth);

/* --- refusals --- */

static int refuse_at(Scan *scan, const char *at, const char *why)
{
    size_t line = 1, column = 1;

    for (const char *p = scan->text; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    return json_refuse(scan->reader, NULL, "not JSON: line %zu, column %zu: %s", line, column, why);
}

/* What was wanted is not at the scan's place. */
static int refuse_here(Scan *scan, const char *why)
{
    return refuse_at(scan, scan->p, scan->p == scan->end ? "the text ends too early" : why);
}

static bool at(const Scan *scan, char c)
{
    return scan->p < scan->end && *scan->p == c;
}

static bool at_digit(const Scan *scan)
{
    return scan->p < scan->end && isdigit((unsigned char)*scan->p);
}

static void skip_space(Scan *scan)
{
    while (at(scan, ' ') || at(scan, '\n') || at(scan, '\t') || at(scan, '\r'))
        scan->p++;
}

/* --- strings --- */

static int hex_value(char c)
{
    if (isdigit((unsigned char)c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * After a backslash. Adds to `key`, unless it is NULL, what the escape stands for; one beyond ASCII, which no key of
 * ours holds, as a form of its own that is the same for the same number.
 */
static int scan_escape(Scan *scan, Text *key)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = scan->p < scan->end && *scan->p ? strchr(letters, *scan->p) : NULL;
    unsigned code = 0;

    if (letter) {
        scan->p++;
        if (key)
            text_add_bytes(key, &meanings[letter - letters], 1);
        return 0;
    }
    if (!at(scan, 'u'))
        return refuse_here(scan, "no such escape");
    scan->p++;
    for (unsigned i = 0; i < 4; i++, scan->p++) {
        if (scan->p == scan->end || hex_value(*scan->p) < 0)
            return refuse_here(scan, "\\u needs four hexadecimal digits");
        code = code << 4 | (unsigned)hex_value(*scan->p);
    }
    if (key && code == 0)
        return refuse_at(scan, scan->p, "a zero byte in a key");
    if (key && code < 0x80)
        text_add_bytes(key, &(char){(char)code}, 1);
    else if (key)
        text_printf(key, "\\u%04x", code);
    return 0;
}

/* A string at its quote. */
static int scan_string(Scan *scan, Text *key)
{
    int r = 0;

    scan->p++;
    while (r == 0 && !at(scan, '"')) {
        const char *plain = scan->p;

        while (scan->p < scan->end && *scan->p != '"' && *scan->p != '\\' && (unsigned char)*scan->p >= 0x20)
            scan->p++;
        if (key)
            text_add_bytes(key, plain, (size_t)(scan->p - plain));
        if (at(scan, '\\')) {
            scan->p++;
            r = scan_escape(scan, key);
        } else if (!at(scan, '"'))
            r = refuse_here(scan, "a control character in a text: write it as \\u00..");
    }
    if (r == 0)
        scan->p++;
    return r;
}

/* --- numbers --- */

/* Whether the digits are a number above what 64 bits hold, with a sign 63. */
static bool too_large(const char *digits, const char *end, bool negative)
{
    uint64_t value = 0;

    for (; digits < end; digits++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*digits - '0'), &value))
            return true;
    return negative && value > UINT64_C(1) << 63;
}

static int scan_digits(Scan *scan)
{
    if (!at_digit(scan))
        return refuse_here(scan, "a digit is missing");
    while (at_digit(scan))
        scan->p++;
    return 0;
}

static int check_whole(Scan *scan, const JsonPath *path, const char *start)
{
    bool negative = *start == '-';
    const char *digits = start + negative;
    int shown = (int)MIN(scan->p - start, MAX_SHOWN);

    if (*digits == '0' && scan->p - digits > 1)
        return refuse_at(scan, start, "a number begins with 0");
    if (negative && *digits == '0')
        return json_refuse(scan->reader, path, "-0 is no whole number");
    if (too_large(digits, scan->p, negative))
        return json_refuse(scan->reader, path, "must be a whole number that 64 bits hold, not %.*s%s", shown, start,
                           scan->p - start > MAX_SHOWN ? "..." : "");
    return 0;
}

static int scan_number(Scan *scan, const JsonPath *path)
{
    const char *start = scan->p, *whole;
    int r;

    if (at(scan, '-'))
        scan->p++;
    r = scan_digits(scan);
    whole = scan->p;
    if (r == 0 && at(scan, '.')) {
        scan->p++;
        r = scan_digits(scan);
    }
    if (r == 0 && (at(scan, 'e') || at(scan, 'E'))) {
        scan->p++;
        if (at(scan, '+') || at(scan, '-'))
            scan->p++;
        r = scan_digits(scan);
    }
    if (r != 0)
        return r;
    if (scan->p == whole)
        return check_whole(scan, path, start);
    start += *start == '-';
    return *start == '0' && whole - start > 1 ? refuse_at(scan, start, "a number begins with 0") : 0;
}

/* --- arrays and objects --- */

/* What follows an element: a comma and another one, or the end. Passes it. */
static int scan_more(Scan *scan, char end, const char *why, bool *ret_more)
{
    skip_space(scan);
    if (!at(scan, ',') && !at(scan, end))
        return refuse_here(scan, why);
    *ret_more = *scan->p++ == ',';
    return 0;
}

/* Passes a bracket, and the closing one behind it. */
static bool scan_empty(Scan *scan, char end)
{
    scan->p++;
    skip_space(scan);
    if (!at(scan, end))
        return false;
    scan->p++;
    return true;
}

static int scan_array(Scan *scan, const JsonPath *up, unsigned depth)
{
    JsonPath path = {.up = up};
    bool more = !scan_empty(scan, ']');
    int r = 0;

    for (; r == 0 && more; path.index++) {
        r = scan_value(scan, &path, depth);
        if (r == 0)
            r = scan_more(scan, ']', "a comma or ] is missing", &more);
    }
    return r;
}

/* The keys of an object so far, each ended by a zero byte. */
typedef struct Keys {
    Text text;
    size_t n;
} Keys;

static void keys_done(Keys *keys)
{
    text_done(&keys->text);
}

/* A key, which is added to the others. *ret_key is valid until the next one. */
static int scan_key(Scan *scan, const JsonPath *up, Keys *keys, const char **ret_key)
{
    size_t start = keys->text.size;
    const char *key;
    int r;

    skip_space(scan);
    if (!at(scan, '"'))
        return refuse_here(scan, "a key in double quotes is missing");
    if (keys->n++ == MAX_KEYS)
        return json_refuse(scan->reader, up, "has more than %d keys", MAX_KEYS);
    r = scan_string(scan, &keys->text);
    if (r != 0)
        return r;
    text_add_bytes(&keys->text, "", 1);
    if (keys->text.failed)
        return -ENOMEM;
    *ret_key = keys->text.data + start;
    for (key = keys->text.data; key < *ret_key; key += strlen(key) + 1)
        if (strcmp(key, *ret_key) == 0)
            return json_refuse(scan->reader, &(JsonPath){.up = up, .key = key}, "is there twice");
    return 0;
}

static int scan_member(Scan *scan, const JsonPath *up, Keys *keys, unsigned depth)
{
    JsonPath path = {.up = up};
    int r = scan_key(scan, up, keys, &path.key);

    if (r != 0)
        return r;
    skip_space(scan);
    if (!at(scan, ':'))
        return refuse_here(scan, "a colon is missing");
    scan->p++;
    return scan_value(scan, &path, depth);
}

static int scan_object(Scan *scan, const JsonPath *path, unsigned depth)
{
    _cleanup_(keys_done) Keys keys = {0};
    bool more = !scan_empty(scan, '}');
    int r = 0;

    if (++scan->n_objects > JSON_SCAN_OBJECTS_MAX)
        return json_refuse(scan->reader, path, "there are more than %u objects in all", JSON_SCAN_OBJECTS_MAX);
    while (r == 0 && more) {
        r = scan_member(scan, path, &keys, depth);
        if (r == 0)
            r = scan_more(scan, '}', "a comma or } is missing", &more);
    }
    return r;
}

static int scan_word(Scan *scan)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        size_t n = strlen(words[i]);

        if ((size_t)(scan->end - scan->p) >= n && memcmp(scan->p, words[i], n) == 0) {
            scan->p += n;
            return 0;
        }
    }
    return refuse_here(scan, "no value begins like this");
}

static int scan_value(Scan *scan, const JsonPath *path, unsigned depth)
{
    skip_space(scan);
    if (at(scan, '"'))
        return scan_string(scan, NULL);
    if (at(scan, '-') || at_digit(scan))
        return scan_number(scan, path);
    if (!at(scan, '{') && !at(scan, '['))
        return scan_word(scan);
    if (depth == scan->max_depth)
        return refuse_at(scan, scan->p, "nested too deep");
    return at(scan, '{') ? scan_object(scan, path, depth + 1) : scan_array(scan, path, depth + 1);
}

int json_scan(JsonReader *reader, const char *text, size_t size, unsigned max_depth)
{
    Scan scan = {.reader = reader, .text = text, .p = text, .end = text + size, .max_depth = max_depth};
    int r = scan_value(&scan, NULL, 0);

    if (r != 0)
        return r;
    skip_space(&scan);
    return scan.p == scan.end ? 0 : refuse_at(&scan, scan.p, "something follows the document");
}
