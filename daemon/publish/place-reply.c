/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "place-reply.h"

#include "reply.h"

#include <math.h>
#include <string.h>

/* The sets as texts, which many vCPUs share. */
typedef struct SetTexts {
    size_t n;
    char **items; /* owned */
} SetTexts;

static void set_texts_done(SetTexts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->items[i]);
    free(texts->items);
}

static int set_texts_fill(SetTexts *texts, const Placement *placement)
{
    texts->items = new_array(placement->n_sets, sizeof(*texts->items));
    if (!texts->items)
        return -ENOMEM;
    for (; texts->n < placement->n_sets; texts->n++) {
        texts->items[texts->n] = bitmap_to_text(&placement->sets[texts->n]);
        if (!texts->items[texts->n])
            return -ENOMEM;
    }
    return 0;
}

/* An upper bound of what the message needs. */
static size_t message_size(const Placement *placement, const SetTexts *texts)
{
    size_t size = 4096 + strlen(placement->reason) + 24 * placement->n_memory;

    for (size_t i = 0; i < placement->n_vcpus; i++)
        size += 32 + strlen(texts->items[placement->vcpus[i].hard]) + strlen(texts->items[placement->vcpus[i].soft]);
    return size;
}

static int open_entry(sd_bus_message *reply, const char *key, const char *type)
{
    int r = sd_bus_message_open_container(reply, 'e', "sv");

    if (r >= 0)
        r = sd_bus_message_append_basic(reply, 's', key);
    return r < 0 ? r : sd_bus_message_open_container(reply, 'v', type);
}

static int close_entry(sd_bus_message *reply)
{
    int r = sd_bus_message_close_container(reply);

    return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int open_array(sd_bus_message *reply, const char *key, const char *type)
{
    int r = open_entry(reply, key, type);

    return r < 0 ? r : sd_bus_message_open_container(reply, 'a', type + 1);
}

static int close_array(sd_bus_message *reply)
{
    int r = sd_bus_message_close_container(reply);

    return r < 0 ? r : close_entry(reply);
}

static int append_nodes(sd_bus_message *reply, const Placement *placement)
{
    int r = open_array(reply, "nodes", "au");

    for (size_t i = 0; r >= 0 && i < placement->n_memory; i++)
        r = sd_bus_message_append_basic(reply, 'u', &placement->memory[i].node);
    return r < 0 ? r : close_array(reply);
}

static int append_memory(sd_bus_message *reply, const Placement *placement)
{
    int r = open_array(reply, "memory", "a(ut)");

    for (size_t i = 0; r >= 0 && i < placement->n_memory; i++)
        r = sd_bus_message_append(reply, "(ut)", placement->memory[i].node, placement->memory[i].bytes);
    return r < 0 ? r : close_array(reply);
}

static int append_vcpus(sd_bus_message *reply, const Placement *placement, const SetTexts *texts)
{
    int r = open_array(reply, "vcpus", "a(uss)");

    for (size_t i = 0; r >= 0 && i < placement->n_vcpus; i++)
        r = sd_bus_message_append(reply, "(uss)", (uint32_t)i, texts->items[placement->vcpus[i].hard],
                                  texts->items[placement->vcpus[i].soft]);
    return r < 0 ? r : close_array(reply);
}

/* What has no value has no entry: there is no null on D-Bus. */
static int append_numbers(sd_bus_message *reply, const Placement *placement, uint64_t expires_ms)
{
    int r = sd_bus_message_append(reply, "{sv}", "overhead", "t", placement->overhead);

    if (r >= 0 && placement->extent_order != UINT32_MAX)
        r = sd_bus_message_append(reply, "{sv}", "extent_order", "u", placement->extent_order);
    if (r >= 0 && !isnan(placement->expected_locality))
        r = sd_bus_message_append(reply, "{sv}", "expected_locality", "d",
                                  round(placement->expected_locality * 1e6) / 1e6); /* as in the documents */
    if (r >= 0)
        r = sd_bus_message_append(reply, "{sv}", "reason", "s", placement->reason);
    if (r >= 0)
        r = sd_bus_message_append(reply, "{sv}", "expires_ms", "u", (uint32_t)MIN(expires_ms, UINT32_MAX));
    return r;
}

int place_reply_new(sd_bus_message *call, const char *token, const Placement *placement, uint64_t expires_ms,
                    sd_bus_message **ret_reply)
{
    __attribute__((cleanup(sd_bus_message_unrefp))) sd_bus_message *reply = NULL;
    _cleanup_(set_texts_done) SetTexts texts = {0};
    int r = set_texts_fill(&texts, placement);

    if (r < 0)
        return r;
    if (message_size(placement, &texts) > REPLY_BODY_MAX)
        return -EMSGSIZE;
    r = sd_bus_message_new_method_return(call, &reply);
    if (r >= 0)
        r = sd_bus_message_append_basic(reply, 's', token);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "{sv}");
    if (r >= 0)
        r = append_nodes(reply, placement);
    if (r >= 0)
        r = append_memory(reply, placement);
    if (r >= 0)
        r = append_vcpus(reply, placement, &texts);
    if (r >= 0)
        r = append_numbers(reply, placement, expires_ms);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        *ret_reply = TAKE_PTR(reply);
    return MIN(r, 0);
}
