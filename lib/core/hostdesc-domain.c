/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-parts.h"

#include <ctype.h>

#define MAX_VCPUS 8192

static const char *const domain_keys[] = {"domid",     "name",       "uuid", "type",          "state", "total_pages",
                                          "max_pages", "claimed_pages", "node_pages", "pool", "node_affinity", "vcpus", NULL};
static const char *const vcpu_keys[] = {"hard", "soft", "cpu", "online", NULL};

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

/* No UUID at all, the hypervisor tells as zeros: of dom0, and of a domain that is about to get one. */
static int read_uuid(JsonReader *reader, const JsonPath *up, json_object *object, DomainRow *domain)
{
    static const uint8_t nil[16];
    const char *text = NULL;
    int r = json_get_string(reader, up, object, "uuid", &text);

    if (r != 0 || !text)
        return r;
    if (!uuid_from_text(text, domain->uuid))
        return json_refuse(reader, &(JsonPath){.up = up, .key = "uuid"}, "'%s' is not a UUID", text);
    domain->has_uuid = memcmp(domain->uuid, nil, sizeof(nil)) != 0;
    return 0;
}

static int read_identity(JsonReader *reader, const JsonPath *path, json_object *object, DomainRow *domain)
{
    const char *name = NULL;
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
        r = read_uuid(reader, path, object, domain);
    if (r == 0)
        r = read_type(reader, path, object, domain);
    return r != 0 ? r : read_state(reader, path, object, domain);
}

static int read_node_pages(JsonReader *reader, const JsonPath *up, json_object *array, const HostRows *rows,
                           DomainRow *domain)
{
    JsonPath path = {.up = up, .key = "node_pages"};
    uint64_t max = HOSTDESC_MAX_SIZE / rows->page_size;
    int r = json_check_array(reader, &path, array, rows->n_nodes);

    if (r == 0 && json_object_array_length(array) != rows->n_nodes)
        r = json_refuse(reader, &path, "has %zu entries for %zu nodes", json_object_array_length(array), rows->n_nodes);
    if (r != 0)
        return r;
    domain->node_pages = new_array(rows->n_nodes, sizeof(*domain->node_pages));
    if (!domain->node_pages)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < rows->n_nodes; i++)
        r = json_read_u64(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i), max,
                          &domain->node_pages[i]);
    return r;
}

/* A total that is left out is the sum over the nodes, if that is to be believed. */
static void fill_total_pages(json_object *object, const HostRows *rows, DomainRow *domain)
{
    uint64_t sum = 0;

    if (domain->total_pages != VALUE_UNKNOWN || json_is_null(object, "total_pages") || !domain->node_pages ||
        !(rows->features & FEATURE_BIT(FEATURE_NODE_PAGES)))
        return;
    for (size_t i = 0; i < rows->n_nodes; i++)
        sum += domain->node_pages[i]; /* at most 1024 times 2^56 */
    if (sum <= HOSTDESC_MAX_SIZE / rows->page_size)
        domain->total_pages = sum;
}

static int read_memory(JsonReader *reader, const JsonPath *path, json_object *object, const HostRows *rows,
                       DomainRow *domain)
{
    json_object *pages = json_member(object, "node_pages");
    int r;

    domain->total_pages = domain->max_pages = domain->claimed_pages = VALUE_UNKNOWN;
    r = json_get_u64(reader, path, object, "total_pages", HOSTDESC_MAX_SIZE / rows->page_size, &domain->total_pages);
    if (r == 0) /* a domain without limit has a very high one */
        r = json_get_u64(reader, path, object, "max_pages", UINT64_MAX, &domain->max_pages);
    if (r == 0)
        r = json_get_u64(reader, path, object, "claimed_pages", HOSTDESC_MAX_SIZE / rows->page_size,
                         &domain->claimed_pages);
    if (r == 0 && pages)
        r = read_node_pages(reader, path, pages, rows, domain);
    if (r == 0)
        fill_total_pages(object, rows, domain);
    return r;
}

/* As every domain's, the mask of one that never chose may hold nodes that are not there, but only in a hole. */
static int read_node_affinity(JsonReader *reader, const JsonPath *up, json_object *object, const HostRows *rows,
                              DomainRow *domain)
{
    int r = json_get_set(reader, up, object, "node_affinity", (unsigned)rows->n_nodes - 1, &domain->node_affinity);

    domain->has_node_affinity = json_member(object, "node_affinity") != NULL;
    return r;
}

/* A mask that is not in the file means all CPUs; none reaches past max_cpu_id, nor takes memory for it. */
static int read_mask(JsonReader *reader, const JsonPath *path, json_object *object, const char *key,
                     const HostRows *rows, Bitmap *mask)
{
    _cleanup_bitmap_ Bitmap named = {0};
    int r;

    if (!json_member(object, key))
        return bitmap_set_range(mask, 0, rows->max_cpu_id);
    r = json_get_set(reader, path, object, key, CPUS_MAX - 1, &named);
    if (r != 0)
        return r;
    bitmap_cut(&named, rows->max_cpu_id + 1);
    return bitmap_copy(mask, &named);
}

