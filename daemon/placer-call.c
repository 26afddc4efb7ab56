/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "placer-call.h"

#include "clock.h"

#include <stdarg.h>
#include <stdio.h>

PlacerCall *placer_call_free(PlacerCall *call)
{
    if (!call)
        return NULL;
    placement_request_done(&call->request);
    free(call->why);
    reservation_unref(call->reservation);
    placement_free(call->placement);
    free(call);
    return NULL;
}

void placer_call_fail(PlacerCall *call, int error, const char *format, ...)
{
    va_list arguments;
    int r;

    free(call->why);
    call->reservation = reservation_unref(call->reservation);
    va_start(arguments, format);
    r = vasprintf(&call->why, format, arguments);
    va_end(arguments);
    if (r < 0)
        call->why = NULL;
    call->error = r < 0 ? -ENOMEM : error;
}

void placer_call_fail_books(PlacerCall *call, int r, const Books *books)
{
    _cleanup_free_ char *why = books_explain(books, r);

    if (why)
        placer_call_fail(call, r, "%s", why);
    else
        call->error = -ENOMEM;
}

static uint64_t left_ms(const Reservation *reservation)
{
    return (sub_saturating(reservation->expires_us, clock_us(CLOCK_BOOTTIME)) + 999) / 1000;
}

void placer_call_tell(PlacerCall *call)
{
    const PlacerOutcome outcome = {
        .error = call->error,
        .why = call->error ? call->why : NULL,
        .reservation = call->reservation,
        .placement = call->placement,
        .expires_ms = call->reservation ? left_ms(call->reservation) : 0,
        .changed = call->changed,
    };

    if (call->done)
        call->done(&outcome, call->userdata);
    placer_call_free(call);
}

int call_list_add(CallList *list, PlacerCall *call)
{
    PlacerCall **items = reallocarray(list->items, list->n + 1, sizeof(*items));

    if (!items)
        return -ENOMEM;
    list->items = items;
    items[list->n++] = call;
    return 0;
}

bool call_list_remove(CallList *list, const PlacerCall *call)
{
    size_t i = 0;

    while (i < list->n && list->items[i] != call)
        i++;
    if (i == list->n)
        return false;
    list->n--;
    for (; i < list->n; i++)
        list->items[i] = list->items[i + 1];
    return true;
}

PlacerCall *call_list_take_first(CallList *list)
{
    PlacerCall *first = list->n > 0 ? list->items[0] : NULL;

    if (first)
        (void)call_list_remove(list, first);
    return first;
}

void call_list_done(CallList *list)
{
    for (size_t i = 0; i < list->n; i++)
        placer_call_free(list->items[i]);
    free(list->items);
    *list = (CallList){0};
}
