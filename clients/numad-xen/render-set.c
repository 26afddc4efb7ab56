/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#define STEPS_MIN 4u /* fewer members are told one by one */

/* The highest member that is reached from `first` in steps of `step`, members between which there are no others. */
static unsigned last_of_steps(const Bitmap *set, unsigned first, unsigned step, unsigned *ret_n)
{
    unsigned last = first;

    for (*ret_n = 1; bitmap_next(set, last + 1) == last + step; (*ret_n)++)
        last += step;
    return last;
}

/* Adds the next run or row of steps; returns its last member. */
static unsigned add_run(const Bitmap *set, unsigned first, bool *folded, Text *to)
{
    unsigned next = bitmap_next(set, first + 1), n, last;

    if (next == UINT32_MAX) {
        text_printf(to, "%u", first);
        return first;
    }
    last = last_of_steps(set, first, next - first, &n);
    if (next == first + 1)
        text_printf(to, "%u-%u", first, last);
    else if (n >= STEPS_MIN) {
        text_printf(to, "%u-%u:%u", first, last, next - first);
        *folded = true;
    } else {
        text_printf(to, "%u", first);
        return first;
    }
    return last;
}

char *render_set(const Bitmap *set, unsigned columns, bool *folded)
{
    _cleanup_free_ char *plain = bitmap_to_text(set);
    _cleanup_text_ Text text = {0};
    char *string = NULL;
    bool any = false;

    if (!plain || strlen(plain) <= columns)
        return TAKE_PTR(plain);
    for (unsigned i = bitmap_next(set, 0); i != UINT32_MAX; i = bitmap_next(set, i + 1)) {
        text_add(&text, text.size ? "," : "");
        i = add_run(set, i, &any, &text);
    }
    *folded = *folded || any;
    return text_take(&text, &string, NULL) < 0 ? NULL : string;
}

void render_add_set(Table *table, const Bitmap *set, bool known, unsigned columns, bool *folded)
{
    _cleanup_free_ char *text = NULL;

    if (!known)
        table_add(table, STYLE_PLAIN, "-");
    else if (bitmap_isempty(set))
        table_add(table, STYLE_WEAK, "none");
    else {
        text = render_set(set, columns, folded);
        table_add_bytes(table, STYLE_PLAIN, text, text ? strlen(text) : 0);
    }
}

void render_step_note(const Screen *screen, unsigned width, Text *to)
{
    render_note(screen, width, to, "0-12:4 is 0,4,8,12, as taskset(1) writes it.");
}
