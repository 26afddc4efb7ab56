/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "text.h"

/* Base64 with the ordinary alphabet and padding (RFC 4648, section 4), without line breaks. */

void base64_encode(Text *to, const uint8_t *bytes, size_t size);

#define BASE64_E_INVALID 1 /* not what base64_encode() would write for any bytes */
/* 0 (never NULL, also for no bytes; free with free()), -ENOMEM or BASE64_E_INVALID. */
int base64_decode(const char *text, uint8_t **ret_bytes, size_t *ret_size);
