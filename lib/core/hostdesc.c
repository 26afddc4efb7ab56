/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc.h"

#include "hostdesc-domain.h"
#include "jsonreader.h"

/*
 * A host description holds what the hypercalls would return, sentinels included. Reading goes from the nodes over
 * the CPUs to what names them; a pass that needs a number from an earlier one (how many nodes, the highest CPU) comes
 * after it.
 */

#define MAX_DEPTH 32
#define MAX_SIZE (UINT64_C(1) << 56)
#define MAX_CHUNK_ORDERS 64
#define MAX_DEVICES 65536

static const char *const top_keys[] = {"format",     "xen_version", "page_size", "features",
                                       "max_cpu_id", "memory",      "dom0",      "topology",
                                       "nodes",      "node_extra",  "srat",      "slit",
                                       "devices",    "pools",       "domains",   "threads_per_core",
                                       NULL};
static const char *const memory_keys[] = {"total", "free", "claimed", NULL};
static const char *const dom0_keys[] = {"nodes", "cpus", NULL};
static const char *const node_keys[] = {"size", "free", "distances", "cpus", NULL};
static const char *const extra_keys[] = {"present", "low", "dirty", "claimed", "free_chunks", NULL};
static const char *const cpu_keys[] = {"cpu", "core", "socket", "node", NULL};
static const char *const device_keys[] = {"pci", "node", NULL};
static const char *const pool_keys[] = {"pool", "cpus", NULL};

/* --- head --- */

static int read_features(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath path = {.key = "features"};
    json_object *array = json_member(top, "features");
    int r = array ? json_check_array(reader, &path, array, _FEATURE_MAX) : 0;

    for (size_t i = 0; array && r == 0 && i < json_object_array_length(array); i++) {
        JsonPath at = {.up = &path, .index = i};
        const char *text = NULL;
        Feature f = 0;

        r = json_read_string(reader, &at, json_object_array_get_idx(array, i), &text);
        if (r != 0)
            break;
        while (f < _FEATURE_MAX && strcmp(feature_to_text(f), text) != 0)
            f++;
        if (f == _FEATURE_MAX)
            return json_refuse(reader, &at, "unknown feature '%s'", text);
        rows->features |= FEATURE_BIT(f);
    }
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
        r = json_get_u64(reader, &path, memory, "total", MAX_SIZE, &rows->total);
    if (r == 0)
        r = json_get_u64(reader, &path, memory, "free", MAX_SIZE, &rows->free);
    if (r == 0)
        r = json_get_u64(reader, &path, memory, "claimed", MAX_SIZE, &rows->claimed);
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
    if (r == 0)
        r = json_get_u32(reader, &path, dom0, "nodes", NODES_MAX, &rows->dom0_nodes);
    if (r == 0)
        r = json_get_u32(reader, &path, dom0, "cpus", CPUS_MAX, &rows->dom0_cpus);
    return r;
}

static int read_head(JsonReader *reader, json_object *top, HostRows *rows)
{
    const char *format = NULL, *version = NULL, *table = NULL;
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
        r = json_get_u32(reader, NULL, top, "page_size", 1u << 30, &rows->page_size);
    if (r == 0 && (rows->page_size == 0 || (rows->page_size & (rows->page_size - 1))))
        r = json_refuse(reader, &(JsonPath){.key = "page_size"}, "must be a power of two");
    if (r == 0)
        r = json_get_string(reader, NULL, top, "srat", &table);
    if (r == 0)
        r = json_get_string(reader, NULL, top, "slit", &table);
    if (r == 0)
        r = read_features(reader, top, rows);
    if (r == 0)
        r = read_memory(reader, top, rows);
    return r != 0 ? r : read_dom0(reader, top, rows);
}

/* --- nodes --- */

static int read_distance(JsonReader *reader, const JsonPath *path, json_object *value, uint32_t *ret)
{
    uint64_t distance = UINT64_MAX;
    int r = 0;

    if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) != -1)
        r = json_read_u64(reader, path, value, UINT64_MAX, &distance);
    if (r == 0 && distance > UINT32_MAX && distance != UINT64_MAX)
        r = json_refuse(reader, path, "is %" PRIu64 ", above %u", distance, UINT32_MAX);
    *ret = (uint32_t)MIN(distance, (uint64_t)UINT32_MAX);
    return r;
}

static int read_distance_row(JsonReader *reader, const JsonPath *up, json_object *array, HostRows *rows, nodeid_t id)
{
    JsonPath path = {.up = up, .key = "distances"};
    int r = json_check_array(reader, &path, array, rows->n_nodes);

    if (r == 0 && json_object_array_length(array) != rows->n_nodes)
        r = json_refuse(reader, &path, "has %zu entries for %zu nodes", json_object_array_length(array), rows->n_nodes);
    for (size_t i = 0; r == 0 && i < rows->n_nodes; i++)
        r = read_distance(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i),
                          &rows->distances[id * rows->n_nodes + i]);
    return r;
}

