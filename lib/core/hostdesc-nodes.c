/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-parts.h"

#define MAX_CHUNK_ORDERS 64

static const char *const node_keys[] = {"size", "free", "distances", "cpus", NULL};
static const char *const extra_keys[] = {"present", "low", "dirty", "claimed", "fragments", "free_chunks", NULL};

static bool is_hole(const HostRows *rows, nodeid_t id)
{
    return rows->nodes[id].size == ROW_HOLE;
}

static bool is_number(json_object *value)
{
    return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
}

/* Whether a value is a distance; -1 is how some programs print Xen's sentinel. */
static bool parse_distance(json_object *value, uint32_t *ret)
{
    uint64_t distance = UINT64_MAX;

    if (!json_object_is_type(value, json_type_int))
        return false;
    if (json_object_get_int64(value) != -1) {
        distance = json_object_get_uint64(value);
        if (json_object_get_int64(value) < 0 || (distance > UINT32_MAX && distance != UINT64_MAX))
            return false;
    }
    *ret = (uint32_t)MIN(distance, (uint64_t)UINT32_MAX);
    return true;
}

/* In the column of a hole any number may stand. */
static int read_distance(JsonReader *reader, const JsonPath *path, json_object *value, bool ignored, uint32_t *ret)
{
    if (parse_distance(value, ret) || (ignored && is_number(value)))
        return 0;
    if (ignored)
        return json_refuse(reader, path, "must be a number");
    return json_refuse(reader, path, "must be a whole number from 0 to %u, or -1 or %" PRIu64 " for unreachable",
                       UINT32_MAX, UINT64_MAX);
}

static int read_distance_row(JsonReader *reader, const JsonPath *path, json_object *array, HostRows *rows, nodeid_t id)
{
    uint32_t *row = rows->distances + id * rows->n_nodes;
    int r = json_check_array(reader, path, array, SIZE_MAX);

    if (r == 0 && json_object_array_length(array) != rows->n_nodes)
        r = json_refuse(reader, path, "has %zu entries for %zu nodes", json_object_array_length(array), rows->n_nodes);
    for (nodeid_t to = 0; r == 0 && to < rows->n_nodes; to++)
        r = read_distance(reader, &(JsonPath){.up = path, .index = to}, json_object_array_get_idx(array, to),
                          is_hole(rows, to), &row[to]);
    return r;
}

/* The row of a hole is ignored. What stands there and is a distance is kept, as a capture has it. */
static int read_hole_row(JsonReader *reader, const JsonPath *path, json_object *array, HostRows *rows, nodeid_t id)
{
    int r = json_check_array(reader, path, array, SIZE_MAX);

    for (nodeid_t to = 0; r == 0 && to < MIN(rows->n_nodes, json_object_array_length(array)); to++)
        parse_distance(json_object_array_get_idx(array, to), &rows->distances[id * rows->n_nodes + to]);
    return r;
}

/* A row, which may be left out. */
static int read_row(JsonReader *reader, const JsonPath *path, json_object *array, HostRows *rows, nodeid_t id)
{
    for (nodeid_t to = 0; to < rows->n_nodes; to++)
        rows->distances[id * rows->n_nodes + to] = array || is_hole(rows, id) ? UINT32_MAX : to == id ? 10 : 20;
    if (!array)
        return 0;
    return (is_hole(rows, id) ? read_hole_row : read_distance_row)(reader, path, array, rows, id);
}

/*
 * Distances of all nodes that exist: as the file says, or 10 and 20 where it leaves them out, or not known where it
 * says null.
 */
static int read_distances(JsonReader *reader, const JsonPath *up, json_object *array, HostRows *rows)
{
    size_t n_existing = 0, n_rows = 0, n_null = 0;
    int r = 0;

    for (nodeid_t id = 0; id < rows->n_nodes; id++)
        n_existing += !is_hole(rows, id);

    rows->distances = new_array(rows->n_nodes * rows->n_nodes, sizeof(*rows->distances));
    if (!rows->distances)
        return -ENOMEM;
    for (nodeid_t id = 0; r == 0 && id < rows->n_nodes; id++) {
        json_object *node = json_object_array_get_idx(array, id), *row = json_member(node, "distances");
        JsonPath path = {.up = up, .index = id};

        n_rows += row && !is_hole(rows, id);
        n_null += json_is_null(node, "distances") && (!is_hole(rows, id) || n_existing == 0);
        r = read_row(reader, &(JsonPath){.up = &path, .key = "distances"}, row, rows, id);
    }
    if (r == 0 && n_rows && n_rows != n_existing)
        r = json_refuse(reader, up, "%zu of %zu nodes have distances: all or none must", n_rows, n_existing);
    if (r == 0 && n_rows == 0 && n_null) {
        free(rows->distances);
        rows->distances = NULL;
    }
    return r;
}

/* What stands for free in a hole is ignored, but it is a number there, too. */
static int read_free(JsonReader *reader, const JsonPath *path, json_object *object, NodeRow *node)
{
    json_object *value = json_member(object, "free");

    if (node->size != ROW_HOLE)
        return json_get_u64(reader, path, object, "free", HOSTDESC_MAX_SIZE, &node->free);
    if (value && !is_number(value))
        return json_refuse(reader, &(JsonPath){.up = path, .key = "free"}, "must be a number");
    if (json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0)
        node->free = json_object_get_uint64(value);
    return 0;
}

static int read_node(JsonReader *reader, const JsonPath *path, json_object *object, NodeRow *node)
{
    int r;

    node_row_init(node);
    node->fragments = 0;
    node->size = node->free = VALUE_UNKNOWN;
    r = json_check_object(reader, path, object, node_keys);
    if (r == 0)
        r = json_get_u64(reader, path, object, "size", HOSTDESC_MAX_SIZE, &node->size);
    if (r == 0)
        r = read_free(reader, path, object, node);
    if (r == 0 && (node->size == VALUE_UNKNOWN || (node->free == VALUE_UNKNOWN && node->size != ROW_HOLE)))
        r = json_refuse(reader, path, "needs both size and free");
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
    if (r == 0)
        r = json_get_u64(reader, path, object, "fragments", HOSTDESC_MAX_SIZE, &node->fragments);
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
