/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger-parts.h"

/*
 * The sets of a reservation's vCPUs, of `sets` and `runs`. They are as placed_sets_new() makes them, or refused: every
 * vCPU is in exactly one run, and every set is named by one.
 */

#define SETS_MAX (2 * REQUEST_VCPUS_MAX)

/* Its canonical text. */
static int read_set(JsonReader *reader, const JsonPath *path, json_object *value, char **ret)
{
    _cleanup_bitmap_ Bitmap set = {0};
    const char *text = NULL;
    int r = json_read_string(reader, path, value, &text);

    if (r != 0)
        return r;
    r = bitmap_parse(&set, text, CPUS_MAX - 1);
    if (r == BITMAP_E_RANGE)
        return json_refuse(reader, path, "names a CPU above %u", CPUS_MAX - 1);
    if (r > 0 || (r == 0 && bitmap_isempty(&set)))
        return json_refuse(reader, path, "is no list of CPUs as \"0-3,8\"");
    if (r == 0)
        *ret = bitmap_to_text(&set);
    return r == 0 && !*ret ? -ENOMEM : r;
}

static int read_texts(JsonReader *reader, const JsonPath *path, json_object *array, PlacedSets *sets)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < sets->n_texts; i++)
        r = read_set(reader, &(JsonPath){.up = path, .index = i}, json_object_array_get_idx(array, i), &sets->texts[i]);
    return r;
}

/* Of a run: 0 is how many vCPUs it has, 1 and 2 are sets. */
static int read_number(JsonReader *reader, const JsonPath *path, json_object *array, size_t index, uint64_t max,
                       uint32_t *ret)
{
    uint64_t number = 0;
    int r = json_read_u64(reader, &(JsonPath){.up = path, .index = index}, json_object_array_get_idx(array, index), max,
                          &number);

    *ret = (uint32_t)number;
    return r;
}

/* A set that was named before, or else the next one. */
static int read_index(JsonReader *reader, const JsonPath *path, json_object *array, size_t index, size_t *n_named,
                      uint32_t *ret)
{
    int r = read_number(reader, path, array, index, *n_named, ret);

    *n_named += r == 0 && *ret == *n_named;
    return r;
}

static int read_run(JsonReader *reader, const JsonPath *path, json_object *array, size_t *n_named, PlacedRun *ret)
{
    int r = json_check_array(reader, path, array, 3);

    if (r == 0 && json_object_array_length(array) != 3)
        r = json_refuse(reader, path, "must be vCPUs, hard and soft set");
    if (r == 0)
        r = read_number(reader, path, array, 0, REQUEST_VCPUS_MAX, &ret->n);
    if (r == 0 && ret->n == 0)
        r = json_refuse(reader, path, "has no vCPU");
    if (r == 0)
        r = read_index(reader, path, array, 1, n_named, &ret->hard);
    if (r == 0)
        r = read_index(reader, path, array, 2, n_named, &ret->soft);
    return r;
}

static int read_runs(JsonReader *reader, const JsonPath *path, json_object *array, uint32_t n_vcpus, PlacedSets *sets)
{
    size_t n_named = 0;
    uint64_t n = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < sets->n_runs; i++) {
        JsonPath at = {.up = path, .index = i};
        PlacedRun *run = &sets->runs[i];

        r = read_run(reader, &at, json_object_array_get_idx(array, i), &n_named, run);
        if (r == 0 && i > 0 && run->hard == run[-1].hard && run->soft == run[-1].soft)
            r = json_refuse(reader, &at, "has the sets of the one before");
        n += run->n;
    }
    if (r == 0 && n != n_vcpus)
        r = json_refuse(reader, path, "have %" PRIu64 " vCPUs, not %" PRIu32, n, n_vcpus);
    if (r == 0 && n_named != sets->n_texts)
        r = json_refuse(reader, path, "name %zu sets of %zu", n_named, sets->n_texts);
    return r;
}

int ledger_read_sets(JsonReader *reader, const JsonPath *up, json_object *object, Reservation *to)
{
    JsonPath sets_path = {.up = up, .key = "sets"}, runs_path = {.up = up, .key = "runs"};
    json_object *texts = json_member(object, "sets"), *runs = json_member(object, "runs");
    bool open = reservation_is_open(to);
    int r = json_check_array(reader, &sets_path, texts, open ? SETS_MAX : 0);

    if (r == 0)
        r = json_check_array(reader, &runs_path, runs, open ? REQUEST_VCPUS_MAX : 0);
    if (r != 0 || !open)
        return r;
    to->sets = placed_sets_blank(json_object_array_length(texts), json_object_array_length(runs));
    if (!to->sets)
        return -ENOMEM;
    r = read_texts(reader, &sets_path, texts, to->sets);
    return r == 0 ? read_runs(reader, &runs_path, runs, to->vcpus, to->sets) : r;
}
