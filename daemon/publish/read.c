/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "read.h"

#include "bus.h"
#include "error.h"
#include "reply.h"

#include "daemon/count.h"
#include "lib/core/hwlocxml.h"

#include <inttypes.h>
#include <string.h>

static int answer_document(Bus *bus, sd_bus_message *call, DocumentKind kind)
{
    const Document *document = NULL;
    int r = documents_get(&bus->documents, kind, &document);

    if (r == DOCUMENT_E_EMPTY)
        return bus_reply_error(call, BUS_ERROR_UNSUPPORTED, HWLOC_XML_EMPTY_TEXT);
    return r < 0 ? r : reply_text(call, document->text, document->size);
}

static int answer_status(Bus *bus, Request *request)
{
    return answer_document(bus, request->call, DOCUMENT_STATUS);
}

int read_get_status(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, answer_status, ADMIT_LIMITED);
}

static int answer_topology(Bus *bus, Request *request)
{
    return answer_document(bus, request->call, DOCUMENT_TOPOLOGY);
}

int read_get_topology(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, answer_topology, ADMIT_LIMITED);
}

static int answer_topology_xml(Bus *bus, Request *request)
{
    return answer_document(bus, request->call, DOCUMENT_TOPOLOGY_XML);
}

int read_get_topology_xml(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, answer_topology_xml, ADMIT_LIMITED);
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
        at = reply_string_end(reply_align(at, 8) + 4, row->name ? strlen(row->name) : 0);
        at = reply_string_end(at, row->has_uuid ? UUID_TEXT_SIZE - 1 : 0);
        at = reply_align(at, 8) + 8;
    }
    return at;
}

static int append_domain(sd_bus_message *reply, const Snapshot *snapshot, const DomainRow *row)
{
    char buffer[UUID_TEXT_SIZE];
    const char *uuid = domain_uuid_to_text(row, buffer);

    if (!is_listed(row))
        return 0;
    return sd_bus_message_append(reply, "(usst)", (uint32_t)row->domid, row->name ? row->name : "", uuid ? uuid : "",
                                 row->total_pages * snapshot->page_size);
}

static int answer_domains(Bus *bus, Request *request)
{
    _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
    const Snapshot *snapshot = bus->documents.snapshot;
    size_t size;
    int r;

    if (!snapshot)
        return -ENODATA;
    size = domains_size(snapshot);
    if (size > REPLY_BODY_MAX)
        return reply_refuse_size(request->call, size);
    r = sd_bus_message_new_method_return(request->call, &reply);
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
    return request_add(userdata, call, answer_domains, ADMIT_ALL);
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
