/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bitmap.h"

#include <json-c/json.h>

/*
 * Reads typed values out of a json-c tree and says, for each refusal, where and why: "nodes[2].size: ...".
 * The first refusal is kept. Functions return 0, -ENOMEM or JSON_E_REFUSED.
 */
#define JSON_E_REFUSED 1

typedef struct JsonPath {
    const struct JsonPath *up;
    const char *key; /* NULL: an element, by index */
    size_t index;
} JsonPath;

typedef struct JsonReader {
    char *error; /* owned */
} JsonReader;

int json_refuse(JsonReader *reader, const JsonPath *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Parses a whole text, of nothing but JSON (see json_scan()). A tree of NULL is the value null. */
int json_parse(JsonReader *reader, const char *text, size_t size, unsigned max_depth, json_object **ret_tree);
static inline void json_object_putp(json_object **object)
{
    json_object_put(*object);
}

/* Refuses what is no object and any key not in the NULL-terminated list. */
int json_check_object(JsonReader *reader, const JsonPath *path, json_object *value, const char *const *known_keys);
/* Refuses what is no array or has more than max elements. */
int json_check_array(JsonReader *reader, const JsonPath *path, json_object *value, size_t max);

/* Member `key` of an object; NULL when it is missing or null. */
json_object *json_member(json_object *object, const char *key);
/* Whether member `key` is there and null. An object of NULL has no members. */
bool json_is_null(json_object *object, const char *key);

/* Of a value that is there: */
int json_read_u64(JsonReader *reader, const JsonPath *path, json_object *value, uint64_t max, uint64_t *ret);
int json_read_string(JsonReader *reader, const JsonPath *path, json_object *value, const char **ret);

/* Of a member that may be missing or null, which leaves *ret as it is: */
int json_get_u64(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, uint64_t max,
                 uint64_t *ret);
int json_get_u32(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, uint32_t max,
                 uint32_t *ret);
int json_get_bool(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, bool *ret);
int json_get_string(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, const char **ret);
int json_get_set(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, unsigned highest,
                 Bitmap *ret);
