/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

/* Numbers as arguments. What is too large for 64 bits becomes UINT64_MAX, which no limit admits. */

bool number_from_text(const char *text, uint64_t *ret_value); /* digits and nothing else */

#define SIZE_ALLOWED "a whole number of bytes, or with K, M, G or T behind it"
bool size_from_text(const char *text, uint64_t *ret_bytes); /* SIZE_ALLOWED, binary */
