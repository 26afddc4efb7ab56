/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "read.h"

#include "bus.h"
#include "error.h"

#include "daemon/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * The bus ends the connection of whoever sends a message that is too large for it, so that one question about a very
 * large host would take the daemon away from all who ask. dbus-daemon's limit is max_message_size, 32 MiB if nobody
 * has configured another; dbus-broker takes more. What stands before the body is some hundred bytes.
 */
#define MESSAGE_MAX (32u << 20)
#define BODY_MAX (MESSAGE_MAX - 4096u)

static int refuse_size(sd_bus_message *call, size_t size)
{
    return bus_reply_error(call, BUS_ERROR_LIMIT_REACHED,
                           "the answer is too large: it has %zu bytes, a D-Bus message may have %u with its header",
                           size, MESSAGE_MAX);
}

static size_t align(size_t at, size_t to)
{
    return (at + to - 1) / to * to;
}

/* Where a string ends in a body that is `at` long without it. */
static size_t string_end(size_t at, size_t length)
{
    return align(at, 4) + 4 + length + 1;
}

static int reply_text(sd_bus_message *call, int error, const char *text)
{
    size_t size;

    if (error < 0)
        return error;
    size = string_end(0, strlen(text));
    return size > BODY_MAX ? refuse_size(call, size) : sd_bus_reply_method_return(call, "s", text);
}

static int answer_status(Bus *bus, sd_bus_message *call)
{
    const char *text = NULL;
    int r = documents_status(&bus->documents, &text);

    return reply_text(call, r, text);
}

int read_get_status(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, answer_status, true);
}

static int answer_topology(Bus *bus, sd_bus_message *call)
{
    const char *text = NULL;
    int r = documents_topology(&bus->documents, &text);

    return reply_text(call, r, text);
}

int read_get_topology(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, answer_topology, true);
}

#define UUID_TEXT_SIZE 37

static const char *uuid_to_text(const DomainRow *row, char text[UUID_TEXT_SIZE])
{
    const uint8_t *u = row->uuid;

    if (!row->has_uuid)
        return "";
    snprintf(text, UUID_TEXT_SIZE, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
             u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    return text;
}

static bool is_listed(const DomainRow *row)
{
    return row->total_pages != VALUE_UNKNOWN; /* there is no null on D-Bus: left out */
}

/* How large the body of answer_domains() will be. */
static size_t domains_size(const Snapshot *snapshot)
{
    size_t at = 8; /* the array's size, and what aligns its first member */

    for (size_t i = 0; i < snapshot->n_domains; i++) {
        const DomainRow *row = &snapshot->domains[i].row;

        if (!is_listed(row))
            continue;
        at = string_end(align(at, 8) + 4, row->name ? strlen(row->name) : 0);
        at = string_end(at, row->has_uuid ? UUID_TEXT_SIZE - 1 : 0);
        at = align(at, 8) + 8;
    }
    return at;
}

static int append_domain(sd_bus_message *reply, const Snapshot *snapshot, const DomainRow *row)
{
    char uuid[UUID_TEXT_SIZE];

    if (!is_listed(row))
        return 0;
    return sd_bus_message_append(reply, "(usst)", (uint32_t)row->domid, row->name ? row->name : "",
                                 uuid_to_text(row, uuid), row->total_pages * snapshot->page_size);
}

static int answer_domains(Bus *bus, sd_bus_message *call)
{
    _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
    const Snapshot *snapshot = bus->documents.snapshot;
    size_t size;
    int r;

    if (!snapshot)
        return -ENODATA;
    size = domains_size(snapshot);
    if (size > BODY_MAX)
        return refuse_size(call, size);
    r = sd_bus_message_new_method_return(call, &reply);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "(usst)");
    for (size_t i = 0; r >= 0 && i < snapshot->n_domains; i++)
        r = append_domain(reply, snapshot, &snapshot->domains[i].row);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

int read_list_domains(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, answer_domains, false);
}

static int reply_domain_memory(sd_bus_message *call, const Snapshot *snapshot, const DomainRow *row)
{
    _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
    int r = sd_bus_message_new_method_return(call, &reply);

    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "(ut)");
    for (nodeid_t node = 0; r >= 0 && node < snapshot->n_nodes; node++)
        if (row->node_pages[node] > 0)
            r = sd_bus_message_append(reply, "(ut)", node, row->node_pages[node] * snapshot->page_size);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static const DomainRow *find_row(const Snapshot *snapshot, uint32_t domid)
{
    const Domain *domain = domid <= UINT16_MAX ? snapshot_find_domain(snapshot, (domid_t)domid) : NULL;

    return domain ? &domain->row : NULL;
}

int read_get_domain_memory(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    const Snapshot *snapshot = ((Bus *)userdata)->documents.snapshot;
    const DomainRow *row;
    uint32_t domid;
    int r = sd_bus_message_read(call, "u", &domid);

    if (r < 0)
        return r;
    if (!snapshot)
        return -ENODATA;
    row = find_row(snapshot, domid);
    if (!row)
        return bus_reply_error(call, BUS_ERROR_UNKNOWN_DOMAIN, "there is no domain %" PRIu32, domid);
    if (row->node_pages)
        return reply_domain_memory(call, snapshot, row);
    if (snapshot->features & FEATURE_BIT(FEATURE_NODE_PAGES))
        return bus_reply_error(call, BUS_ERROR_UNSUPPORTED, "where domain %" PRIu32 " has its memory could not be read",
                               domid);
    return bus_reply_error(call, BUS_ERROR_UNSUPPORTED,
                           "this hypervisor cannot say where a domain has its memory: it lacks numad-xen's patches");
}

static int append_features(sd_bus_message *reply, const Snapshot *snapshot)
{
    int r = sd_bus_message_open_container(reply, 'a', "s");

    for (Feature feature = 0; r >= 0 && feature < _FEATURE_MAX; feature++)
        if (snapshot->features & FEATURE_BIT(feature))
            r = sd_bus_message_append(reply, "s", feature_to_text(feature));
    return r < 0 ? r : sd_bus_message_close_container(reply);
}

int read_property(sd_bus *sdbus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                  void *userdata, sd_bus_error *ret_error)
{
    const Snapshot *snapshot = ((Bus *)userdata)->documents.snapshot;

    if (strcmp(property, "Version") == 0)
        return sd_bus_message_append(reply, "s", PACKAGE_VERSION);
    if (!snapshot)
        return -ENODATA;
    if (strcmp(property, "Backend") == 0)
        return sd_bus_message_append(reply, "s", snapshot->backend);
    if (strcmp(property, "Simulated") == 0)
        return sd_bus_message_append(reply, "b", (int)snapshot->simulated);
    if (strcmp(property, "Generation") == 0)
        return sd_bus_message_append(reply, "t", snapshot->generation);
    if (strcmp(property, "Nodes") == 0)
        return sd_bus_message_append(reply, "u", count_nodes(snapshot));
    return append_features(reply, snapshot);
}
