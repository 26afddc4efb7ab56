/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bitmap.h"

/*
 * Writes JSON text front to back, with the commas. The documents are read with json-c; they are written by this
 * because the status of a thousand domains is made once a second: as a tree of json-c objects it takes 17 ms and
 * 11 MB of heap, like this 2 ms and its text (tests/bench/json.c).
 *
 * A key of NULL stands for an element of an array. Values that are not known become null.
 */
typedef struct JsonWriter {
    Text text;
    bool comma; /* something stands before, on this level */
} JsonWriter;

void jsonw_begin(JsonWriter *w, const char *key, char bracket); /* '{' or '[' */
void jsonw_end(JsonWriter *w, char bracket);                    /* '}' or ']' */
void jsonw_null(JsonWriter *w, const char *key);
void jsonw_bool(JsonWriter *w, const char *key, bool value);
void jsonw_u64(JsonWriter *w, const char *key, uint64_t value);
void jsonw_known(JsonWriter *w, const char *key, uint64_t value); /* null for VALUE_UNKNOWN */
void jsonw_id(JsonWriter *w, const char *key, uint32_t value);    /* null for UINT32_MAX: CPU_NONE, ROW_INVALID... */
void jsonw_ratio(JsonWriter *w, const char *key, double value);   /* at most 6 decimals; null for NAN */
void jsonw_string(JsonWriter *w, const char *key, const char *value); /* valid UTF-8; null for NULL */
void jsonw_set(JsonWriter *w, const char *key, const Bitmap *set);    /* as text, "0-3,8" */
