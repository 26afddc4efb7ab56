/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "request.h"

#include "lib/core/utf8.h"

#include <string.h>

/* Request keys of the contract; the daemon judges their values. Kept by key, so that setting one again replaces it. */
typedef enum Key {
    KEY_VCPUS,
    KEY_MEMORY,
    KEY_MAX_MEMORY,
    KEY_NAME,
    KEY_UUID,
    KEY_TYPE,
    KEY_POLICY,
    KEY_NODES,
    KEY_CPUS,
    KEY_POOL,
    KEY_NEAR,
    KEY_STRICT,
    KEY_TTL_MS,
    KEY_THREADS_PER_CORE,
    _KEY_MAX
} Key;

static const struct {
    const char *name, *type;
} keys[_KEY_MAX] = {
    [KEY_VCPUS] = {"vcpus", "u"},
    [KEY_MEMORY] = {"memory", "t"},
    [KEY_MAX_MEMORY] = {"max_memory", "t"},
    [KEY_NAME] = {"name", "s"},
    [KEY_UUID] = {"uuid", "s"},
    [KEY_TYPE] = {"type", "s"},
    [KEY_POLICY] = {"policy", "s"},
    [KEY_NODES] = {"nodes", "au"},
    [KEY_CPUS] = {"cpus", "s"},
    [KEY_POOL] = {"pool", "u"},
    [KEY_NEAR] = {"near", "s"},
    [KEY_STRICT] = {"strict", "b"},
    [KEY_TTL_MS] = {"ttl_ms", "u"},
    [KEY_THREADS_PER_CORE] = {"threads_per_core", "u"},
};

typedef struct Value {
    bool set;
    uint64_t number;
    char *text;      /* owned */
    uint32_t *nodes; /* owned, `number` of them */
} Value;

struct numadx_request {
    Value values[_KEY_MAX];
};

EXPORT numadx_request *numadx_request_new(void)
{
    return calloc(1, sizeof(numadx_request));
}

EXPORT void numadx_request_free(numadx_request *request)
{
    for (Key key = 0; request && key < _KEY_MAX; key++) {
        free(request->values[key].text);
        free(request->values[key].nodes);
    }
    free(request);
}

static int set_number(numadx_request *request, Key key, uint64_t number)
{
    request->values[key].set = true;
    request->values[key].number = number;
    return 0;
}

/* What is no UTF-8 would cost the caller its connection. */
static bool is_utf8(const char *text)
{
    while (*text) {
        size_t n = utf8_length((const unsigned char *)text);

        if (n == 0)
            return false;
        text += n;
    }
    return true;
}

static int set_text(numadx_request *request, Key key, const char *text)
{
    char *copy;

    if (!is_utf8(text))
        return -EINVAL;
    copy = strdup(text);
    if (!copy)
        return -ENOMEM;
    free(request->values[key].text);
    request->values[key].text = copy;
    request->values[key].set = true;
    return 0;
}

EXPORT int numadx_request_set_vcpus(numadx_request *request, uint32_t vcpus)
{
    return set_number(request, KEY_VCPUS, vcpus);
}

EXPORT int numadx_request_set_memory(numadx_request *request, uint64_t bytes)
{
    return set_number(request, KEY_MEMORY, bytes);
}

EXPORT int numadx_request_set_max_memory(numadx_request *request, uint64_t bytes)
{
    return set_number(request, KEY_MAX_MEMORY, bytes);
}

EXPORT int numadx_request_set_name(numadx_request *request, const char *name)
{
    return set_text(request, KEY_NAME, name);
}

EXPORT int numadx_request_set_uuid(numadx_request *request, const char *uuid)
{
    return set_text(request, KEY_UUID, uuid);
}

EXPORT int numadx_request_set_type(numadx_request *request, const char *type)
{
    return set_text(request, KEY_TYPE, type);
}

EXPORT int numadx_request_set_policy(numadx_request *request, const char *policy)
{
    return set_text(request, KEY_POLICY, policy);
}

EXPORT int numadx_request_set_nodes(numadx_request *request, const uint32_t *nodes, size_t n)
{
    uint32_t *copy = new_array(n, sizeof(*copy));

    if (!copy)
        return -ENOMEM;
    if (n)
        memcpy(copy, nodes, n * sizeof(*copy));
    free(request->values[KEY_NODES].nodes);
    request->values[KEY_NODES].nodes = copy;
    return set_number(request, KEY_NODES, n);
}

EXPORT int numadx_request_set_cpus(numadx_request *request, const char *cpus)
{
    return set_text(request, KEY_CPUS, cpus);
}

EXPORT int numadx_request_set_pool(numadx_request *request, uint32_t pool)
{
    return set_number(request, KEY_POOL, pool);
}

EXPORT int numadx_request_set_near(numadx_request *request, const char *pci)
{
    return set_text(request, KEY_NEAR, pci);
}

EXPORT int numadx_request_set_strict(numadx_request *request, int strict)
{
    return set_number(request, KEY_STRICT, strict != 0);
}

EXPORT int numadx_request_set_ttl_ms(numadx_request *request, uint32_t ttl_ms)
{
    return set_number(request, KEY_TTL_MS, ttl_ms);
}

EXPORT int numadx_request_set_threads_per_core(numadx_request *request, uint32_t threads)
{
    return set_number(request, KEY_THREADS_PER_CORE, threads);
}

static int append_value(sd_bus_message *call, const char *type, const Value *value)
{
    const uint32_t number = (uint32_t)value->number;
    const int flag = value->number != 0;

    if (strcmp(type, "au") == 0)
        return sd_bus_message_append_array(call, 'u', value->nodes, value->number * sizeof(*value->nodes));
    switch (*type) {
    case 's':
        return sd_bus_message_append_basic(call, 's', value->text);
    case 't':
        return sd_bus_message_append_basic(call, 't', &value->number);
    case 'b':
        return sd_bus_message_append_basic(call, 'b', &flag);
    default:
        return sd_bus_message_append_basic(call, 'u', &number);
    }
}

static int append_entry(sd_bus_message *call, Key key, const Value *value)
{
    int r = sd_bus_message_open_container(call, 'e', "sv");

    if (r >= 0)
        r = sd_bus_message_append_basic(call, 's', keys[key].name);
    if (r >= 0)
        r = sd_bus_message_open_container(call, 'v', keys[key].type);
    if (r >= 0)
        r = append_value(call, keys[key].type, value);
    if (r >= 0)
        r = sd_bus_message_close_container(call);
    return r < 0 ? r : sd_bus_message_close_container(call);
}

int request_append(const numadx_request *request, sd_bus_message *call)
{
    int r = sd_bus_message_open_container(call, 'a', "{sv}");

    for (Key key = 0; r >= 0 && key < _KEY_MAX; key++)
        if (request->values[key].set)
            r = append_entry(call, key, &request->values[key]);
    return r < 0 ? r : sd_bus_message_close_container(call);
}
