/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/bitmap.h"

#include <json-c/json.h>

/*
 * Reads values out of a document that may be anything: a value that is absent, null or of another type is unknown.
 */

DEFINE_CLEANUP(struct json_object *, json_object_put)
#define _cleanup_json_ _cleanup_(json_object_put_p)

/* Bytes inside a document; NULL: unknown. */
typedef struct Bytes {
    const char *data;
    size_t size;
} Bytes;

/* A whole document of this format. NULL with *ret_error (owned, NULL when memory is short). */
struct json_object *value_parse(const char *text, const char *format, char **ret_error);

/* Of an object's member; `object` may be NULL or no object. */
struct json_object *value_get(struct json_object *object, const char *key); /* NULL: absent or null */
uint64_t value_u64(struct json_object *object, const char *key);            /* VALUE_UNKNOWN */
double value_ratio(struct json_object *object, const char *key);            /* NAN */
Bytes value_bytes(struct json_object *object, const char *key);
bool value_true(struct json_object *object, const char *key);
/* A set as text; false when unknown, and *ret_set is empty. */
bool value_set(struct json_object *object, const char *key, unsigned highest, Bitmap *ret_set);

/* Of an array; `array` may be NULL or no array (then it has no elements). */
struct json_object *value_array(struct json_object *object, const char *key); /* NULL: unknown */
size_t value_count(struct json_object *array);
struct json_object *value_at(struct json_object *array, size_t i);
uint64_t value_u64_of(struct json_object *value); /* VALUE_UNKNOWN */

/* A document as JSON on one line, which it owns. NULL when memory is short. */
const char *value_text(struct json_object *document);

bool bytes_equal(Bytes bytes, const char *text);
bool bytes_same(Bytes a, Bytes b); /* what is unknown is the same as nothing */
