/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-oracle.h"

#include <string.h>

/* What a request means on a host, and where Xen would take the memory for a set of nodes. */

/* --- the request on this host --- */

static bool has_memory(const Snapshot *s, nodeid_t node)
{
    return node < s->n_nodes && s->nodes[node].exists && s->nodes[node].span > 0;
}

static bool find_near(Oracle *o)
{
    o->near = NODE_NONE;
    if (!o->request->near)
        return true;
    for (size_t i = 0; i < o->snapshot->n_devices; i++)
        if (strcmp(o->snapshot->devices[i].pci, o->request->near) == 0) {
            uint32_t node = o->snapshot->devices[i].node;

            o->near = node == ROW_INVALID ? NODE_NONE : node;
            return true;
        }
    return false;
}

/* Memory-only nodes where no node has both: the nearest to a CPU node. In doubt when two are equally near. */
static void add_nearest(Oracle *o, nodeid_t cpu_node)
{
    const Snapshot *s = o->snapshot;
    uint32_t best = DISTANCE_NONE;
    unsigned n_best = 0;
    nodeid_t found = NODE_NONE;

    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        uint32_t distance = has_memory(s, id) ? oracle_distance(o, cpu_node, id) : DISTANCE_NONE;

        if (distance < best) {
            best = distance;
            n_best = 0;
            found = id;
        }
        n_best += distance != DISTANCE_NONE && distance == best;
    }
    o->kinds_clear &= n_best == 1;
    if (found != NODE_NONE)
        MUST(bitmap_set(&o->universe, found) == 0);
}

static void find_universe(Oracle *o)
{
    const Snapshot *s = o->snapshot;

    o->kinds_clear = true;
    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        bool cpus = !bitmap_isempty(&s->nodes[id].cpus);

        o->both |= cpus && has_memory(s, id);
        if (has_memory(s, id) && (cpus || (o->request->has_nodes && bitmap_isset(&o->request->nodes, id))))
            MUST(bitmap_set(&o->universe, id) == 0);
    }
    for (nodeid_t id = 0; !o->both && id < s->n_nodes; id++)
        if (!bitmap_isempty(&s->nodes[id].cpus))
            add_nearest(o, id);
}

static void find_no_slit(Oracle *o)
{
    const Snapshot *s = o->snapshot;
    bool none = true, flat = true;

    for (nodeid_t from = 0; from < s->n_nodes; from++)
        for (nodeid_t to = 0; to < s->n_nodes; to++)
            if (from != to && s->nodes[from].exists && s->nodes[to].exists) {
                none &= snapshot_distance(s, from, to) == DISTANCE_NONE;
                flat &= snapshot_distance(s, from, to) == 10;
            }
    o->no_slit = none || flat;
}

int oracle_init(Oracle *o, const PlaceCase *place, const Snapshot *snapshot)
{
    const PlacementRequest *q = &place->request;
    const Bitmap *pool = snapshot_pool_cpus(snapshot, q->pool == ROW_NO_POOL ? 0 : q->pool);

    *o = (Oracle){.place = place, .snapshot = snapshot, .request = q};
    if (!pool || !find_near(o))
        return ORACLE_E_INVALID;
    if (q->has_nodes)
        BITMAP_FOREACH (node, &q->nodes)
            if (!has_memory(snapshot, node))
                return ORACLE_E_INVALID;
    MUST(bitmap_copy(&o->allowed, pool) == 0);
    if (q->has_cpus)
        MUST(bitmap_and(&o->allowed, &o->allowed, &q->cpus) == 0);
    find_no_slit(o);
    find_universe(o);
    return 0;
}

void oracle_done(Oracle *o)
{
    bitmap_done(&o->allowed);
    bitmap_done(&o->universe);
}

uint32_t oracle_distance(const Oracle *o, nodeid_t from, nodeid_t to)
{
    if (from == to)
        return 10;
    return o->no_slit ? 20 : snapshot_distance(o->snapshot, from, to);
}

uint64_t oracle_overhead(const PlacementRequest *q)
{
    uint64_t most = q->max_memory ? q->max_memory : q->memory, mib = most / MIB + (most % MIB != 0);

    return q->vcpus * MIB + (q->type == DOMAIN_TYPE_PV ? 0 : 4096 * mib);
}

