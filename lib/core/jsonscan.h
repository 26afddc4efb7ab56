/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonreader.h"

/*
 * Holds a whole text against the grammar of JSON (RFC 8259), and refuses what has no one meaning: a key that an object
 * has twice, a whole number that no 64 bits hold, -0, an end or a NUL in the midst. json-c lets all of these pass and
 * makes something of them. Bytes in strings may be any, as names in xenstore are.
 *
 * At most max_depth arrays and objects in one another, and JSON_SCAN_OBJECTS_MAX objects: json-c takes 800 bytes for an
 * empty one, so that a small file could take all of a host's memory. 0, -ENOMEM or JSON_E_REFUSED.
 */
#define JSON_SCAN_OBJECTS_MAX (1u << 20)
int json_scan(JsonReader *reader, const char *text, size_t size, unsigned max_depth);
