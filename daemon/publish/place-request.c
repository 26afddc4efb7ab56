/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "place-request.h"

#include "shown.h"

#include "lib/core/uuid.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * A table of keys: each has one D-Bus type and one function that takes its value. What a caller controls is bounded
 * before it is copied; what he wrote is repeated to him only as far as SHOWN_MAX bytes.
 */

#define TEXT_MAX (64u << 10) /* bytes of any text: the longest list of 8192 CPUs has 39 KiB */

typedef struct Reading {
    sd_bus_message *call;
    PlacementRequest *request;
    const char *key;
    uint64_t given; /* a bit for each key of the table */
    char *why;
} Reading;

static int invalid(Reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int invalid(Reading *reading, const char *format, ...)
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
    if (asprintf(&reading->why, "%s: %s", shown(reading->key).text, text) < 0) {
        reading->why = NULL;
        return -ENOMEM;
    }
    return REQUEST_E_INVALID;
}

/* A text of a bounded length. */
static int read_text(Reading *reading, const char **ret_text)
{
    int r = sd_bus_message_read_basic(reading->call, 's', ret_text);

    if (r < 0)
        return r;
    if (!**ret_text)
        return invalid(reading, "an empty text: leave the key out instead");
    return strlen(*ret_text) > TEXT_MAX ? invalid(reading, "a text of more than %u bytes", TEXT_MAX) : 0;
}

static int copy_text(Reading *reading, char **to)
{
    const char *text;
    int r = read_text(reading, &text);

    if (r != 0)
        return r;
    *to = strdup(text);
    return *to ? 0 : -ENOMEM;
}

static int take_vcpus(Reading *reading)
{
    return MIN(0, sd_bus_message_read_basic(reading->call, 'u', &reading->request->vcpus));
}

static int take_memory(Reading *reading)
{
    return MIN(0, sd_bus_message_read_basic(reading->call, 't', &reading->request->memory));
}

static int take_max_memory(Reading *reading)
{
    int r = sd_bus_message_read_basic(reading->call, 't', &reading->request->max_memory);

    if (r >= 0 && reading->request->max_memory == 0)
        return invalid(reading, "0 bytes: less than memory");
    return MIN(r, 0);
}

static int take_name(Reading *reading)
{
    return copy_text(reading, &reading->request->name);
}

static int take_uuid(Reading *reading)
{
    static const uint8_t nil[16];
    const char *text;
    int r = read_text(reading, &text);

    if (r != 0)
        return r;
    if (!uuid_from_text(text, reading->request->uuid))
        return invalid(reading, "'%s' is no UUID", shown(text).text);
    if (memcmp(reading->request->uuid, nil, sizeof(nil)) == 0)
        return invalid(reading, "the UUID of all zeros names no domain");
    reading->request->has_uuid = true;
    return 0;
}

static int take_type(Reading *reading)
{
    const char *text;
    int r = read_text(reading, &text);

    if (r != 0)
        return r;
    for (DomainType type = DOMAIN_TYPE_PV; type < _DOMAIN_TYPE_MAX; type++)
        if (strcmp(text, domain_type_to_text(type)) == 0) {
            reading->request->type = type;
            return 0;
        }
    return invalid(reading, "'%s': must be pv, pvh or hvm", shown(text).text);
}

static int take_policy(Reading *reading)
{
    const char *text;
    int r = read_text(reading, &text);

    if (r != 0)
        return r;
    reading->request->has_policy = true;
    return policy_from_text(text, &reading->request->policy)
               ? 0
               : invalid(reading, "'%s': must be balance, pack, interleave or any", shown(text).text);
}

