/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client.h"

#include "remote.h"

#include <stdio.h>
#include <string.h>

/* `given`: by the caller; `address`: the one in use, NULL for the machine's system bus. */
static int open_bus(const char *given, const char *address, sd_bus **ret_bus)
{
    sd_bus *bus = NULL;
    int r;

    if (address && !bus_address_is_one(address))
        return -EINVAL;
    if (given) {
        r = sd_bus_new(&bus);
        if (r >= 0)
            r = sd_bus_set_address(bus, given);
        if (r >= 0)
            r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
            r = sd_bus_start(bus);
    } else
        r = sd_bus_open_system(&bus);
    if (r >= 0)
        r = sd_bus_set_method_call_timeout(bus, ANSWER_USEC);
    if (r >= 0)
        r = ready_wait(bus, ANSWER_USEC, NULL);
    if (r < 0) {
        sd_bus_close_unref(bus);
        return r;
    }
    *ret_bus = bus;
    return 0;
}

EXPORT int numadx_open(const char *address, numadx_client **ret_client)
{
    const char *in_use = address ? address : secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");
    numadx_client *client;
    char *text = NULL;
    int r;

    *ret_client = client = calloc(1, sizeof(*client));
    if (!client)
        return -ENOMEM;
    if (in_use && (address || *in_use)) {
        client->address = strdup(in_use);
        if (!client->address)
            return -ENOMEM;
    }
    r = open_bus(address, client->address, &client->bus);
    if (r >= 0)
        return 0;
    r = bus_error_explain_connect(r, client->address, &text);
    return client_fail(client, r, text);
}

EXPORT int numadx_open_remote(const char *host, numadx_client **ret_client)
{
    numadx_client *client;
    char *text = NULL;
    int r;

    *ret_client = client = calloc(1, sizeof(*client));
    if (!client)
        return -ENOMEM;
    client->host = strdup(host);
    if (!client->host)
        return -ENOMEM;
    r = remote_open(host, REMOTE_PATIENCE_USEC, &client->bus, &client->ssh, &text);
    if (r >= 0)
        r = sd_bus_set_method_call_timeout(client->bus, ANSWER_USEC);
    return r < 0 ? client_fail(client, r, text) : 0;
}

EXPORT void numadx_close(numadx_client *client)
{
    if (!client)
        return;
    sd_bus_close_unref(client->bus);
    remote_end(client->ssh);
    free(client->address);
    free(client->host);
    free(client->error);
    free(client);
}

EXPORT const char *numadx_error(const numadx_client *client)
{
    return client && client->error ? client->error : "not enough memory";
}

/* Calls a method without arguments, or with one u32. The answer has the signature `types`. */
static int call(numadx_client *client, const char *member, const uint32_t *argument, const char *types,
                sd_bus_message **ret_answer)
{
    _cleanup_message_ sd_bus_message *message = NULL;
    int r;

    r = client_new_call(client, member, &message);
    if (r < 0)
        return r;
    if (argument)
        r = sd_bus_message_append_basic(message, 'u', argument);
    return client_call(client, r, message, ANSWER_USEC, types, ret_answer);
}

static int get_text(numadx_client *client, const char *member, char **ret_text)
{
    _cleanup_message_ sd_bus_message *answer = NULL;
    int r = call(client, member, NULL, "s", &answer);

    return r < 0 ? r : client_take_text(client, answer, member, ret_text);
}

EXPORT int numadx_get_status(numadx_client *client, char **ret_json)
{
    return get_text(client, "GetStatus", ret_json);
}

EXPORT int numadx_get_topology(numadx_client *client, char **ret_json)
{
    return get_text(client, "GetTopology", ret_json);
}

EXPORT int numadx_get_topology_xml(numadx_client *client, char **ret_xml)
{
    return get_text(client, "GetTopologyXML", ret_xml);
}

EXPORT int numadx_gather(numadx_client *client, char **ret_json)
{
    return get_text(client, "Gather", ret_json);
}

