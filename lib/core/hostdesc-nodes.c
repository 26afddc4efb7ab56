/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-parts.h"

#define MAX_CHUNK_ORDERS 64

static const char *const node_keys[] = {"size", "free", "distances", "cpus", NULL};
static const char *const extra_keys[] = {"present", "low", "dirty", "claimed", "free_chunks", NULL};

/* -1 is how some programs print Xen's sentinel. */
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

/* Distances of all nodes: as the file says, 10 and 20 where it leaves them out, NULL where it says null. */
static int read_distances(JsonReader *reader, const JsonPath *path, json_object *array, HostRows *rows)
{
    size_t n_rows = 0, n_null = 0;
    int r = 0;

    rows->distances = new_array(rows->n_nodes * rows->n_nodes, sizeof(*rows->distances));
    if (!rows->distances)
        return -ENOMEM;
    for (nodeid_t id = 0; r == 0 && id < rows->n_nodes; id++) {
        json_object *node = json_object_array_get_idx(array, id), *row = json_member(node, "distances");

        n_rows += row != NULL;
        n_null += json_is_null(node, "distances");
        for (nodeid_t to = 0; to < rows->n_nodes; to++)
            rows->distances[id * rows->n_nodes + to] = to == id ? 10 : 20;
        if (row)
            r = read_distance_row(reader, &(JsonPath){.up = path, .index = id}, row, rows, id);
    }
    if (r != 0)
        return r;
    if (n_rows + n_null != 0 && n_rows != rows->n_nodes && n_null != rows->n_nodes)
        return json_refuse(reader, path, "%zu of %zu nodes have distances: all or none must", n_rows, rows->n_nodes);
    if (n_null) {
        free(rows->distances);
        rows->distances = NULL;
    }
    return 0;
}

/* What stands for free in a hole is ignored, but it is a number there, too. */
static int read_node(JsonReader *reader, const JsonPath *path, json_object *object, NodeRow *node)
{
    uint64_t free_bytes = VALUE_UNKNOWN;
    int r;

    node_row_init(node);
    node->size = VALUE_UNKNOWN;
    r = json_check_object(reader, path, object, node_keys);
    if (r == 0)
        r = json_get_u64(reader, path, object, "size", HOSTDESC_MAX_SIZE, &node->size);
    if (r == 0)
        r = json_get_u64(reader, path, object, "free", node->size == ROW_HOLE ? UINT64_MAX : HOSTDESC_MAX_SIZE,
                         &free_bytes);
    if (r == 0 && (node->size == VALUE_UNKNOWN || (free_bytes == VALUE_UNKNOWN && node->size != ROW_HOLE)))
        r = json_refuse(reader, path, "needs both size and free");
    node->free = free_bytes;
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
        r = json_read_u64(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i),
                          HOSTDESC_MAX_SIZE, &node->free_chunks[i]);
    return r;
}

static int read_extra_row(JsonReader *reader, const JsonPath *path, json_object *object, NodeRow *node)
{
    int r = json_check_object(reader, path, object, extra_keys);

    if (r == 0)
        r = json_get_u64(reader, path, object, "present", HOSTDESC_MAX_SIZE, &node->present);
    if (r == 0)
        r = json_get_u64(reader, path, object, "low", HOSTDESC_MAX_SIZE, &node->low);
    if (r == 0)
        r = json_get_u64(reader, path, object, "dirty", HOSTDESC_MAX_SIZE, &node->dirty);
    if (r == 0)
        r = json_get_u64(reader, path, object, "claimed", HOSTDESC_MAX_SIZE, &node->claimed);
    return r != 0 ? r : read_free_chunks(reader, path, object, node);
}

static int read_extra(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath path = {.key = "node_extra"};
    json_object *array = json_member(top, "node_extra");
    int r = array ? json_check_array(reader, &path, array, rows->n_nodes) : 0;

    for (size_t i = 0; array && r == 0 && i < json_object_array_length(array); i++)
        r = read_extra_row(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i),
                           &rows->nodes[i]);
    return r;
}

int hostdesc_read_nodes(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath path = {.key = "nodes"};
    json_object *array = json_member(top, "nodes");
    int r;

    if (!array)
        return json_refuse(reader, &path, "is missing: at least one node with size and free is needed");
    r = json_check_array(reader, &path, array, NODES_MAX);
    if (r == 0 && json_object_array_length(array) == 0)
        r = json_refuse(reader, &path, "is empty: at least one node is needed");
    if (r != 0)
        return r;
    rows->nodes = new_array(json_object_array_length(array), sizeof(*rows->nodes));
    if (!rows->nodes)
        return -ENOMEM;
    rows->n_nodes = json_object_array_length(array);
    for (size_t i = 0; r == 0 && i < rows->n_nodes; i++)
        r = read_node(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i),
                      &rows->nodes[i]);
    if (r == 0)
        r = read_distances(reader, &path, array, rows);
    return r != 0 ? r : read_extra(reader, top, rows);
}
