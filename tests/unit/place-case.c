/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-case.h"

#include "lib/core/hostdesc-write.h"

#include <string.h>

/* --- drawing --- */

Draw draw_seeded(uint64_t seed)
{
    return (Draw){.state = seed};
}

static uint64_t draw_word(Draw *draw)
{
    uint64_t word = draw->state += 0x9e3779b97f4a7c15ull;

    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return word ^ word >> 31;
}

/* As few bytes as the range needs: a fuzzer's change of one then changes one choice. */
static uint64_t draw_bytes(Draw *draw, uint64_t n)
{
    uint64_t value = 0;

    for (uint64_t rest = n - 1; rest; rest >>= 8) {
        value = value << 8 | (draw->size ? *draw->bytes : 0);
        if (draw->size) {
            draw->bytes++;
            draw->size--;
        }
    }
    return value;
}

uint64_t draw_below(Draw *draw, uint64_t n)
{
    if (n <= 1)
        return 0;
    return (draw->bytes ? draw_bytes(draw, n) : draw_word(draw)) % n;
}

uint64_t draw_between(Draw *draw, uint64_t low, uint64_t high)
{
    return low + draw_below(draw, high - low + 1);
}

bool draw_chance(Draw *draw, unsigned percent)
{
    return draw_below(draw, 100) < percent;
}

/* --- cases --- */

static void add_reservation(Ledger *ledger, const PlacedMemory *memory, size_t n)
{
    const PlacementRequest request = {.vcpus = 1, .pool = ROW_NO_POOL};
    const Placement placement = {.memory = (PlacedMemory *)memory, .n_memory = n};
    char token[TOKEN_SIZE];
    const ReservationInfo info = {.token = token, .expires_us = UINT64_MAX};
    Reservation **items = realloc(ledger->items, (ledger->n + 1) * sizeof(Reservation *));

    MUST(items);
    ledger->items = items;
    snprintf(token, sizeof(token), "%032zx", ledger->n + 1);
    MUST(items[ledger->n] = reservation_new(&request, &placement, &info));
    ledger->n++;
}

/* Up to three, each of one or two nodes; they may promise more than there is. */
static void draw_ledger(Draw *draw, PlaceCase *place)
{
    unsigned n = draw_chance(draw, 60) ? 0 : (unsigned)draw_between(draw, 1, 3);

    while (n-- > 0) {
        nodeid_t node = (nodeid_t)draw_below(draw, place->rows->n_nodes);
        bool two = node + 1 < place->rows->n_nodes && draw_chance(draw, 30);
        PlacedMemory memory[2];

        for (unsigned i = 0; i < 2; i++) {
            const NodeRow *row = &place->rows->nodes[node + (two ? i : 0)];
            uint64_t room = row->size == ROW_HOLE ? 0 : row->free / 3 / 4096;

            memory[i] = (PlacedMemory){.node = node + (two ? i : 0),
                                       .bytes = 4096 * draw_below(draw, room + 1),
                                       .overhead = MIB * draw_below(draw, 4)};
        }
        if (place->rows->nodes[node].size != ROW_HOLE && (!two || place->rows->nodes[node + 1].size != ROW_HOLE))
            add_reservation(place->ledger, memory, two ? 2 : 1);
    }
}

void place_case_draw(Draw *draw, const CaseLimits *limits, PlaceCase *ret)
{
    *ret = (PlaceCase){.request = {.pool = ROW_NO_POOL}};
    MUST(ret->rows = host_rows_new());
    MUST(ret->ledger = ledger_new());
    place_draw_host(draw, limits, ret->rows);
    place_draw_memory(draw, limits, ret->rows);
    draw_ledger(draw, ret);
    if (draw_chance(draw, 20))
        place_case_promise_some(draw, ret);
    if (draw_chance(draw, 20))
        ret->headroom = MIB * draw_below(draw, 64);
    place_draw_request(draw, limits, ret);
}

void place_case_done(PlaceCase *place)
{
    host_rows_free(place->rows);
    ledger_unref(place->ledger);
    placement_request_done(&place->request);
    *place = (PlaceCase){0};
}

Snapshot *place_case_snapshot(const PlaceCase *place)
{
    const AccountOptions options = {.generation = 1, .time_us = -1, .headroom = place->headroom};
    _cleanup_(snapshot_unref_p) Snapshot *base = NULL;
    Snapshot *snapshot = NULL;
    HostRows *rows = NULL;

    MUST(host_rows_copy(place->rows, &rows) == 0);
    MUST(snapshot_seal(rows, 1, -1, &base) == 0);
    MUST(account_snapshot(base, NULL, place->ledger, &options, &snapshot) == 0);
    return snapshot;
}