EXPORT int numadx_get_version(numadx_client *client, char **ret_version)
{
    _cleanup_message_ sd_bus_message *message = NULL, *answer = NULL;
    const char *version;
    int r;

    if (!client->bus)
        return client_fail_call(client, -ENOTCONN, NULL, ANSWER_USEC);
    r = sd_bus_message_new_method_call(client->bus, &message, BUS_NAME, BUS_PATH, "org.freedesktop.DBus.Properties",
                                       "Get");
    if (r >= 0)
        r = sd_bus_message_append(message, "ss", BUS_INTERFACE, "Version");
    r = client_call(client, r, message, ANSWER_USEC, "v", &answer);
    if (r < 0)
        return r;
    r = sd_bus_message_read(answer, "v", "s", &version);
    if (r < 0)
        return client_fail_answer(client, "Get", r);
    *ret_version = strdup(version);
    return *ret_version ? 0 : client_fail(client, -ENOMEM, NULL);
}

EXPORT void numadx_domains_free(numadx_domain *domains, size_t n)
{
    for (size_t i = 0; domains && i < n; i++) {
        free(domains[i].name);
        free(domains[i].uuid);
    }
    free(domains);
}

/* Makes room for one more element. */
static int grow(void **array, size_t n, size_t *capacity, size_t size)
{
    void *larger;

    if (n < *capacity)
        return 0;
    larger = reallocarray(*array, MAX(*capacity * 2, (size_t)16), size);
    if (!larger)
        return -ENOMEM;
    *array = larger;
    *capacity = MAX(*capacity * 2, (size_t)16);
    return 0;
}

/* 1: one more domain, 0: no more. */
static int read_domain(sd_bus_message *answer, numadx_domain *ret_domain)
{
    const char *name, *uuid;
    numadx_domain domain = {0};
    int r;

    r = sd_bus_message_read(answer, "(usst)", &domain.domid, &name, &uuid, &domain.bytes);
    if (r <= 0)
        return r;
    domain.name = strdup(name);
    domain.uuid = strdup(uuid);
    *ret_domain = domain;
    return domain.name && domain.uuid ? 1 : -ENOMEM;
}

EXPORT int numadx_list_domains(numadx_client *client, numadx_domain **ret_domains, size_t *ret_n)
{
    _cleanup_message_ sd_bus_message *answer = NULL;
    size_t n = 0, capacity = 0;
    void *domains = NULL;
    int r;

    r = call(client, "ListDomains", NULL, "a(usst)", &answer);
    if (r < 0)
        return r;
    r = sd_bus_message_enter_container(answer, 'a', "(usst)");
    while (r >= 0 && (r = grow(&domains, n, &capacity, sizeof(numadx_domain))) >= 0) {
        numadx_domain *domain = (numadx_domain *)domains + n;

        *domain = (numadx_domain){0};
        r = read_domain(answer, domain);
        if (r == 0)
            break;
        n++; /* also one that failed half way: it is freed with the others */
    }
    if (r < 0) {
        numadx_domains_free(domains, n);
        return client_fail_answer(client, "ListDomains", r);
    }
    *ret_domains = domains;
    *ret_n = n;
    return 0;
}

EXPORT int numadx_get_domain_memory(numadx_client *client, uint32_t domid, numadx_node_memory **ret_nodes,
                                    size_t *ret_n)
{
    _cleanup_message_ sd_bus_message *answer = NULL;
    size_t n = 0, capacity = 0;
    void *nodes = NULL;
    int r;

    r = call(client, "GetDomainMemory", &domid, "a(ut)", &answer);
    if (r < 0)
        return r;
    r = sd_bus_message_enter_container(answer, 'a', "(ut)");
    while (r >= 0 && (r = grow(&nodes, n, &capacity, sizeof(numadx_node_memory))) >= 0) {
        numadx_node_memory *row = (numadx_node_memory *)nodes + n;

        r = sd_bus_message_read(answer, "(ut)", &row->node, &row->bytes);
        if (r <= 0)
            break;
        n++;
    }
    if (r < 0) {
        free(nodes);
        return client_fail_answer(client, "GetDomainMemory", r);
    }
    *ret_nodes = nodes;
    *ret_n = n;
    return 0;
}