static int read_node(JsonReader *reader, const JsonPath *path, json_object *object, HostRows *rows, nodeid_t id)
{
    NodeRow *node = &rows->nodes[id];
    json_object *row;
    int r;

    node_row_init(node);
    node->size = node->free = VALUE_UNKNOWN;
    r = json_check_object(reader, path, object, node_keys);
    if (r == 0)
        r = json_get_u64(reader, path, object, "size", MAX_SIZE, &node->size);
    if (r == 0 && node->size != ROW_HOLE)
        r = json_get_u64(reader, path, object, "free", MAX_SIZE, &node->free);
    if (r != 0)
        return r;
    if (node->size == VALUE_UNKNOWN || (node->free == VALUE_UNKNOWN && node->size != ROW_HOLE))
        return json_refuse(reader, path, "needs both size and free");
    row = json_member(object, "distances");
    if (row)
        return read_distance_row(reader, path, row, rows, id);
    for (size_t i = 0; i < rows->n_nodes; i++)
        rows->distances[id * rows->n_nodes + i] = i == id ? 10 : 20;
    return 0;
}

static int read_nodes(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath path = {.key = "nodes"};
    json_object *array = json_member(top, "nodes");
    size_t n_distances = 0;
    int r;

    if (!array)
        return json_refuse(reader, &path, "is missing: at least one node with size and free is needed");
    r = json_check_array(reader, &path, array, NODES_MAX);
    if (r == 0 && json_object_array_length(array) == 0)
        r = json_refuse(reader, &path, "is empty: at least one node is needed");
    if (r != 0)
        return r;
    rows->n_nodes = json_object_array_length(array);
    rows->nodes = new_array(rows->n_nodes, sizeof(*rows->nodes));
    rows->distances = new_array(rows->n_nodes * rows->n_nodes, sizeof(*rows->distances));
    if (!rows->nodes || !rows->distances)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < rows->n_nodes; i++) {
        json_object *object = json_object_array_get_idx(array, i);

        r = read_node(reader, &(JsonPath){.up = &path, .index = i}, object, rows, (nodeid_t)i);
        n_distances += r == 0 && json_member(object, "distances");
    }
    if (r == 0 && n_distances && n_distances != rows->n_nodes)
        r = json_refuse(reader, &path, "%zu of %zu nodes have distances: all or none must", n_distances, rows->n_nodes);
    return r;
}

static int read_free_chunks(JsonReader *reader, const JsonPath *up, json_object *object, NodeRow *node)
{
    JsonPath path = {.up = up, .key = "free_chunks"};
    json_object *array = json_member(object, "free_chunks");
    int r = array ? json_check_array(reader, &path, array, MAX_CHUNK_ORDERS) : 0;

    if (!array || r != 0)
        return r;
    node->n_free_chunks = json_object_array_length(array);
    node->free_chunks = new_array(node->n_free_chunks, sizeof(*node->free_chunks));
    if (!node->free_chunks)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < node->n_free_chunks; i++)
        r = json_read_u64(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i), MAX_SIZE,
                          &node->free_chunks[i]);
    return r;
}

static int read_extra(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath up = {.key = "node_extra"};
    json_object *array = json_member(top, "node_extra");
    int r = array ? json_check_array(reader, &up, array, rows->n_nodes) : 0;

    for (size_t i = 0; array && r == 0 && i < json_object_array_length(array); i++) {
        JsonPath path = {.up = &up, .index = i};
        json_object *object = json_object_array_get_idx(array, i);
        NodeRow *node = &rows->nodes[i];

        r = json_check_object(reader, &path, object, extra_keys);
        if (r == 0)
            r = json_get_u64(reader, &path, object, "present", MAX_SIZE, &node->present);
        if (r == 0)
            r = json_get_u64(reader, &path, object, "low", MAX_SIZE, &node->low);
        if (r == 0)
            r = json_get_u64(reader, &path, object, "dirty", MAX_SIZE, &node->dirty);
        if (r == 0)
            r = json_get_u64(reader, &path, object, "claimed", MAX_SIZE, &node->claimed);
        if (r == 0)
            r = read_free_chunks(reader, &path, object, node);
    }
    return r;
}

/* --- CPUs --- */

/* Makes room for CPUs 0..cpu, all of them offline until a row says otherwise. */
static int grow_cpus(HostRows *rows, cpuid_t cpu)
{
    CpuRow *cpus;

    if (cpu < rows->n_cpus)
        return 0;
    cpus = reallocarray(rows->cpus, cpu + 1, sizeof(*cpus));
    if (!cpus)
        return -ENOMEM;
    rows->cpus = cpus;
    while (rows->n_cpus <= cpu)
        cpus[rows->n_cpus++] = (CpuRow){ROW_INVALID, ROW_INVALID, ROW_INVALID};
    return 0;
}

