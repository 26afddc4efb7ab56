/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* Names come from guests' owners as bytes; D-Bus drops senders of invalid UTF-8, JSON readers refuse it. */

/*
 * Length of the valid sequence at p, in a text that ends in 0; 0 when there is none: no overlong forms, surrogates or
 * values past U+10FFFF.
 */
size_t utf8_length(const unsigned char *p);

/*
 * A copy in which every byte that is not part of valid UTF-8, and every noncharacter like U+FFFF, is replaced by
 * U+FFFD. NULL when memory is short.
 */
char *utf8_sanitize(const char *bytes);

/* The same in place, for an owned string; NULL stays NULL. 0 or -ENOMEM. */
int utf8_replace(char **string);
