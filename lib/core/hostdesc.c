/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc.h"

#include "hostdesc-parts.h"

/*
 * A host description holds what the hypercalls would return, sentinels included. Nothing is judged here: a host that
 * contradicts itself is read as it is. Refused is what no hypercall returns, and what has two meanings.
 */

#define MAX_DEPTH 32

static const char *const top_keys[] = {"format",     "xen_version", "page_size", "features",
                                       "max_cpu_id", "memory",      "dom0",      "topology",
                                       "nodes",      "node_extra",  "srat",      "slit",
                                       "devices",    "pools",       "domains",   "threads_per_core",
                                       NULL};
static const char *const memory_keys[] = {"total", "free", "claimed", NULL};
static const char *const dom0_keys[] = {"nodes", "cpus", NULL};

static int read_feature(JsonReader *reader, const JsonPath *path, json_object *value, HostRows *rows)
{
    const char *text = NULL;
    Feature f = 0;
    int r = json_read_string(reader, path, value, &text);

    if (r != 0)
        return r;
    while (f < _FEATURE_MAX && strcmp(feature_to_text(f), text) != 0)
        f++;
    if (f == _FEATURE_MAX)
        return json_refuse(reader, path, "unknown feature '%s'", text);
    if (rows->features & FEATURE_BIT(f))
        return json_refuse(reader, path, "'%s' is named twice", text);
    rows->features |= FEATURE_BIT(f);
    return 0;
}

static int read_features(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath path = {.key = "features"};
    json_object *array = json_member(top, "features");
    int r = array ? json_check_array(reader, &path, array, SIZE_MAX) : 0;

    for (size_t i = 0; array && r == 0 && i < json_object_array_length(array); i++)
        r = read_feature(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i), rows);
    return r;
}

static int read_memory(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath path = {.key = "memory"};
    json_object *memory = json_member(top, "memory");
    int r;

    if (!memory)
        return 0;
    r = json_check_object(reader, &path, memory, memory_keys);
    if (r == 0)
        r = json_get_u64(reader, &path, memory, "total", HOSTDESC_MAX_SIZE, &rows->total);
    if (r == 0)
        r = json_get_u64(reader, &path, memory, "free", HOSTDESC_MAX_SIZE, &rows->free);
    if (r == 0)
        r = json_get_u64(reader, &path, memory, "claimed", HOSTDESC_MAX_SIZE, &rows->claimed);
    return r;
}

static int read_dom0(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath path = {.key = "dom0"};
    json_object *dom0 = json_member(top, "dom0");
    int r;

    if (!dom0)
        return 0;
    rows->has_dom0_view = true;
    r = json_check_object(reader, &path, dom0, dom0_keys);
    if (r == 0 && (!json_member(dom0, "nodes") || !json_member(dom0, "cpus")))
        r = json_refuse(reader, &path, "needs both nodes and cpus");
    if (r == 0)
        r = json_get_u32(reader, &path, dom0, "nodes", NODES_MAX, &rows->dom0_nodes);
    if (r == 0)
        r = json_get_u32(reader, &path, dom0, "cpus", CPUS_MAX, &rows->dom0_cpus);
    return r;
}

static int read_page_size(JsonReader *reader, json_object *top, HostRows *rows)
{
    int r = json_get_u32(reader, NULL, top, "page_size", 1u << 30, &rows->page_size);

    if (r == 0 && (rows->page_size == 0 || (rows->page_size & (rows->page_size - 1))))
        r = json_refuse(reader, &(JsonPath){.key = "page_size"}, "must be a power of two");
    return r;
}

static int read_head(JsonReader *reader, json_object *top, HostRows *rows)
{
    const char *format = NULL, *version = NULL;
    int r = json_check_object(reader, NULL, top, top_keys);

    if (r == 0)
        r = json_get_string(reader, NULL, top, "format", &format);
    if (r == 0 && (!format || strcmp(format, "numad-xen-host/1") != 0))
        r = json_refuse(reader, &(JsonPath){.key = "format"}, "must be \"numad-xen-host/1\"");
    if (r == 0)
        r = json_get_string(reader, NULL, top, "xen_version", &version);
    if (r == 0 && version && !(rows->xen_version = strdup(version)))
        r = -ENOMEM;
    if (r == 0)
        r = read_page_size(reader, top, rows);
    if (r == 0)
        r = read_features(reader, top, rows);
    if (r == 0)
        r = read_memory(reader, top, rows);
    return r != 0 ? r : read_dom0(reader, top, rows);
}

/* Host totals that the file leaves out are the sums over the nodes; those that it says are null are not known. */
static void fill_totals(json_object *top, HostRows *rows)
{
    json_object *memory = json_member(top, "memory");
    uint64_t size = 0, free_bytes = 0;

    if (json_is_null(top, "memory"))
        return;
    for (size_t i = 0; i < rows->n_nodes; i++) {
        if (rows->nodes[i].size == ROW_HOLE)
            continue;
        size = add_saturating(size, rows->nodes[i].size); /* more than 64 bits hold is VALUE_UNKNOWN */
        free_bytes = add_saturating(free_bytes, rows->nodes[i].free);
    }
    if (rows->total == VALUE_UNKNOWN && !json_is_null(memory, "total"))
        rows->total = size;
    if (rows->free == VALUE_UNKNOWN && !json_is_null(memory, "free"))
        rows->free = free_bytes;
}

static int read_host(JsonReader *reader, json_object *top, HostRows *rows)
{
    static int (*const parts[])(JsonReader *, json_object *, HostRows *) = {
        read_head,           hostdesc_read_nodes,   hostdesc_read_cpus,    hostdesc_read_firmware,
        hostdesc_read_pools, hostdesc_read_devices, hostdesc_read_domains,
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++)
        r = parts[i](reader, top, rows);
    if (r != 0)
        return r;
    hostdesc_drop_unknown_pools(top, rows);
    fill_totals(top, rows);
    return rows->features & FEATURE_BIT(FEATURE_NODE_PAGES) ? 0 : warning_patch_missing(&rows->warnings);
}

int hostdesc_parse(const char *text, size_t size, HostRows **ret_rows, char **ret_error)
{
    _cleanup_(host_rows_free_p) HostRows *rows = host_rows_new();
    _cleanup_(json_object_putp) json_object *top = NULL;
    JsonReader reader = {0};
    int r;

    if (!rows)
        return -ENOMEM;
    rows->backend = "sim";
    rows->simulated = true;
    r = json_parse(&reader, text, size, MAX_DEPTH, &top);
    if (r == 0)
        r = read_host(&reader, top, rows);
    if (r == 0)
        *ret_rows = TAKE_PTR(rows);
    if (r > 0)
        *ret_error = TAKE_PTR(reader.error);
    free(reader.error);
    return r > 0 ? HOSTDESC_E_REFUSED : r;
}
