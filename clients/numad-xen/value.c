/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 32

static struct json_object *fail(char **ret_error, const char *format, const char *what)
{
    if (asprintf(ret_error, format, what) < 0)
        *ret_error = NULL;
    return NULL;
}

struct json_object *value_parse(const char *text, const char *format, char **ret_error)
{
    _cleanup_json_ struct json_object *document = NULL;
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
    enum json_tokener_error error;
    size_t n = strlen(text);

    if (!tokener || n > INT32_MAX - 1)
        return fail(ret_error, "%s", "the document is too large");
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    document = json_tokener_parse_ex(tokener, text, (int)n + 1); /* the final 0 ends a bare number */
    error = json_tokener_get_error(tokener);
    if (error == json_tokener_success && json_tokener_get_parse_end(tokener) < n)
        error = json_tokener_error_parse_unexpected;
    json_tokener_free(tokener);
    if (error != json_tokener_success)
        return fail(ret_error, "the document is no JSON: %s", json_tokener_error_desc(error));
    if (!bytes_equal(value_bytes(document, "format"), format))
        return fail(ret_error, "the document is no %s: is numad-xend of another version?", format);
    return TAKE_PTR(document);
}

struct json_object *value_get(struct json_object *object, const char *key)
{
    struct json_object *value;

    if (!json_object_is_type(object, json_type_object) || !json_object_object_get_ex(object, key, &value))
        return NULL;
    return value;
}

uint64_t value_u64_of(struct json_object *value)
{
    if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
        return VALUE_UNKNOWN;
    return json_object_get_uint64(value);
}

uint64_t value_u64(struct json_object *object, const char *key)
{
    return value_u64_of(value_get(object, key));
}

double value_ratio(struct json_object *object, const char *key)
{
    struct json_object *value = value_get(object, key);
    double ratio;

    if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double))
        return NAN;
    ratio = json_object_get_double(value);
    return isfinite(ratio) ? ratio : NAN;
}

Bytes value_bytes(struct json_object *object, const char *key)
{
    struct json_object *value = value_get(object, key);

    if (!json_object_is_type(value, json_type_string))
        return (Bytes){0};
    return (Bytes){json_object_get_string(value), (size_t)json_object_get_string_len(value)};
}

bool value_true(struct json_object *object, const char *key)
{
    struct json_object *value = value_get(object, key);

    return json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

bool value_set(struct json_object *object, const char *key, unsigned highest, Bitmap *ret_set)
{
    Bytes bytes = value_bytes(object, key);

    return bytes.data && bitmap_parse(ret_set, bytes.data, highest) == 0;
}

struct json_object *value_array(struct json_object *object, const char *key)
{
    struct json_object *value = value_get(object, key);

    return json_object_is_type(value, json_type_array) ? value : NULL;
}

size_t value_count(struct json_object *array)
{
    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

struct json_object *value_at(struct json_object *array, size_t i)
{
    return json_object_array_get_idx(array, i);
}

const char *value_text(struct json_object *document)
{
    return json_object_to_json_string_ext(document, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

bool bytes_equal(Bytes bytes, const char *text)
{
    return bytes.data && bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

bool bytes_same(Bytes a, Bytes b)
{
    return a.data && b.data && a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}
