/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client.h"

#define SIM_INTERFACE BUS_INTERFACE ".Sim"

static int new_call(numadx_client *client, const char *member, sd_bus_message **ret_call)
{
    int r;

    if (!client->bus)
        return client_fail_call(client, -ENOTCONN, NULL, ANSWER_USEC);
    r = sd_bus_message_new_method_call(client->bus, ret_call, BUS_NAME, BUS_PATH, SIM_INTERFACE, member);
    return r < 0 ? client_fail_call(client, r, NULL, ANSWER_USEC) : 0;
}

/* A daemon on a real host has not got the interface. */
static int call_sim(numadx_client *client, int r, sd_bus_message *call, const char *types, sd_bus_message **ret_answer)
{
    r = client_call(client, r, call, ANSWER_USEC, types, ret_answer);
    if (r != -ENOSYS)
        return r;
    return client_fail(client, -EOPNOTSUPP,
                       strdup("this host is a real one: only a simulated host, of "
                              "numad-xend --host FILE, has domains that sim can change"));
}

static int append_value(sd_bus_message *call, const numadx_sim_value *value)
{
    switch (value->type) {
    case 'u':
        return sd_bus_message_append(call, "{sv}", value->key, "u", (uint32_t)value->number);
    case 't':
        return sd_bus_message_append(call, "{sv}", value->key, "t", value->number);
    case 's':
        return sd_bus_message_append(call, "{sv}", value->key, "s", value->text);
    default:
        return -EINVAL;
    }
}

static int append_values(sd_bus_message *call, const numadx_sim_value *values, size_t n)
{
    int r = sd_bus_message_open_container(call, 'a', "{sv}");

    for (size_t i = 0; r >= 0 && i < n; i++)
        r = append_value(call, &values[i]);
    return r < 0 ? r : sd_bus_message_close_container(call);
}

EXPORT int numadx_sim_create(numadx_client *client, const numadx_sim_value *values, size_t n, uint32_t *ret_domid)
{
    _cleanup_message_ sd_bus_message *call = NULL, *answer = NULL;
    int r = new_call(client, "Create", &call);

    if (r < 0)
        return r;
    r = call_sim(client, append_values(call, values, n), call, "u", &answer);
    if (r < 0)
        return r;
    r = sd_bus_message_read_basic(answer, 'u', ret_domid);
    return r < 0 ? client_fail_answer(client, "Create", r) : 0;
}

EXPORT int numadx_sim_destroy(numadx_client *client, uint32_t domid)
{
    _cleanup_message_ sd_bus_message *call = NULL, *answer = NULL;
    int r = new_call(client, "Destroy", &call);

    return r < 0 ? r : call_sim(client, sd_bus_message_append(call, "u", domid), call, "", &answer);
}

EXPORT int numadx_sim_balloon(numadx_client *client, uint32_t domid, uint64_t bytes)
{
    _cleanup_message_ sd_bus_message *call = NULL, *answer = NULL;
    int r = new_call(client, "Balloon", &call);

    return r < 0 ? r : call_sim(client, sd_bus_message_append(call, "ut", domid, bytes), call, "", &answer);
}

EXPORT int numadx_sim_fault(numadx_client *client, const char *kind, const numadx_sim_value *values, size_t n)
{
    _cleanup_message_ sd_bus_message *call = NULL, *answer = NULL;
    int r = new_call(client, "Fault", &call);

    if (r < 0)
        return r;
    r = sd_bus_message_append_basic(call, 's', kind);
    if (r >= 0)
        r = append_values(call, values, n);
    return call_sim(client, r, call, "", &answer);
}