static int read_vcpu(JsonReader *reader, const JsonPath *path, json_object *object, const HostRows *rows, VcpuRow *vcpu)
{
    int r = json_check_object(reader, path, object, vcpu_keys);

    vcpu->online = true;
    if (r == 0)
        r = read_mask(reader, path, object, "hard", rows, &vcpu->hard);
    if (r == 0)
        r = read_mask(reader, path, object, "soft", rows, &vcpu->soft);
    if (r == 0)
        r = json_get_bool(reader, path, object, "online", &vcpu->online);
    if (r == 0)
        r = json_get_u32(reader, path, object, "cpu", rows->max_cpu_id, &vcpu->cpu);
    if (!vcpu->online)
        vcpu->cpu = CPU_NONE;
    return r;
}

/* How many elements of an array are null. */
static size_t count_nulls(json_object *array)
{
    size_t n = 0;

    for (size_t i = 0; i < json_object_array_length(array); i++)
        n += json_object_array_get_idx(array, i) == NULL;
    return n;
}

/* null: nothing is known of the vCPUs. An array of nulls: how many there are is. Not in the file: there are none. */
static int read_vcpus(JsonReader *reader, const JsonPath *up, json_object *object, const HostRows *rows,
                      DomainRow *domain)
{
    JsonPath path = {.up = up, .key = "vcpus"};
    json_object *array = json_member(object, "vcpus");
    size_t n = 0, n_nulls = 0;
    int r = array ? json_check_array(reader, &path, array, MAX_VCPUS) : 0;

    if (json_is_null(object, "vcpus"))
        domain->n_vcpus = VCPUS_UNKNOWN;
    if (r != 0 || json_is_null(object, "vcpus"))
        return r;
    if (array) {
        n = json_object_array_length(array);
        n_nulls = count_nulls(array);
    }
    domain->n_vcpus = n;
    if (n_nulls > 0)
        return n_nulls == n ? 0 : json_refuse(reader, &path, "%zu of %zu are null: all or none must", n_nulls, n);
    domain->vcpus = vcpu_rows_new(n);
    if (!domain->vcpus)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = read_vcpu(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i), rows,
                      &domain->vcpus->rows[i]);
    return r;
}

static bool pool_exists(const HostRows *rows, uint32_t pool)
{
    if (pool == ROW_NO_POOL)
        return true;
    for (size_t i = 0; i < rows->n_pools; i++)
        if (rows->pools[i].pool == pool)
            return true;
    return rows->n_pools == 0 && pool == 0;
}

static int read_pool(JsonReader *reader, const JsonPath *path, json_object *object, const HostRows *rows,
                     DomainRow *domain)
{
    int r = json_get_u32(reader, path, object, "pool", ROW_NO_POOL, &domain->pool);

    if (r == 0 && !pool_exists(rows, domain->pool))
        r = json_refuse(reader, &(JsonPath){.up = path, .key = "pool"}, "there is no pool %u", domain->pool);
    return r;
}

static int read_domain(JsonReader *reader, const JsonPath *path, json_object *object, const HostRows *rows,
                       DomainRow *domain)
{
    int r = json_check_object(reader, path, object, domain_keys);

    if (r == 0)
        r = read_identity(reader, path, object, domain);
    if (r == 0)
        r = read_memory(reader, path, object, rows, domain);
    if (r == 0)
        r = read_pool(reader, path, object, rows, domain);
    if (r == 0)
        r = read_node_affinity(reader, path, object, rows, domain);
    return r != 0 ? r : read_vcpus(reader, path, object, rows, domain);
}

/* Elements of vcpus that will have affinities. */
static size_t count_vcpus(json_object *domain)
{
    json_object *array = json_member(domain, "vcpus");

    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) - count_nulls(array) : 0;
}

/* A short text can stand for very much memory: {} is a vCPU with two masks of all CPUs. */
static int check_size(JsonReader *reader, const JsonPath *up, json_object *array, const HostRows *rows)
{
    uint64_t n = 0, max = HOSTDESC_MAX_MASKS / (2 * ((rows->max_cpu_id + 1 + 7) / 8));

    for (size_t i = 0; i < json_object_array_length(array); i++) {
        JsonPath path = {.up = up, .index = i};

        n += count_vcpus(json_object_array_get_idx(array, i));
        if (n > max)
            return json_refuse(reader, &(JsonPath){.up = &path, .key = "vcpus"},
                               "too many vCPUs: %" PRIu64 " up to here, and with max_cpu_id %u there may be %" PRIu64,
                               n, rows->max_cpu_id, max);
    }
    return 0;
}

int hostdesc_read_domains(JsonReader *reader, json_object *top, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap named = {0};
    JsonPath path = {.key = "domains"};
    json_object *array = json_member(top, "domains");
    int r = array ? json_check_array(reader, &path, array, DOMAINS_MAX) : 0;

    if (array && r == 0)
        r = check_size(reader, &path, array, rows);
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
