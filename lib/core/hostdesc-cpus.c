/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-parts.h"

static const char *const cpu_keys[] = {"cpu", "core", "socket", "node", NULL};

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

static int read_cpu(JsonReader *reader, const JsonPath *path, json_object *object, HostRows *rows, Bitmap *named)
{
    CpuRow row = {ROW_INVALID, ROW_INVALID, ROW_INVALID};
    uint32_t cpu = CPU_NONE;
    int r = json_check_object(reader, path, object, cpu_keys);

    if (r == 0)
        r = json_get_u32(reader, path, object, "cpu", CPUS_MAX - 1, &cpu);
    if (r == 0 && cpu == CPU_NONE)
        r = json_refuse(reader, path, "needs a cpu");
    if (r == 0)
        r = json_get_u32(reader, path, object, "core", UINT32_MAX, &row.core);
    if (r == 0)
        r = json_get_u32(reader, path, object, "socket", UINT32_MAX, &row.socket);
    if (r == 0)
        r = json_get_u32(reader, path, object, "node", UINT32_MAX, &row.node);
    return r != 0 ? r : add_cpu(reader, path, rows, named, cpu, row);
}

static int read_topology(JsonReader *reader, json_object *array, HostRows *rows, Bitmap *named)
{
    JsonPath path = {.key = "topology"};
    int r = json_check_array(reader, &path, array, CPUS_MAX);

    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++)
        r = read_cpu(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i), rows, named);
    return r;
}

/* The short form: siblings are neighbours in the node's list, socket = node, core = position / threads. */
static int read_node_cpus(JsonReader *reader, const JsonPath *up, json_object *node, HostRows *rows, Bitmap *named,
                          nodeid_t id, uint32_t threads)
{
    _cleanup_bitmap_ Bitmap cpus = {0};
    JsonPath path = {.up = up, .key = "cpus"};
    uint32_t position = 0;
    int r = json_get_set(reader, up, node, "cpus", CPUS_MAX - 1, &cpus);

    BITMAP_FOREACH (cpu, &cpus) {
        CpuRow row = {.core = position++ / threads, .socket = id, .node = id};

        if (r == 0)
            r = add_cpu(reader, &path, rows, named, cpu, row);
    }
    return r;
}

static int read_short_form(JsonReader *reader, json_object *top, HostRows *rows, Bitmap *named)
{
    JsonPath path = {.key = "nodes"};
    json_object *array = json_member(top, "nodes");
    bool has_topology = json_member(top, "topology") != NULL;
    uint32_t threads = 1;
    int r = json_get_u32(reader, NULL, top, "threads_per_core", CPUS_MAX, &threads);

    if (r == 0 && threads == 0)
        r = json_refuse(reader, &(JsonPath){.key = "threads_per_core"}, "must be at least 1");
    for (nodeid_t id = 0; r == 0 && id < rows->n_nodes; id++) {
        json_object *node = json_object_array_get_idx(array, id);
        JsonPath at = {.up = &path, .index = id};

        if (has_topology && json_member(node, "cpus"))
            return json_refuse(reader, &(JsonPath){.up = &at, .key = "cpus"}, "cannot be used together with topology");
        r = read_node_cpus(reader, &at, node, rows, named, id, threads);
    }
    return r;
}

int hostdesc_read_cpus(JsonReader *reader, json_object *top, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap named = {0};
    json_object *topology = json_member(top, "topology");
    uint32_t max_cpu_id = CPU_NONE;
    int r = topology ? read_topology(reader, topology, rows, &named) : 0;

    if (r == 0)
        r = read_short_form(reader, top, rows, &named);
    if (r == 0)
        r = json_get_u32(reader, NULL, top, "max_cpu_id", CPUS_MAX - 1, &max_cpu_id);
    if (r != 0)
        return r;
    if (max_cpu_id == CPU_NONE && rows->n_cpus == 0)
        return 0; /* nothing is known of any CPU: not one that is offline is made up */
    if (max_cpu_id == CPU_NONE)
        max_cpu_id = (uint32_t)rows->n_cpus - 1;
    if (rows->n_cpus > max_cpu_id + 1)
        return json_refuse(reader, &(JsonPath){.key = "max_cpu_id"}, "is %u, but CPU %zu is named", max_cpu_id,
                           rows->n_cpus - 1);
    rows->max_cpu_id = max_cpu_id;
    if (json_is_null(top, "topology") && rows->n_cpus == 0)
        return 0; /* how many there are, and nothing of any of them */
    return grow_cpus(rows, max_cpu_id);
}
