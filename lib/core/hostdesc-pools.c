/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-parts.h"

/* Pools have CPUs, but for those whose CPUs are not known: of these a domain may be in each. */
#define MAX_POOLS (CPUS_MAX + DOMAINS_MAX)

static const char *const pool_keys[] = {"pool", "cpus", NULL};

static int read_pool(JsonReader *reader, const JsonPath *path, json_object *object, HostRows *rows, Bitmap *taken)
{
    PoolRow *pool = &rows->pools[rows->n_pools++];
    int r = json_check_object(reader, path, object, pool_keys);

    pool->pool = ROW_NO_POOL;
    if (r == 0)
        r = json_get_u32(reader, path, object, "pool", ROW_NO_POOL - 1, &pool->pool);
    if (r == 0 && pool->pool == ROW_NO_POOL)
        r = json_refuse(reader, path, "needs a pool");
    if (r == 0)
        r = json_get_set(reader, path, object, "cpus", rows->max_cpu_id, &pool->cpus);
    if (r == 0 && bitmap_weight_and(taken, &pool->cpus) > 0)
        r = json_refuse(reader, &(JsonPath){.up = path, .key = "cpus"}, "holds CPUs of another pool");
    return r != 0 ? r : bitmap_or(taken, &pool->cpus);
}

static int compare_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int check_ids(JsonReader *reader, const HostRows *rows)
{
    uint32_t *ids = new_array(rows->n_pools, sizeof(*ids));
    int r = ids ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < rows->n_pools; i++)
        ids[i] = rows->pools[i].pool;
    if (r == 0)
        qsort(ids, rows->n_pools, sizeof(*ids), compare_id);
    for (size_t i = 1; r == 0 && i < rows->n_pools; i++)
        if (ids[i - 1] == ids[i])
            r = json_refuse(reader, &(JsonPath){.key = "pools"}, "pool %u is named twice", ids[i]);
    free(ids);
    return r;
}

int hostdesc_read_pools(JsonReader *reader, json_object *top, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap taken = {0};
    JsonPath path = {.key = "pools"};
    json_object *array = json_member(top, "pools");
    int r = array ? json_check_array(reader, &path, array, MAX_POOLS) : 0;

    if (!array || r != 0)
        return r;
    rows->pools = new_array(json_object_array_length(array), sizeof(*rows->pools));
    if (!rows->pools)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++)
        r = read_pool(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i), rows, &taken);
    return r != 0 ? r : check_ids(reader, rows);
}

void hostdesc_drop_unknown_pools(json_object *top, HostRows *rows)
{
    json_object *array = json_member(top, "pools");
    size_t kept = 0;

    for (size_t i = 0; i < rows->n_pools; i++) {
        if (json_is_null(json_object_array_get_idx(array, i), "cpus"))
            continue; /* its set is empty: nothing to free */
        rows->pools[kept++] = rows->pools[i];
    }
    rows->n_pools = kept;
}
