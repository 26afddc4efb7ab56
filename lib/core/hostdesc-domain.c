/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-domain.h"

#include <ctype.h>

#define MAX_VCPUS 8192
#define MAX_MEMORY (UINT64_C(1) << 56)

static const char *const domain_keys[] = {"domid",     "name",       "uuid", "type",          "state", "total_pages",
                                          "max_pages", "node_pages", "pool", "node_affinity", "vcpus", NULL};
static const char *const vcpu_keys[] = {"hard", "soft", "cpu", "online", NULL};

static int hex_value(char c)
{
    if (isdigit((unsigned char)c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "12345678-9abc-def0-1234-56789abcdef0" to bytes; false when it is not one. */
static bool parse_uuid(const char *text, uint8_t uuid[16])
{
    for (size_t i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
            return false;
        if (hex_value(text[0]) < 0 || hex_value(text[1]) < 0)
            return false;
        uuid[i] = (uint8_t)(hex_value(text[0]) << 4 | hex_value(text[1]));
        text += 2;
    }
    return *text == '\0';
}

static int read_type(JsonReader *reader, const JsonPath *up, json_object *object, DomainRow *domain)
{
    const char *text = NULL;
    int r = json_get_string(reader, up, object, "type", &text);

    if (r != 0 || !text)
        return r;
    for (DomainType type = DOMAIN_TYPE_PV; type < _DOMAIN_TYPE_MAX; type++)
        if (strcmp(domain_type_to_text(type), text) == 0) {
            domain->type = type;
            return 0;
        }
    return json_refuse(reader, &(JsonPath){.up = up, .key = "type"}, "'%s' is none of pv, pvh, hvm", text);
}

static int read_state(JsonReader *reader, const JsonPath *up, json_object *object, DomainRow *domain)
{
    const char *text = NULL;
    int r = json_get_string(reader, up, object, "state", &text);

    if (r != 0 || !text)
        return r;
    for (DomainState state = 0; state < _DOMAIN_STATE_MAX; state++)
        if (strcmp(domain_state_to_text(state), text) == 0) {
            domain->state = state;
            return 0;
        }
    return json_refuse(reader, &(JsonPath){.up = up, .key = "state"},
                       "'%s' is none of running, blocked, paused, shutdown, crashed, dying", text);
}

static int read_identity(JsonReader *reader, const JsonPath *path, json_object *object, DomainRow *domain)
{
    const char *name = NULL, *uuid = NULL;
    uint64_t domid = VALUE_UNKNOWN;
    int r = json_get_u64(reader, path, object, "domid", DOMAINS_MAX - 1, &domid);

    if (r == 0 && domid == VALUE_UNKNOWN)
        r = json_refuse(reader, path, "needs a domid");
    domain->domid = (domid_t)domid;
    if (r == 0)
        r = json_get_string(reader, path, object, "name", &name);
    if (r == 0 && name && !(domain->name = strdup(name)))
        r = -ENOMEM;
    if (r == 0)
        r = json_get_string(reader, path, object, "uuid", &uuid);
    if (r == 0 && uuid && !(domain->has_uuid = parse_uuid(uuid, domain->uuid)))
        r = json_refuse(reader, &(JsonPath){.up = path, .key = "uuid"}, "'%s' is not a UUID", uuid);
    if (r == 0)
        r = read_type(reader, path, object, domain);
    return r != 0 ? r : read_state(reader, path, object, domain);
}

static int read_node_pages(JsonReader *reader, const JsonPath *up, json_object *array, const HostRows *rows,
                           DomainRow *domain)
{
    JsonPath path = {.up = up, .key = "node_pages"};
    uint64_t max = MAX_MEMORY / rows->page_size, sum = 0;
    int r = json_check_array(reader, &path, array, rows->n_nodes);

    if (r == 0 && json_object_array_length(array) != rows->n_nodes)
        r = json_refuse(reader, &path, "has %zu entries for %zu nodes", json_object_array_length(array), rows->n_nodes);
    if (r != 0)
        return r;
    domain->node_pages = new_array(rows->n_nodes, sizeof(*domain->node_pages));
    if (!domain->node_pages)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < rows->n_nodes; i++) {
        r = json_read_u64(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i), max,
                          &domain->node_pages[i]);
        sum = add_saturating(sum, domain->node_pages[i]);
    }
    if (r == 0 && domain->total_pages == VALUE_UNKNOWN && rows->features & FEATURE_BIT(FEATURE_NODE_PAGES))
        domain->total_pages = MIN(sum, max);
    return r;
}

static int read_memory(JsonReader *reader, const JsonPath *path, json_object *object, const HostRows *rows,
                       DomainRow *domain)
{
    uint64_t max = MAX_MEMORY / rows->page_size;
    json_object *pages = json_member(object, "node_pages");
    int r;

    domain->total_pages = domain->max_pages = VALUE_UNKNOWN;
    r = json_get_u64(reader, path, object, "total_pages", max, &domain->total_pages);
    if (r == 0)
        r = json_get_u64(reader, path, object, "max_pages", max, &domain->max_pages);
    if (r == 0 && pages)
        r = read_node_pages(reader, path, pages, rows, domain);
    return r;
}

/* A mask that is not in the file means all CPUs; none reaches past max_cpu_id. */
static int read_mask(JsonReader *reader, const JsonPath *path, json_object *object, const char *key,
                     const HostRows *rows, Bitmap *mask)
{
    int r = bitmap_set_range(mask, 0, rows->max_cpu_id);

    if (r == 0)
        r = json_get_set(reader, path, object, key, CPUS_MAX - 1, mask);
    if (r == 0)
        bitmap_cut(mask, rows->max_cpu_id + 1);
    return r;
}

static int read_vcpus(JsonReader *reader, const JsonPath *up, json_object *array, const HostRows *rows,
                      DomainRow *domain)
{
    JsonPath path = {.up = up, .key = "vcpus"};
    int r = json_check_array(reader, &path, array, MAX_VCPUS);

    if (r != 0)
        return r;
    domain->n_vcpus = json_object_array_length(array);
    domain->vcpus = vcpu_rows_new(domain->n_vcpus);
    if (!domain->vcpus)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < domain->n_vcpus; i++) {
        JsonPath at = {.up = &path, .index = i};
        json_object *object = json_object_array_get_idx(array, i);
        VcpuRow *vcpu = &domain->vcpus->rows[i];

        vcpu->online = true;
        r = json_check_object(reader, &at, object, vcpu_keys);
        if (r == 0)
            r = read_mask(reader, &at, object, "hard", rows, &vcpu->hard);
        if (r == 0)
            r = read_mask(reader, &at, object, "soft", rows, &vcpu->soft);
        if (r == 0)
            r = json_get_bool(reader, &at, object, "online", &vcpu->online);
        if (r == 0)
            r = json_get_u32(reader, &at, object, "cpu", rows->max_cpu_id, &vcpu->cpu);
        if (!vcpu->online)
            vcpu->cpu = CPU_NONE;
    }
    return r;
}