bool oracle_spare(const Oracle *o)
{
    return o->snapshot->spare == VALUE_UNKNOWN ||
           o->request->memory + oracle_overhead(o->request) <= o->snapshot->spare;
}

/* --- memory, extent by extent --- */

enum { PAGE, LARGE, HUGEST, _SIZES };
static const unsigned orders[_SIZES] = {0, 9, 18};

/* What a node still has: what Xen would give, or what is available. */
typedef struct Supply {
    uint64_t bytes;
    uint64_t chunks[_SIZES]; /* bytes in free chunks at least as large */
    bool known;              /* the chunks are */
    uint64_t withheld;       /* of the chunks, and for all we know of the largest */
    uint64_t dirty;          /* to be left alone, but for single pages, which Xen scrubs as it goes */
} Supply;

static uint64_t chunk_bytes(const NodeRow *row, unsigned order)
{
    uint64_t bytes = 0;

    for (; order < row->n_free_chunks; order++)
        bytes += row->free_chunks[order] * (4096ull << order);
    return bytes;
}

static Supply supply_of(const Oracle *o, nodeid_t node, uint64_t bytes, unsigned mode)
{
    const NodeRow *row = &o->place->rows->nodes[node];
    unsigned features = o->snapshot->features;
    Supply supply = {.bytes = bytes, .withheld = row->free - bytes};

    supply.known = mode & SUPPLY_CHUNKS && row->free_chunks && features & FEATURE_BIT(FEATURE_FREE_CHUNKS);
    for (unsigned size = 0; supply.known && size < _SIZES; size++)
        supply.chunks[size] = chunk_bytes(row, orders[size]);
    if (mode & SUPPLY_CLEAN && features & FEATURE_BIT(FEATURE_NODE_MEMORY) && row->dirty != VALUE_UNKNOWN)
        supply.dirty = row->dirty;
    return supply;
}

static uint64_t supply_bytes(const Supply *supply, unsigned size)
{
    uint64_t bytes = supply->bytes;

    if (supply->known)
        bytes = MIN(bytes, sub_saturating(supply->chunks[size], supply->withheld));
    return size > PAGE ? sub_saturating(bytes, supply->dirty) : bytes;
}

/* One extent out of a chunk of its own size class, else a larger one is broken and is none any more. */
static void take_chunk(Supply *supply, unsigned size)
{
    uint64_t bytes = 4096ull << orders[size];

    for (unsigned larger = size + 1; larger < _SIZES; larger++) {
        if (supply->chunks[larger - 1] - supply->chunks[larger] >= (4096ull << orders[larger - 1]))
            break; /* there is a smaller one */
        supply->chunks[larger] -= 4096ull << orders[larger];
    }
    for (unsigned i = 0; i <= size; i++)
        supply->chunks[i] -= bytes;
}

static bool supply_take(Supply *supply, unsigned size)
{
    uint64_t bytes = 4096ull << orders[size];

    if (supply_bytes(supply, size) < bytes)
        return false;
    if (supply->known)
        take_chunk(supply, size);
    supply->bytes -= bytes;
    return true;
}

typedef struct Builder {
    Supply xen[NODES_MAX], available[NODES_MAX], clean[NODES_MAX];
    nodeid_t nodes[NODES_MAX]; /* the set's */
    unsigned n, next;
    OracleSplit split;
} Builder;

/* As get_free_buddy(): the node after the last one that gave, then round. It does not ask whom the memory is for. */
static bool take_extent(Builder *b, unsigned size, uint64_t *pages)
{
    for (unsigned tried = 0; tried < b->n; tried++) {
        unsigned i = (b->next + tried) % b->n;

        if (!supply_take(&b->xen[i], size))
            continue;
        b->split.kept &= supply_take(&b->available[i], size);
        b->split.clean &= supply_take(&b->clean[i], size);
        b->split.even &= tried == 0;
        b->split.last = b->nodes[i];
        pages[b->nodes[i]] += 1ull << orders[size];
        b->next = (i + 1) % b->n;
        return true;
    }
    return false;
}

/* How many of n could not be taken, in pages. */
static uint64_t take_extents(Builder *b, unsigned size, uint64_t n, uint64_t *pages)
{
    while (n > 0 && take_extent(b, size, pages))
        n--;
    return n << orders[size];
}

static uint64_t request_pages(const PlacementRequest *q)
{
    return q->memory / 4096 + (q->memory % 4096 != 0);
}

