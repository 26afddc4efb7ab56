/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jsonreader.h"

#include "jsonscan.h"

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

static int parse(JsonReader *reader, json_tokener *tokener, const char *text, int size, json_object **ret_tree)
{
    json_object *tree = json_tokener_parse_ex(tokener, text, size);
    enum json_tokener_error error = json_tokener_get_error(tokener);

    if (error == json_tokener_continue) { /* a number ends with the text, for all that json-c knows */
        tree = json_tokener_parse_ex(tokener, "", -1);
        error = json_tokener_get_error(tokener);
    }
    if (error != json_tokener_success)
        return json_refuse(reader, NULL, "not JSON: %s, at byte %zu", json_tokener_error_desc(error),
                           json_tokener_get_parse_end(tokener));
    *ret_tree = tree;
    return 0;
}

int json_parse(JsonReader *reader, const char *text, size_t size, unsigned max_depth, json_object **ret_tree)
{
    json_tokener *tokener;
    int r;

    if (size > INT32_MAX)
        return json_refuse(reader, NULL, "too large");
    r = json_scan(reader, text, size, max_depth);
    if (r != 0)
        return r;
    tokener = json_tokener_new_ex((int)max_depth + 2); /* json-c counts the values too */
    if (!tokener)
        return -ENOMEM;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    r = parse(reader, tokener, text, (int)size, ret_tree);
    json_tokener_free(tokener);
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
