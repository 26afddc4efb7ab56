/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "callers.h"

#include <string.h>

void callers_done(Callers *callers)
{
    for (size_t i = 0; i < callers->n; i++)
        free(callers->items[i].name);
    *callers = (Callers){0};
}

bool callers_find(Callers *callers, const char *name, uid_t *ret_uid)
{
    for (size_t i = 0; i < callers->n; i++) {
        Caller *caller = &callers->items[i];

        if (strcmp(caller->name, name) != 0)
            continue;
        caller->used = ++callers->clock;
        *ret_uid = caller->uid;
        return true;
    }
    return false;
}

void callers_add(Callers *callers, const char *name, uid_t uid)
{
    Caller *place = &callers->items[0];
    char *copy = strdup(name);

    if (!copy)
        return;
    for (size_t i = 1; i < callers->n; i++)
        if (callers->items[i].used < place->used)
            place = &callers->items[i];
    if (callers->n < CALLERS_MAX)
        place = &callers->items[callers->n++];
    free(place->name);
    *place = (Caller){.name = copy, .uid = uid, .used = ++callers->clock};
}