bool oracle_split(const Oracle *o, const Bitmap *set, unsigned supply, uint64_t *pages, OracleSplit *ret_split)
{
    static Builder b; /* too large for a stack */
    uint64_t rest = request_pages(o->request), first;

    b.n = b.next = 0;
    b.split = (OracleSplit){.even = true, .kept = true, .clean = true};
    memset(pages, 0, o->snapshot->n_nodes * sizeof(*pages));
    BITMAP_FOREACH (node, set) {
        uint64_t usable = place_case_usable(o->place, node), available = place_case_available(o->place, node);

        b.nodes[b.n] = node;
        b.xen[b.n] = supply_of(o, node, usable, supply & ~(unsigned)SUPPLY_CLEAN);
        b.clean[b.n] = supply_of(o, node, usable, supply | SUPPLY_CLEAN);
        b.available[b.n++] = supply_of(o, node, available, supply & ~(unsigned)SUPPLY_CLEAN);
    }
    /* a pvh domain begins at page 0, and so with an extent of a GiB; the others have devices' memory below the first */
    first = o->request->type == DOMAIN_TYPE_PV    ? rest
            : o->request->type == DOMAIN_TYPE_PVH ? 0
                                                  : MIN(rest, 1ull << orders[HUGEST]);
    rest -= first;
    *ret_split = (OracleSplit){0};
    first = take_extents(&b, LARGE, first >> 9, pages) + (first & 511);
    if (first > 511 && !(supply & SUPPLY_SMALLER))
        return false;
    rest += first;
    for (unsigned size = o->request->type == DOMAIN_TYPE_PV ? LARGE : HUGEST;; size--) {
        uint64_t n = rest >> orders[size], missing = take_extents(&b, size, n, pages);

        rest -= (n << orders[size]) - missing;
        if (missing && (size == PAGE || !(supply & SUPPLY_SMALLER)))
            return false;
        if (size == PAGE)
            break;
    }
    *ret_split = b.split;
    return true;
}

/* Where a node has no room for its share of the overhead, other nodes of the set take it. */
static bool has_room_for_overhead(const Oracle *o, const Bitmap *set)
{
    uint64_t available = 0;

    BITMAP_FOREACH (node, set)
        available += place_case_available(o->place, node);
    return available >= o->request->memory + oracle_overhead(o->request);
}

bool oracle_fits_memory(const Oracle *o, const Bitmap *set, unsigned supply)
{
    uint64_t pages[NODES_MAX];
    OracleSplit split;

    if (!has_room_for_overhead(o, set) || !oracle_split(o, set, supply, pages, &split) || !split.kept ||
        (supply & SUPPLY_CLEAN && !split.clean))
        return false;
    BITMAP_FOREACH (node, set)
        if (!pages[node])
            return false;
    return true;
}

uint64_t oracle_large_bytes(const Oracle *o, nodeid_t node)
{
    Supply supply = supply_of(o, node, place_case_available(o->place, node), SUPPLY_CHUNKS);

    return supply_bytes(&supply, LARGE);
}

/* The node of the universe with the most memory that is not in the set yet. */
static nodeid_t richest(const Oracle *o, const Bitmap *set)
{
    nodeid_t best = NODE_NONE;

    BITMAP_FOREACH (node, &o->universe)
        if (!bitmap_isset(set, node) &&
            (best == NODE_NONE || place_case_available(o->place, node) > place_case_available(o->place, best)))
            best = node;
    return best;
}

bool oracle_interleaves(const Oracle *o)
{
    _cleanup_free_ char *buffer = new_array(o->snapshot->n_nodes, sizeof(uint64_t));
    uint64_t *pages = (uint64_t *)(void *)buffer;
    _cleanup_bitmap_ Bitmap set = {0};
    OracleSplit split = {0};

    MUST(pages);
    for (nodeid_t node; !split.even && (node = richest(o, &set)) != NODE_NONE;) {
        MUST(bitmap_set(&set, node) == 0);
        if (bitmap_weight(&set) < 2 || !oracle_reaches(o, &set) || !oracle_fits_memory(o, &set, SUPPLY_CHUNKS) ||
            !oracle_split(o, &set, SUPPLY_CHUNKS, pages, &split))
            split.even = false;
    }
    return split.even;
}
