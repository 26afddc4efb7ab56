/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jsonreader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

static void print_path(const JsonPath *path, Text *text)
{
    if (!path)
        return;
    print_path(path->up, text);
    if (!path->key)
        text_printf(text, "[%zu]", path->index);
    else
        text_printf(text, text->size ? ".%s" : "%s", path->key);
}

int json_refuse(JsonReader *reader, const JsonPath *path, const char *format, ...)
{
    _cleanup_text_ Text text = {0};
    _cleanup_free_ char *reason = NULL;
    va_list ap;
    int n;

    if (reader->error)
        return JSON_E_REFUSED;
    va_start(ap, format);
    n = vasprintf(&reason, format, ap);
    va_end(ap);
    if (n < 0) {
        reason = NULL;
        return -ENOMEM;
    }
    print_path(path, &text);
    text_printf(&text, text.size ? ": %s" : "%s", reason);
    return text_take(&text, &reader->error, NULL) < 0 ? -ENOMEM : JSON_E_REFUSED;
}

/* Whether the digits are a number above 2^64 - 1. */
static bool too_large(const char *digits, size_t n)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(digits[i] - '0'), &value))
            return true;
    return false;
}

/*
 * json-c turns a whole number that is too large into the largest it knows, without a word. Such a number is given an
 * exponent here: it is then read as a fraction, and refused, with its path, by whoever wants a whole number there.
 */
static void mark_large_numbers(char *text, size_t size)
{
    bool in_string = false;

    for (size_t i = 0; i < size; i++) {
        size_t n = 0;

        if (in_string && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            in_string = !in_string;
        else if (!in_string && isdigit((unsigned char)text[i])) {
            while (i + n < size && isdigit((unsigned char)text[i + n]))
                n++;
            if (too_large(text + i, n)) {
                text[i + n - 2] = 'e';
                text[i + n - 1] = '9';
            }
            i += n - 1;
        }
    }
}

static const char *parse_error(json_tokener *tokener, size_t size)
{
    enum json_tokener_error error = json_tokener_get_error(tokener);

    if (error == json_tokener_continue || (error == json_tokener_success && size == 0))
        return "the text ends too early";
    if (error == json_tokener_error_depth)
        return "nested too deep";
    return json_tokener_error_desc(error);
}

int json_parse(JsonReader *reader, const char *text, size_t size, int max_depth, json_object **ret_tree)
{
    _cleanup_free_ char *copy = NULL;
    json_tokener *tokener = NULL;
    json_object *tree = NULL;
    int r = 0;

    if (size > INT32_MAX)
        return json_refuse(reader, NULL, "too large");
    copy = new_array(size, 1);
    tokener = json_tokener_new_ex(max_depth);
    if (!copy || !tokener) {
        if (tokener)
            json_tokener_free(tokener);
        return -ENOMEM;
    }
    if (size)
        memcpy(copy, text, size);
    mark_large_numbers(copy, size);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    tree = json_tokener_parse_ex(tokener, copy, (int)size);
    if (!tree)
        r = json_refuse(reader, NULL, "not JSON: %s, at byte %zu", parse_error(tokener, size),
                        json_tokener_get_parse_end(tokener));
    json_tokener_free(tokener);
    if (r == 0)
        *ret_tree = tree;
    return r;
}

int json_check_object(JsonReader *reader, const JsonPath *path, json_object *value, const char *const *known_keys)
{
    if (!json_object_is_type(value, json_type_object))
        return json_refuse(reader, path, "must be an object");
    json_object_object_foreach (value, key, member) {
        const char *const *known = known_keys;

        (void)member;
        while (*known && strcmp(*known, key) != 0)
            known++;
        if (!*known)
            return json_refuse(reader, &(JsonPath){.up = path, .key = key}, "unknown key");
    }
    return 0;
}

int json_check_array(JsonReader *reader, const JsonPath *path, json_object *value, size_t max)
{
    if (!json_object_is_type(value, json_type_array))
        return json_refuse(reader, path, "must be an array");
    if (json_object_array_length(value) > max)
        return json_refuse(reader, path, "has %zu elements, more than %zu", json_object_array_length(value), max);
    return 0;
}

json_object *json_member(json_object *object, const char *key)
{
    json_object *value = NULL;

    return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

bool json_is_null(json_object *object, const char *key)
{
    json_object *value = NULL;

    return json_object_object_get_ex(object, key, &value) && !value;
}

int json_read_u64(JsonReader *reader, const JsonPath *path, json_object *value, uint64_t max, uint64_t *ret)
{
    uint64_t number;

    if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
        return json_refuse(reader, path, "must be a whole number from 0 to %" PRIu64, max);
    number = json_object_get_uint64(value);
    if (number > max)
        return json_refuse(reader, path, "is %" PRIu64 ", above %" PRIu64, number, max);
    *ret = number;
    return 0;
}

int json_read_string(JsonReader *reader, const JsonPath *path, json_object *value, const char **ret)
{
    if (!json_object_is_type(value, json_type_string))
        return json_refuse(reader, path, "must be a text");
    if (strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
        return json_refuse(reader, path, "holds a zero byte");
    *ret = json_object_get_string(value);
    return 0;
}

int json_get_u64(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, uint64_t max,
                 uint64_t *ret)
{
    json_object *value = json_member(object, key);

    return value ? json_read_u64(reader, &(JsonPath){.up = up, .key = key}, value, max, ret) : 0;
}

int json_get_u32(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, uint32_t max,
                 uint32_t *ret)
{
    uint64_t number = *ret;
    int r = json_get_u64(reader, up, object, key, max, &number);

    *ret = (uint32_t)number;
    return r;
}

int json_get_bool(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, bool *ret)
{
    json_object *value = json_member(object, key);

    if (!value)
        return 0;
    if (!json_object_is_type(value, json_type_boolean))
        return json_refuse(reader, &(JsonPath){.up = up, .key = key}, "must be true or false");
    *ret = json_object_get_boolean(value);
    return 0;
}

int json_get_string(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, const char **ret)
{
    json_object *value = json_member(object, key);

    return value ? json_read_string(reader, &(JsonPath){.up = up, .key = key}, value, ret) : 0;
}

int json_get_set(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, unsigned highest,
                 Bitmap *ret)
{
    JsonPath path = {.up = up, .key = key};
    const char *text = NULL;
    int r = json_get_string(reader, up, object, key, &text);

    if (r != 0 || !text)
        return r;
    switch (r = bitmap_parse(ret, text, highest)) {
    case BITMAP_E_SYNTAX:
        return json_refuse(reader, &path, "'%s' is not a list like \"0-3,8\"", text);
    case BITMAP_E_RANGE:
        return json_refuse(reader, &path, "'%s' names a number above %u", text, highest);
    case BITMAP_E_BACKWARD:
        return json_refuse(reader, &path, "'%s' has a backward range", text);
    default:
        return r;
    }
}