static bool pool_exists(const HostRows *rows, uint32_t pool)
{
    for (size_t i = 0; i < rows->n_pools; i++)
        if (rows->pools[i].pool == pool)
            return true;
    return rows->n_pools == 0 && pool == 0;
}

static int read_domain(JsonReader *reader, const JsonPath *path, json_object *object, const HostRows *rows,
                       DomainRow *domain)
{
    json_object *vcpus = NULL;
    int r = json_check_object(reader, path, object, domain_keys);

    if (r == 0)
        r = read_identity(reader, path, object, domain);
    if (r == 0)
        r = read_memory(reader, path, object, rows, domain);
    if (r == 0)
        r = json_get_u32(reader, path, object, "pool", UINT32_MAX - 1, &domain->pool);
    if (r == 0 && !pool_exists(rows, domain->pool))
        r = json_refuse(reader, &(JsonPath){.up = path, .key = "pool"}, "there is no pool %u", domain->pool);
    if (r == 0 && json_member(object, "node_affinity")) {
        domain->has_node_affinity = true;
        r = json_get_set(reader, path, object, "node_affinity", NODES_MAX - 1, &domain->node_affinity);
    }
    if (r != 0 || (json_object_object_get_ex(object, "vcpus", &vcpus) && !vcpus))
        return r; /* null: their affinities are not known */
    if (vcpus)
        return read_vcpus(reader, path, vcpus, rows, domain);
    domain->vcpus = vcpu_rows_new(0);
    return domain->vcpus ? 0 : -ENOMEM;
}

int hostdesc_read_domains(JsonReader *reader, json_object *top, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap named = {0};
    JsonPath path = {.key = "domains"};
    json_object *array = json_member(top, "domains");
    int r = array ? json_check_array(reader, &path, array, DOMAINS_MAX) : 0;

    if (!array || r != 0)
        return r;
    rows->domains = new_array(json_object_array_length(array), sizeof(*rows->domains));
    if (!rows->domains)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
        JsonPath at = {.up = &path, .index = i};
        DomainRow *domain = &rows->domains[rows->n_domains++];

        r = read_domain(reader, &at, json_object_array_get_idx(array, i), rows, domain);
        if (r == 0 && bitmap_isset(&named, domain->domid))
            r = json_refuse(reader, &at, "domid %u is named twice", domain->domid);
        if (r == 0)
            r = bitmap_set(&named, domain->domid);
    }
    return r;
}
