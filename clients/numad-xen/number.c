/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "number.h"

#include <string.h>

/* Reads the digits at text; behind them, or NULL when there are none. */
static const char *take_digits(const char *text, uint64_t *ret_value)
{
    const char *p = text;
    uint64_t value = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');

        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *ret_value = value;
    return p == text ? NULL : p;
}

bool number_from_text(const char *text, uint64_t *ret_value)
{
    const char *end = take_digits(text, ret_value);

    return end && !*end;
}

bool size_from_text(const char *text, uint64_t *ret_bytes)
{
    static const char units[] = "KMGT";
    uint64_t value;
    const char *p = take_digits(text, &value), *unit = p && *p ? strchr(units, *p) : NULL;

    if (!p || (*p && (!unit || p[1])))
        return false;
    for (ptrdiff_t n = unit ? unit - units + 1 : 0; n > 0; n--)
        value = value > UINT64_MAX / 1024 ? UINT64_MAX : value * 1024;
    *ret_bytes = value;
    return true;
}
