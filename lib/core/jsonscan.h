/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonreader.h"

/*
 * Holds a whole text against the grammar of JSON (RFC 8259), and refuses what has no one meaning: a key that an object
 * has twice, a whole number that no 64 bits hold, -0, an end or a NUL in the midst. json-c lets all of these pass and
 * makes something of them. Bytes in strings may be any, as names in xenstore are.
 *
 * At most max_depth arrays and objects in one another. 0, -ENOMEM or JSON_E_REFUSED.
 */
int json_scan(JsonReader *reader, const char *text, size_t size, unsigned max_depth);
