/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "sim-keys.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 64 /* bytes of a key that are repeated to who sent it */

int sim_keys_refuse(char **ret_why, const char *key, const char *format, ...)
{
    _cleanup_free_ char *text = NULL;
    va_list arguments;
    int r;

    va_start(arguments, format);
    r = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (r < 0) {
        text = NULL;
        return -ENOMEM;
    }
    if (asprintf(ret_why, "%s: %s", key, text) < 0) {
        *ret_why = NULL;
        return -ENOMEM;
    }
    return SIM_KEYS_E_INVALID;
}

static int refuse_unknown(char **ret_why, const char *key)
{
    char shown[SHOWN_MAX + 1];
    size_t n = 0;

    for (; n < SHOWN_MAX && key[n]; n++)
        shown[n] = key[n] > ' ' && key[n] <= '~' ? key[n] : '?';
    shown[n] = '\0';
    return sim_keys_refuse(ret_why, shown, "there is no such key");
}

/* The cursor is inside the variant. */
static int read_number(sd_bus_message *call, char type, SimValue *value)
{
    uint32_t number = 0;
    int r;

    if (type == 't')
        return sd_bus_message_read_basic(call, 't', &value->number);
    r = sd_bus_message_read_basic(call, 'u', &number);
    value->number = number;
    return r;
}

static int read_value(sd_bus_message *call, const SimKey *key, SimValue *value, char **ret_why)
{
    const char type[] = {key->type, '\0'}, *given = NULL;
    int r = sd_bus_message_peek_type(call, NULL, &given);

    if (r < 0)
        return r;
    if (value->given)
        return sim_keys_refuse(ret_why, key->name, "is given twice");
    if (strcmp(given, type) != 0)
        return sim_keys_refuse(ret_why, key->name, "must have the D-Bus type '%s'", type);
    value->given = true;
    r = sd_bus_message_enter_container(call, 'v', type);
    if (r >= 0)
        r = key->type == 's' ? sd_bus_message_read_basic(call, 's', &value->text) : read_number(call, key->type, value);
    if (r >= 0 && value->text && strlen(value->text) > SIM_TEXT_MAX)
        return sim_keys_refuse(ret_why, key->name, "a text of more than %u bytes", SIM_TEXT_MAX);
    return r < 0 ? r : MIN(0, sd_bus_message_exit_container(call));
}

/* 1: an entry was read. 0: there is no more, or it was refused. */
static int read_entry(sd_bus_message *call, const SimKey *keys, SimValue *values, char **ret_why)
{
    const char *name;
    size_t i = 0;
    int r = sd_bus_message_enter_container(call, 'e', "sv");

    if (r <= 0)
        return r;
    r = sd_bus_message_read_basic(call, 's', &name);
    if (r < 0)
        return r;
    while (keys[i].name && strcmp(name, keys[i].name) != 0)
        i++;
    r = keys[i].name ? read_value(call, &keys[i], &values[i], ret_why) : refuse_unknown(ret_why, name);
    if (r != 0)
        return MIN(r, 0);
    r = sd_bus_message_exit_container(call);
    return r < 0 ? r : 1;
}

int sim_keys_read(sd_bus_message *call, const SimKey *keys, SimValue *values, char **ret_why)
{
    int r = sd_bus_message_enter_container(call, 'a', "{sv}");

    memset(values, 0, SIM_KEYS_MAX * sizeof(*values));
    while (r >= 0 && !*ret_why && (r = read_entry(call, keys, values, ret_why)) > 0)
        ;
    for (size_t i = 0; r == 0 && !*ret_why && keys[i].name; i++)
        if (keys[i].required && !values[i].given)
            r = MIN(0, sim_keys_refuse(ret_why, keys[i].name, "is missing"));
    return r < 0 ? r : *ret_why ? SIM_KEYS_E_INVALID : 0;
}
