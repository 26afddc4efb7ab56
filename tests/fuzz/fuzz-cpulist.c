/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/core/bitmap.h"

/* A set that was read is printed in the one canonical way, which gives the same set again. */
static void check_set(const Bitmap *set)
{
    _cleanup_bitmap_ Bitmap again = {0};
    _cleanup_free_ char *text = bitmap_to_text(set), *second = NULL;

    FUZZ_HOLDS(text && bitmap_parse(&again, text, CPUS_MAX - 1) == 0);
    FUZZ_HOLDS(bitmap_equal(set, &again) && bitmap_weight(set) == bitmap_weight_and(set, &again));
    second = bitmap_to_text(&again);
    FUZZ_HOLDS(second && strcmp(text, second) == 0);
}

/* Any text: a set of CPUs, or one of the reasons why it is none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_bitmap_ Bitmap set = {0};
    _cleanup_free_ char *text = strndup((const char *)data, size);
    int r;

    if (!text)
        return 0;
    r = bitmap_parse(&set, text, CPUS_MAX - 1);
    FUZZ_HOLDS(r == 0 || r == BITMAP_E_SYNTAX || r == BITMAP_E_RANGE || r == BITMAP_E_BACKWARD || r == -ENOMEM);
    FUZZ_HOLDS(r == 0 || bitmap_isempty(&set));
    if (r == 0)
        check_set(&set);
    return 0;
}