int place_case_evaluate(const PlaceCase *place, Snapshot *snapshot, bool explain, Placement **ret_placement,
                        char **ret_why)
{
    const PlacementOptions options = {.policy = place->policy, .explain = explain};

    *ret_placement = NULL;
    *ret_why = NULL;
    return placement_evaluate(snapshot, &place->request, &options, ret_placement, ret_why);
}

void place_case_promise(PlaceCase *place, const Placement *placement)
{
    add_reservation(place->ledger, placement->memory, placement->n_memory);
}

static uint64_t known(uint64_t value, bool feature)
{
    return !feature || value == VALUE_UNKNOWN ? 0 : value;
}

uint64_t place_case_usable(const PlaceCase *place, nodeid_t node)
{
    const NodeRow *row = &place->rows->nodes[node];
    uint64_t taken = known(row->low, true) + known(row->claimed, place->rows->features & FEATURE_BIT(FEATURE_CLAIMS));

    return row->size == ROW_HOLE || row->free <= taken ? 0 : row->free - taken;
}

uint64_t place_case_available(const PlaceCase *place, nodeid_t node)
{
    uint64_t taken = place->headroom, usable = place_case_usable(place, node);

    for (size_t i = 0; i < place->ledger->n; i++)
        for (size_t j = 0; j < place->ledger->items[i]->n_memory; j++) {
            const PlacedMemory *memory = &place->ledger->items[i]->memory[j];

            if (memory->node == node)
                taken += memory->bytes + memory->overhead;
        }
    return usable > taken ? usable - taken : 0;
}

void place_case_promise_some(Draw *draw, PlaceCase *place)
{
    for (nodeid_t id = 0; id < place->rows->n_nodes; id++) {
        uint64_t pages = place_case_available(place, id) / 4096;
        const PlacedMemory memory = {.node = id,
                                     .bytes = 4096 * draw_below(draw, pages / draw_between(draw, 1, 4) + 1)};

        if (memory.bytes && draw_chance(draw, 50))
            add_reservation(place->ledger, &memory, 1);
    }
}

/* --- changes --- */

void place_case_copy(const PlaceCase *place, PlaceCase *ret_copy)
{
    *ret_copy = (PlaceCase){.headroom = place->headroom, .policy = place->policy};
    MUST(host_rows_copy(place->rows, &ret_copy->rows) == 0);
    MUST(placement_request_copy(&place->request, &ret_copy->request) == 0);
    MUST(ret_copy->ledger = ledger_new());
    for (size_t i = 0; i < place->ledger->n; i++)
        add_reservation(ret_copy->ledger, place->ledger->items[i]->memory, place->ledger->items[i]->n_memory);
}

static void renumber_set(Bitmap *set, const nodeid_t *new_ids)
{
    Bitmap renumbered = {0};

    BITMAP_FOREACH (node, set)
        MUST(bitmap_set(&renumbered, new_ids[node]) == 0);
    bitmap_done(set);
    *set = renumbered;
}

/* One number of each node; takes the array over. */
static uint64_t *renumber_counts(uint64_t *counts, size_t n, const nodeid_t *new_ids)
{
    uint64_t *renumbered = counts ? new_array(n, sizeof(*renumbered)) : NULL;

    for (size_t i = 0; counts && i < n; i++)
        renumbered[new_ids[i]] = counts[i];
    free(counts);
    return renumbered;
}

static void renumber_nodes(HostRows *rows, const nodeid_t *new_ids)
{
    size_t n = rows->n_nodes;
    NodeRow *nodes = new_array(n, sizeof(*nodes));
    uint32_t *distances = rows->distances ? new_array(n * n, sizeof(*distances)) : NULL;

    MUST(nodes && (distances || !rows->distances));
    for (size_t i = 0; i < n; i++) {
        nodes[new_ids[i]] = rows->nodes[i];
        for (size_t j = 0; distances && j < n; j++)
            distances[new_ids[i] * n + new_ids[j]] = rows->distances[i * n + j];
    }
    free(rows->nodes);
    free(rows->distances);
    rows->nodes = nodes;
    rows->distances = distances;
}