static int take_nodes(Reading *reading)
{
    const void *data;
    const uint32_t *nodes;
    size_t size = 0;
    int r = sd_bus_message_read_array(reading->call, 'u', &data, &size);

    if (r < 0)
        return r;
    if (size / sizeof(*nodes) > NODES_MAX)
        return invalid(reading, "%zu entries: a host has at most %u nodes", size / sizeof(*nodes), NODES_MAX);
    nodes = data;
    reading->request->has_nodes = true;
    for (size_t i = 0; i < size / sizeof(*nodes); i++) {
        if (nodes[i] >= NODES_MAX)
            return invalid(reading, "there is no node %" PRIu32, nodes[i]);
        r = bitmap_set(&reading->request->nodes, nodes[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int take_cpus(Reading *reading)
{
    const char *text;
    int r = read_text(reading, &text);

    if (r != 0)
        return r;
    reading->request->has_cpus = true;
    r = bitmap_parse(&reading->request->cpus, text, CPUS_MAX - 1);
    if (r <= 0)
        return r;
    return r == BITMAP_E_RANGE ? invalid(reading, "a CPU above %u in '%s'", CPUS_MAX - 1, shown(text).text)
                               : invalid(reading, "'%s' is no list of CPUs as '0-3,8'", shown(text).text);
}

static int take_pool(Reading *reading)
{
    int r = sd_bus_message_read_basic(reading->call, 'u', &reading->request->pool);

    if (r >= 0 && reading->request->pool == ROW_NO_POOL)
        return invalid(reading, "there is no pool %" PRIu32, ROW_NO_POOL);
    return MIN(r, 0);
}

static int take_near(Reading *reading)
{
    char pci[PCI_TEXT_SIZE];
    const char *text;
    int r = read_text(reading, &text);

    if (r != 0)
        return r;
    if (!placement_request_pci(text, pci))
        return invalid(reading, "'%s' is no PCI address as '0000:3b:00.0'", shown(text).text);
    reading->request->near = strdup(pci);
    return reading->request->near ? 0 : -ENOMEM;
}

static int take_strict(Reading *reading)
{
    int value = 0, r = sd_bus_message_read_basic(reading->call, 'b', &value);

    reading->request->strict = value;
    return MIN(r, 0);
}

static int take_ttl_ms(Reading *reading)
{
    int r = sd_bus_message_read_basic(reading->call, 'u', &reading->request->ttl_ms);

    if (r >= 0 && reading->request->ttl_ms == 0)
        return invalid(reading, "0: allowed is from %u to %u", REQUEST_TTL_MS_MIN, REQUEST_TTL_MS_MAX);
    return MIN(r, 0);
}

static int take_threads(Reading *reading)
{
    int r = sd_bus_message_read_basic(reading->call, 'u', &reading->request->threads_per_core);

    if (r >= 0 && reading->request->threads_per_core == 0)
        return invalid(reading, "0: a core has from 1 to %u", REQUEST_THREADS_MAX);
    return MIN(r, 0);
}

static const struct {
    const char *key, *type;
    int (*take)(Reading *reading);
    bool required;
} keys[] = {
    {"vcpus", "u", take_vcpus, true},
    {"memory", "t", take_memory, true},
    {"max_memory", "t", take_max_memory, false},
    {"name", "s", take_name, false},
    {"uuid", "s", take_uuid, false},
    {"type", "s", take_type, false},
    {"policy", "s", take_policy, false},
    {"nodes", "au", take_nodes, false},
    {"cpus", "s", take_cpus, false},
    {"pool", "u", take_pool, false},
    {"near", "s", take_near, false},
    {"strict", "b", take_strict, false},
    {"ttl_ms", "u", take_ttl_ms, false},
    {"threads_per_core", "u", take_threads, false},
};

/* The cursor is inside the variant's entry, behind the key. */
static int take_value(Reading *reading)
{
    const char *type = NULL;
    size_t i = 0;
    int r = sd_bus_message_peek_type(reading->call, NULL, &type);

    if (r < 0)
        return r;
    while (i < ARRAY_SIZE(keys) && strcmp(reading->key, keys[i].key) != 0)
        i++;
    if (i == ARRAY_SIZE(keys))
        return invalid(reading, "there is no such key");
    if (reading->given & 1ull << i)
        return invalid(reading, "is given twice");
    if (strcmp(type, keys[i].type) != 0)
        return invalid(reading, "has the D-Bus type '%s', must have '%s'", shown(type).text, keys[i].type);
    reading->given |= 1ull << i;
    r = sd_bus_message_enter_container(reading->call, 'v', type);
    if (r >= 0)
        r = keys[i].take(reading);
    return r == 0 ? sd_bus_message_exit_container(reading->call) : r;
}

/* 1: an entry was taken. 0: there is no more. */
static int take_entry(Reading *reading)
{
    int r = sd_bus_message_enter_container(reading->call, 'e', "sv");

    if (r <= 0)
        return r;
    r = sd_bus_message_read_basic(reading->call, 's', &reading->key);
    if (r >= 0)
        r = take_value(reading);
    if (r < 0 || reading->why)
        return r;
    r = sd_bus_message_exit_container(reading->call);
    return r < 0 ? r : 1;
}

static int check(Reading *reading)
{
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        reading->key = keys[i].key;
        if (keys[i].required && !(reading->given & 1ull << i))
            return invalid(reading, "is missing");
    }
    return placement_request_check(reading->request, &reading->why);
}

int place_request_read(sd_bus_message *call, PlacementRequest *request, char **ret_why)
{
    Reading reading = {.call = call, .request = request};
    int r = sd_bus_message_enter_container(call, 'a', "{sv}");

    *request = (PlacementRequest){.pool = ROW_NO_POOL};
    while (r >= 0 && !reading.why && (r = take_entry(&reading)) > 0)
        ;
    if (r == 0)
        r = check(&reading);
    *ret_why = reading.why;
    return reading.why ? REQUEST_E_INVALID : r;
}