static int add_cpu(JsonReader *reader, const JsonPath *path, HostRows *rows, Bitmap *named, cpuid_t cpu, CpuRow row)
{
    int r;

    if (bitmap_isset(named, cpu))
        return json_refuse(reader, path, "CPU %u is named twice", cpu);
    r = bitmap_set(named, cpu);
    if (r == 0)
        r = grow_cpus(rows, cpu);
    if (r == 0)
        rows->cpus[cpu] = row;
    return r;
}

static int read_topology(JsonReader *reader, json_object *array, HostRows *rows, Bitmap *named)
{
    JsonPath up = {.key = "topology"};
    int r = json_check_array(reader, &up, array, CPUS_MAX);

    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
        JsonPath path = {.up = &up, .index = i};
        json_object *object = json_object_array_get_idx(array, i);
        CpuRow row = {ROW_INVALID, ROW_INVALID, ROW_INVALID};
        uint32_t cpu = CPU_NONE;

        r = json_check_object(reader, &path, object, cpu_keys);
        if (r == 0)
            r = json_get_u32(reader, &path, object, "cpu", CPUS_MAX - 1, &cpu);
        if (r == 0 && cpu == CPU_NONE)
            r = json_refuse(reader, &path, "needs a cpu");
        if (r == 0)
            r = json_get_u32(reader, &path, object, "core", UINT32_MAX, &row.core);
        if (r == 0)
            r = json_get_u32(reader, &path, object, "socket", UINT32_MAX, &row.socket);
        if (r == 0)
            r = json_get_u32(reader, &path, object, "node", UINT32_MAX, &row.node);
        if (r == 0)
            r = add_cpu(reader, &path, rows, named, cpu, row);
    }
    return r;
}

/* The short form: siblings are neighbours in the node's list, socket = node, core = position / threads. */
static int read_node_cpus(JsonReader *reader, json_object *top, HostRows *rows, Bitmap *named, bool has_topology)
{
    JsonPath up = {.key = "nodes"};
    json_object *array = json_member(top, "nodes");
    uint32_t threads = 1;
    int r = json_get_u32(reader, NULL, top, "threads_per_core", CPUS_MAX, &threads);

    if (r == 0 && threads == 0)
        r = json_refuse(reader, &(JsonPath){.key = "threads_per_core"}, "must be at least 1");
    for (nodeid_t id = 0; r == 0 && id < rows->n_nodes; id++) {
        _cleanup_bitmap_ Bitmap cpus = {0};
        JsonPath path = {.up = &up, .index = id};
        json_object *node = json_object_array_get_idx(array, id);
        uint32_t position = 0;

        if (has_topology && json_member(node, "cpus"))
            return json_refuse(reader, &(JsonPath){.up = &path, .key = "cpus"},
                               "cannot be used together with topology");
        r = json_get_set(reader, &path, node, "cpus", CPUS_MAX - 1, &cpus);
        for (cpuid_t cpu = bitmap_next(&cpus, 0); r == 0 && cpu != CPU_NONE; cpu = bitmap_next(&cpus, cpu + 1)) {
            CpuRow row = {.core = position++ / threads, .socket = id, .node = id};

            r = add_cpu(reader, &(JsonPath){.up = &path, .key = "cpus"}, rows, named, cpu, row);
        }
    }
    return r;
}

static int read_cpus(JsonReader *reader, json_object *top, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap named = {0};
    json_object *topology = json_member(top, "topology");
    uint32_t max_cpu_id = CPU_NONE;
    int r = topology ? read_topology(reader, topology, rows, &named) : 0;

    if (r == 0)
        r = read_node_cpus(reader, top, rows, &named, topology != NULL);
    if (r == 0)
        r = json_get_u32(reader, NULL, top, "max_cpu_id", CPUS_MAX - 1, &max_cpu_id);
    if (r != 0)
        return r;
    if (max_cpu_id == CPU_NONE)
        max_cpu_id = rows->n_cpus ? (uint32_t)rows->n_cpus - 1 : 0;
    if (rows->n_cpus > max_cpu_id + 1)
        return json_refuse(reader, &(JsonPath){.key = "max_cpu_id"}, "is %u, but CPU %zu is named", max_cpu_id,
                           rows->n_cpus - 1);
    rows->max_cpu_id = max_cpu_id;
    return grow_cpus(rows, max_cpu_id);
}

/* --- what names nodes and CPUs --- */