void place_case_renumber(PlaceCase *place, const nodeid_t *new_ids)
{
    HostRows *rows = place->rows;

    renumber_nodes(rows, new_ids);
    for (size_t i = 0; i < rows->n_cpus; i++)
        if (rows->cpus[i].node != ROW_INVALID)
            rows->cpus[i].node = new_ids[rows->cpus[i].node];
    for (size_t i = 0; i < rows->n_devices; i++)
        if (rows->devices[i].node != ROW_INVALID)
            rows->devices[i].node = new_ids[rows->devices[i].node];
    for (size_t i = 0; i < rows->n_domains; i++) {
        rows->domains[i].node_pages = renumber_counts(rows->domains[i].node_pages, rows->n_nodes, new_ids);
        renumber_set(&rows->domains[i].node_affinity, new_ids);
    }
    for (size_t i = 0; i < place->ledger->n; i++)
        for (size_t j = 0; j < place->ledger->items[i]->n_memory; j++)
            place->ledger->items[i]->memory[j].node = new_ids[place->ledger->items[i]->memory[j].node];
    if (place->request.has_nodes)
        renumber_set(&place->request.nodes, new_ids);
}

void place_case_add_memory(PlaceCase *place, nodeid_t node, uint64_t bytes)
{
    NodeRow *row = &place->rows->nodes[node];
    uint64_t pages = bytes / 4096;

    row->free += pages * 4096;
    if (row->size < row->free)
        row->size = row->free;
    for (unsigned order = row->free_chunks ? (unsigned)row->n_free_chunks : 0; order-- > 0;) {
        row->free_chunks[order] += pages >> order;
        pages &= (1ull << order) - 1;
    }
}

/* --- printing --- */

static void print_set(const char *key, bool has, const Bitmap *set, FILE *file)
{
    _cleanup_free_ char *text = has ? bitmap_to_text(set) : NULL;

    if (text)
        fprintf(file, " %s=%s", key, text);
}

void place_case_print(const PlaceCase *place, FILE *file)
{
    const PlacementRequest *request = &place->request;
    _cleanup_free_ char *host = NULL;

    MUST(hostdesc_document(place->rows, &host) == 0);
    for (char *end = strchr(host, '\n'); end; end = strchr(end, '\n'))
        *end = ' ';
    fprintf(file, "# host: %s\n", host);
    fprintf(file, "# request: vcpus=%" PRIu32 " memory=%" PRIu64 " max_memory=%" PRIu64 " type=%d policy=%s%s",
            request->vcpus, request->memory, request->max_memory, request->type,
            policy_to_text(place_case_policy(place)), request->strict ? " strict" : "");
    print_set("nodes", request->has_nodes, &request->nodes, file);
    print_set("cpus", request->has_cpus, &request->cpus, file);
    if (request->pool != ROW_NO_POOL)
        fprintf(file, " pool=%" PRIu32, request->pool);
    if (request->near)
        fprintf(file, " near=%s", request->near);
    fprintf(file, " threads_per_core=%" PRIu32 "\n# headroom: %" PRIu64 "\n", request->threads_per_core,
            place->headroom);
    for (size_t i = 0; i < place->ledger->n; i++)
        for (size_t j = 0; j < place->ledger->items[i]->n_memory; j++) {
            const PlacedMemory *memory = &place->ledger->items[i]->memory[j];

            fprintf(file, "# reserved: node %" PRIu32 " %" PRIu64 "+%" PRIu64 "\n", memory->node, memory->bytes,
                    memory->overhead);
        }
    for (nodeid_t id = 0; id < place->rows->n_nodes; id++)
        if (place->rows->nodes[id].size != ROW_HOLE)
            fprintf(file, "# node %" PRIu32 " available: %" PRIu64 "\n", id, place_case_available(place, id));
}

void placement_print(int result, const Placement *placement, const char *why, FILE *file)
{
    fprintf(file, "# answer: %d%s%s\n", result, why ? ": " : "", why ? why : "");
    if (!placement)
        return;
    for (size_t i = 0; i < placement->n_memory; i++)
        fprintf(file, "# memory: node %" PRIu32 " %" PRIu64 "+%" PRIu64 "\n", placement->memory[i].node,
                placement->memory[i].bytes, placement->memory[i].overhead);
    for (size_t i = 0; i < placement->n_vcpus && i < 40; i++) {
        _cleanup_free_ char *hard = bitmap_to_text(&placement->sets[placement->vcpus[i].hard]);
        _cleanup_free_ char *soft = bitmap_to_text(&placement->sets[placement->vcpus[i].soft]);

        fprintf(file, "# vcpu %zu: hard %s soft %s\n", i, hard ? hard : "?", soft ? soft : "?");
    }
    fprintf(file, "# locality: %.6f reason: %s\n", placement->expected_locality,
            placement->reason ? placement->reason : "(none)");
}
