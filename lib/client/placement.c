/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement.h"

#include "lib/core/jsonwriter.h"

#include <math.h>
#include <string.h>

/*
 * Keys come in any order and the document has them in its own: each is looked for in turn, inside the dictionary,
 * which the answer stands in all the while.
 */

static int rewind_and_skip(sd_bus_message *answer, const char *key)
{
    const char *found;
    int r = sd_bus_message_rewind(answer, false);

    while (r >= 0 && (r = sd_bus_message_enter_container(answer, 'e', "sv")) > 0) {
        r = sd_bus_message_read_basic(answer, 's', &found);
        if (r >= 0 && strcmp(found, key) == 0)
            return 1;
        if (r >= 0)
            r = sd_bus_message_skip(answer, "v");
        if (r >= 0)
            r = sd_bus_message_exit_container(answer);
    }
    return r;
}

/* Enters the value of a key: 1, or 0 when there is no such key. */
static int enter_value(sd_bus_message *answer, const char *key, const char *type)
{
    int r = rewind_and_skip(answer, key);

    return r <= 0 ? r : sd_bus_message_enter_container(answer, 'v', type);
}

static int leave_value(sd_bus_message *answer)
{
    int r = sd_bus_message_exit_container(answer);

    return r < 0 ? r : sd_bus_message_exit_container(answer);
}

/* Of a value that is a basic one: 1, or 0 when there is no such key, and *ret is as it was. */
static int read_value(sd_bus_message *answer, const char *key, char type, void *ret)
{
    const char signature[] = {type, '\0'};
    int r = enter_value(answer, key, signature);

    if (r <= 0)
        return r;
    r = sd_bus_message_read_basic(answer, type, ret);
    if (r >= 0)
        r = leave_value(answer);
    return r < 0 ? r : 1;
}

/* Each: 1 when it has copied one more element, 0 when there is no more. */
static int copy_node(sd_bus_message *answer, JsonWriter *w)
{
    uint32_t node;
    int r = sd_bus_message_read_basic(answer, 'u', &node);

    if (r > 0)
        jsonw_u64(w, NULL, node);
    return r;
}

static int copy_memory(sd_bus_message *answer, JsonWriter *w)
{
    uint32_t node;
    uint64_t bytes;
    int r = sd_bus_message_read(answer, "(ut)", &node, &bytes);

    if (r <= 0)
        return r;
    jsonw_begin(w, NULL, '{');
    jsonw_u64(w, "node", node);
    jsonw_u64(w, "bytes", bytes);
    jsonw_end(w, '}');
    return r;
}

static int copy_vcpu(sd_bus_message *answer, JsonWriter *w)
{
    const char *hard, *soft;
    uint32_t vcpu;
    int r = sd_bus_message_read(answer, "(uss)", &vcpu, &hard, &soft);

    if (r <= 0)
        return r;
    jsonw_begin(w, NULL, '{');
    jsonw_u64(w, "vcpu", vcpu);
    jsonw_string(w, "hard", hard);
    jsonw_string(w, "soft", soft);
    jsonw_end(w, '}');
    return r;
}

/* Without these there is no answer. */
static int copy_array(sd_bus_message *answer, JsonWriter *w, const char *key, const char *type,
                      int (*copy)(sd_bus_message *, JsonWriter *))
{
    int r = enter_value(answer, key, type);

    if (r <= 0)
        return r < 0 ? r : -EBADMSG;
    jsonw_begin(w, key, '[');
    r = sd_bus_message_enter_container(answer, 'a', type + 1);
    while (r > 0)
        r = copy(answer, w);
    jsonw_end(w, ']');
    if (r >= 0)
        r = sd_bus_message_exit_container(answer);
    return r < 0 ? r : leave_value(answer);
}

static int copy_u64(sd_bus_message *answer, JsonWriter *w, const char *key)
{
    uint64_t value = VALUE_UNKNOWN;
    int r = read_value(answer, key, 't', &value);

    jsonw_known(w, key, value);
    return r;
}

static int copy_u32(sd_bus_message *answer, JsonWriter *w, const char *key)
{
    uint32_t value = UINT32_MAX;
    int r = read_value(answer, key, 'u', &value);

    jsonw_id(w, key, value);
    return r;
}

static int copy_ratio(sd_bus_message *answer, JsonWriter *w, const char *key)
{
    double value = NAN;
    int r = read_value(answer, key, 'd', &value);

    jsonw_ratio(w, key, isfinite(value) ? value : NAN);
    return r;
}

static int copy_text(sd_bus_message *answer, JsonWriter *w, const char *key)
{
    const char *value = NULL;
    int r = read_value(answer, key, 's', &value);

    jsonw_string(w, key, value);
    return r;
}

static int copy_placement(sd_bus_message *answer, JsonWriter *w)
{
    int r;

    r = copy_array(answer, w, "nodes", "au", copy_node);
    if (r >= 0)
        r = copy_array(answer, w, "memory", "a(ut)", copy_memory);
    if (r >= 0)
        r = copy_u64(answer, w, "overhead");
    if (r >= 0)
        r = copy_array(answer, w, "vcpus", "a(uss)", copy_vcpu);
    if (r >= 0)
        r = copy_u32(answer, w, "extent_order");
    if (r >= 0)
        r = copy_ratio(answer, w, "expected_locality");
    if (r >= 0)
        r = copy_text(answer, w, "reason");
    return r < 0 ? r : copy_u32(answer, w, "expires_ms");
}

int placement_json(sd_bus_message *answer, const char *token, char **ret_json)
{
    JsonWriter w = {0};
    int r;

    jsonw_begin(&w, NULL, '{');
    jsonw_string(&w, "format", "numad-xen-placement/1");
    jsonw_string(&w, "token", token);
    r = sd_bus_message_enter_container(answer, 'a', "{sv}");
    if (r >= 0)
        r = copy_placement(answer, &w);
    jsonw_end(&w, '}');
    if (r >= 0)
        return text_take(&w.text, ret_json, NULL);
    text_done(&w.text);
    return r;
}