static int read_pool(JsonReader *reader, const JsonPath *path, json_object *object, HostRows *rows, Bitmap *taken)
{
    PoolRow *pool = &rows->pools[rows->n_pools++];
    int r = json_check_object(reader, path, object, pool_keys);

    pool->pool = UINT32_MAX;
    if (r == 0)
        r = json_get_u32(reader, path, object, "pool", UINT32_MAX - 1, &pool->pool);
    if (r == 0 && pool->pool == UINT32_MAX)
        r = json_refuse(reader, path, "needs a pool");
    if (r == 0)
        r = json_get_set(reader, path, object, "cpus", rows->max_cpu_id, &pool->cpus);
    for (size_t i = 0; r == 0 && i + 1 < rows->n_pools; i++)
        if (rows->pools[i].pool == pool->pool)
            r = json_refuse(reader, path, "pool %u is named twice", pool->pool);
    if (r == 0 && bitmap_weight_and(taken, &pool->cpus) > 0)
        r = json_refuse(reader, &(JsonPath){.up = path, .key = "cpus"}, "holds CPUs of another pool");
    return r != 0 ? r : bitmap_or(taken, &pool->cpus);
}

static int read_pools(JsonReader *reader, json_object *top, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap taken = {0};
    JsonPath up = {.key = "pools"};
    json_object *array = json_member(top, "pools");
    int r = array ? json_check_array(reader, &up, array, CPUS_MAX) : 0;

    if (!array || r != 0)
        return r;
    rows->pools = new_array(json_object_array_length(array), sizeof(*rows->pools));
    if (!rows->pools)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++)
        r = read_pool(reader, &(JsonPath){.up = &up, .index = i}, json_object_array_get_idx(array, i), rows, &taken);
    return r;
}

static int compare_device(const void *a, const void *b)
{
    return strcmp(((const DeviceRow *)a)->pci, ((const DeviceRow *)b)->pci);
}

static int check_devices(JsonReader *reader, HostRows *rows)
{
    qsort(rows->devices, rows->n_devices, sizeof(*rows->devices), compare_device);
    for (size_t i = 1; i < rows->n_devices; i++)
        if (compare_device(&rows->devices[i - 1], &rows->devices[i]) == 0)
            return json_refuse(reader, &(JsonPath){.key = "devices"}, "%s is named twice", rows->devices[i].pci);
    return 0;
}

static int read_devices(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath up = {.key = "devices"};
    json_object *array = json_member(top, "devices");
    int r = array ? json_check_array(reader, &up, array, MAX_DEVICES) : 0;

    if (!array || r != 0)
        return r;
    rows->devices = new_array(json_object_array_length(array), sizeof(*rows->devices));
    if (!rows->devices)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
        JsonPath path = {.up = &up, .index = i};
        json_object *object = json_object_array_get_idx(array, i);
        DeviceRow *device = &rows->devices[i];
        const char *pci = NULL;

        device->node = ROW_INVALID;
        r = json_check_object(reader, &path, object, device_keys);
        if (r == 0)
            r = json_get_string(reader, &path, object, "pci", &pci);
        if (r == 0 && (!pci || !*pci))
            r = json_refuse(reader, &path, "needs a pci address");
        if (r == 0)
            r = json_get_u32(reader, &path, object, "node", UINT32_MAX, &device->node);
        if (r == 0 && !(device->pci = strdup(pci)))
            r = -ENOMEM;
        rows->n_devices += r == 0;
    }
    return r != 0 ? r : check_devices(reader, rows);
}

/* Host totals that the file leaves out are the sums over the nodes. */
static void fill_totals(HostRows *rows)
{
    uint64_t size = 0, free_bytes = 0;

    for (size_t i = 0; i < rows->n_nodes; i++) {
        if (rows->nodes[i].size == ROW_HOLE)
            continue;
        size = add_saturating(size, rows->nodes[i].size); /* more than 64 bits hold is VALUE_UNKNOWN */
        free_bytes = add_saturating(free_bytes, rows->nodes[i].free);
    }
    if (rows->total == VALUE_UNKNOWN)
        rows->total = size;
    if (rows->free == VALUE_UNKNOWN)
        rows->free = free_bytes;
}

static int read_host(JsonReader *reader, json_object *top, HostRows *rows)
{
    int r = read_head(reader, top, rows);

    if (r == 0)
        r = read_nodes(reader, top, rows);
    if (r == 0)
        r = read_extra(reader, top, rows);
    if (r == 0)
        r = read_cpus(reader, top, rows);
    if (r == 0)
        r = read_pools(reader, top, rows);
    if (r == 0)
        r = read_devices(reader, top, rows);
    if (r == 0)
        r = hostdesc_read_domains(reader, top, rows);
    if (r == 0)
        fill_totals(rows);
    if (r == 0 && !(rows->features & FEATURE_BIT(FEATURE_NODE_PAGES)))
        r = warning_patch_missing(&rows->warnings);
    return r;
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
