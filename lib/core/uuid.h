/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

#define UUID_TEXT_SIZE 37

/* In its usual form, lower case; returns `text`. */
const char *uuid_to_text(const uint8_t uuid[16], char text[UUID_TEXT_SIZE]);
/* Of its usual form, any case; false: it is none. */
bool uuid_from_text(const char *text, uint8_t ret_uuid[16]);

/* The value of a hexadecimal digit of any case; negative: it is none. */
int hex_digit(char c);
