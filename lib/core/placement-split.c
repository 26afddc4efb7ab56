/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-parts.h"

#include <string.h>

/*
 * What Xen's domain builder does with a node affinity: each extent comes from the next node of the set, round robin,
 * that still has one of that size. So after any number of extents all nodes have got the same number, but for those
 * that had no more, and but for one: as water fills basins of different depth. The level is looked for, instead of
 * giving extent by extent.
 *
 * Xen knows nothing of promises: a node whose memory is promised to others gives as much as one that is free. So the
 * split goes by what Xen has, and fits where it leaves each node what is promised there.
 */

#define MIB (UINT64_C(1) << 20)
#define PV_OVERHEAD_VCPU MIB
#define OVERHEAD_MIB UINT64_C(4096)

uint64_t placement_overhead(const PlacementRequest *request)
{
    uint64_t overhead = request->vcpus * PV_OVERHEAD_VCPU, maximum = MAX(request->max_memory, request->memory);

    if (request->type != DOMAIN_TYPE_PV)
        overhead += (maximum / MIB + (maximum % MIB != 0)) * OVERHEAD_MIB;
    return overhead;
}

uint64_t placement_chunk_bytes(const Snapshot *s, nodeid_t id, unsigned order)
{
    const Node *node = &s->nodes[id];
    uint64_t bytes = 0;

    for (size_t i = order; i < node->n_free_chunks; i++) {
        uint64_t each = i < 44 ? (uint64_t)s->page_size << i : UINT64_MAX, n = node->free_chunks[i];

        bytes = add_saturating(bytes, n && each > UINT64_MAX / n ? UINT64_MAX : n * each);
    }
    return bytes;
}

uint64_t placement_extents(const Snapshot *s, nodeid_t id, unsigned order)
{
    const Node *node = &s->nodes[id];
    uint64_t withheld = sub_saturating(node->free, node->available);

    if (!node->free_chunks)
        return node->available;
    return MIN(node->available, sub_saturating(placement_chunk_bytes(s, id, order), withheld));
}

static uint64_t step_bytes(const SplitAsk *ask, Step step)
{
    return ask->page << STEP_ORDER(step);
}

/*
 * Bytes in chunks large enough that are still free. Small extents come out of the smallest chunks that are large
 * enough; when these are used up, a larger chunk is broken.
 */
static uint64_t chunks_left(const SplitAsk *ask, const Site *site, Step step, uint64_t used)
{
    uint64_t size = step_bytes(ask, step), smaller;

    if (step != STEP_1G)
        return sub_saturating(site->chunks[step], used);
    smaller = sub_saturating(site->chunks[STEP_2M], site->chunks[STEP_1G]);
    used = sub_saturating(used, smaller);
    return sub_saturating(site->chunks[STEP_1G], (used / size + (used % size != 0)) * size);
}

/* Bytes for extents of the step that the site still has, of all in all `bytes`, where `withheld` are not to be had. */
static uint64_t bytes_left(const SplitAsk *ask, const Site *site, Step step, uint64_t used, uint64_t bytes,
                           uint64_t withheld)
{
    bytes = sub_saturating(bytes, used);
    if (ask->chunks && site->chunks[STEP_PAGE] != UINT64_MAX)
        bytes = MIN(bytes, sub_saturating(chunks_left(ask, site, step, used), withheld));
    return bytes;
}

/* What the domain may have, and what Xen would give it. */
static uint64_t bytes_kept(const SplitAsk *ask, const Site *site, Step step, uint64_t used)
{
    return bytes_left(ask, site, step, used, site->available, site->withheld);
}

static uint64_t bytes_of_xen(const SplitAsk *ask, const Site *site, Step step, uint64_t used)
{
    return bytes_left(ask, site, step, used, site->usable, site->unusable);
}

/* What Xen has that need not be scrubbed first. It takes single pages as they come, and scrubs them itself. */
static uint64_t bytes_clean(const SplitAsk *ask, const Site *site, Step step, uint64_t used)
{
    uint64_t dirty = step == STEP_PAGE ? 0 : site->dirty;

    return bytes_left(ask, site, step, used, sub_saturating(site->usable, dirty),
                      add_saturating(site->unusable, dirty));
}

/* Of n extents, what round robin gives the node that is `place` nodes behind the first. */
static uint64_t even_part(uint64_t n_extents, size_t n, size_t place)
{
    return n_extents / n + (place < n_extents % n);
}

/* Extents that the nodes give when none gives more than `level`. */
static uint64_t sum_at(const Share *shares, size_t n, uint64_t level)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum = add_saturating(sum, MIN(shares[i].supply, level));
    return sum;
}

/* The lowest level at which the nodes give so many extents, which they have. */
static uint64_t find_level(const Share *shares, size_t n, uint64_t n_extents)
{
    uint64_t low = n_extents / n, high = n_extents;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (sum_at(shares, n, middle) >= n_extents)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Fills `extents` of the shares; the node that got the last one is before *cursor afterwards. */
static void give_uneven(Share *shares, size_t n, uint64_t n_extents, size_t *cursor)
{
    uint64_t level = find_level(shares, n, n_extents), surplus = sum_at(shares, n, level) - n_extents;
    size_t last = *cursor;

    /* Of the last round, which begins at the cursor, those behind get nothing. */
    for (size_t i = 0; i < n; i++)
        shares[i].extents = MIN(shares[i].supply, level);
    for (size_t i = n; i-- > 0;) {
        Share *share = &shares[(*cursor + i) % n];

        if (share->supply < level || level == 0)
            continue;
        if (surplus == 0) {
            last = (*cursor + i + 1) % n;
            break;
        }
        share->extents--;
        surplus--;
    }
    *cursor = last;
}

/* Takes the extents into the shares' bytes. What is beyond what may be had is missing. */
static void take(const SplitAsk *ask, Share *shares, size_t n, Step step, Split *split)
{
    for (size_t i = 0; i < n; i++) {
        Share *share = &shares[i];
        const Site *site = share->site;
        uint64_t bytes = share->extents * step_bytes(ask, step);

        if (n > 1 && site->usable > site->available)
            split->missing += sub_saturating(bytes, bytes_kept(ask, site, step, share->bytes));
        if (site->dirty)
            split->dirty += sub_saturating(bytes, bytes_clean(ask, site, step, share->bytes));
        share->bytes += bytes;
    }
}

/* Gives up to so many extents; returns how many could be given. A node alone is not passed over: it has them, or not.
 */
static uint64_t give(const SplitAsk *ask, Share *shares, size_t n, Step step, uint64_t n_extents, size_t *cursor,
                     Split *split)
{
    bool enough = true;

    for (size_t i = 0; i < n; i++) {
        const Share *share = &shares[i];
        uint64_t bytes = (n > 1 ? bytes_of_xen : bytes_kept)(ask, share->site, step, share->bytes);

        shares[i].supply = bytes / step_bytes(ask, step);
        shares[i].extents = even_part(n_extents, n, (i + n - *cursor) % n);
        enough = enough && shares[i].supply >= shares[i].extents;
    }
    if (enough) {
        *cursor = (*cursor + n_extents % n) % n;
    } else {
        split->even = false;
        n_extents = MIN(n_extents, sum_at(shares, n, UINT64_MAX));
        give_uneven(shares, n, n_extents, cursor);
    }
    take(ask, shares, n, step, split);
    return n_extents;
}

/*
 * What the builder asks for, one after the other; each has the most bytes of it. A pv domain's memory has no addresses
 * that matter. Others' may be in extents of a GiB where it begins at a multiple of one, which the first GiB does where
 * no device model has its memory in there.
 */
typedef struct BuildStep {
    Step step;
    uint64_t most;
} BuildStep;

#define BUILD_STEPS_MAX 4u
#define GIB (UINT64_C(1) << 30)
static const BuildStep pv_steps[BUILD_STEPS_MAX] = {{STEP_2M, UINT64_MAX}, {STEP_PAGE, UINT64_MAX}};
static const BuildStep pvh_steps[BUILD_STEPS_MAX] = {{STEP_1G, UINT64_MAX},
                                                     {STEP_2M, UINT64_MAX},
                                                     {STEP_PAGE, UINT64_MAX}};
static const BuildStep hvm_steps[BUILD_STEPS_MAX] = {{STEP_2M, GIB},
                                                     {STEP_1G, UINT64_MAX},
                                                     {STEP_2M, UINT64_MAX},
                                                     {STEP_PAGE, UINT64_MAX}};

static const BuildStep *steps_of(DomainType type)
{
    if (type == DOMAIN_TYPE_PV)
        return pv_steps;
    return type == DOMAIN_TYPE_PVH ? pvh_steps : hvm_steps;
}

/* Gives the memory, rounded up to pages; false: Xen has not all. *last is the node that got the last extent. */
static bool give_memory(const SplitAsk *ask, Share *shares, size_t n, Split *split, size_t *last)
{
    const BuildStep *steps = steps_of(ask->type);
    uint64_t left = ask->memory + (ask->page - ask->memory % ask->page) % ask->page;
    size_t cursor = 0;

    for (size_t i = 0; left > 0 && i < BUILD_STEPS_MAX && steps[i].most > 0; i++) {
        uint64_t size = step_bytes(ask, steps[i].step), wanted = MIN(left, steps[i].most) / size, given;

        given = wanted ? give(ask, shares, n, steps[i].step, wanted, &cursor, split) : 0;
        if (given)
            *last = (cursor + n - 1) % n;
        left -= given * size;
        if (given < wanted && (!ask->smaller || steps[i].step == STEP_PAGE)) {
            split->missing += (wanted - given) * size;
            return false;
        }
    }
    return true;
}

uint64_t split_even_part(const SplitAsk *ask, size_t n, uint64_t *ret_extents)
{
    const BuildStep *steps = steps_of(ask->type);
    uint64_t left = ask->memory + (ask->page - ask->memory % ask->page) % ask->page, n_extents = 0, part = 0;

    for (size_t i = 0; left > 0 && i < BUILD_STEPS_MAX && steps[i].most > 0; i++) {
        uint64_t size = step_bytes(ask, steps[i].step), wanted = MIN(left, steps[i].most) / size;

        n_extents += wanted;
        part += wanted / n * size;
        left -= wanted * size;
    }
    *ret_extents = n_extents;
    return part;
}

bool split_may_be_even(const SplitAsk *ask, size_t n, uint64_t least)
{
    uint64_t n_extents, part = split_even_part(ask, n, &n_extents);

    return n_extents >= n && part <= least;
}

/* What it would give if it were asked for all. */
uint64_t split_capacity(const SplitAsk *ask, const Site *site)
{
    uint64_t size = step_bytes(ask, STEP_2M), large = bytes_kept(ask, site, STEP_2M, 0);

    if (ask->clean && site->dirty)
        large = MIN(large, bytes_clean(ask, site, STEP_2M, 0));
    large = large / size * size;
    if (ask->smaller)
        return site->available;
    if (large == 0 && ask->memory >= size && ask->memory % size == 0)
        return 0; /* single pages are not asked for */
    return MIN(site->available, add_saturating(large, size + ask->overhead));
}

static uint64_t proportion(uint64_t of, uint64_t part, uint64_t whole)
{
    return (uint64_t)((unsigned __int128)of * part / whole);
}

static uint64_t room_left(const Share *share)
{
    return sub_saturating(share->site->available, share->bytes + share->overhead);
}

/*
 * In proportion to the memory, the remainder to the last; but what a node has no room for goes to the others, by
 * number. Returns the bytes that none has room for.
 */
static uint64_t share_overhead(const SplitAsk *ask, Share *shares, size_t n)
{
    uint64_t rest = ask->overhead, excess = 0;

    for (size_t i = 0; i < n; i++) {
        Share *share = &shares[i];
        uint64_t part = i + 1 < n ? proportion(ask->overhead, share->bytes, ask->memory) : rest;

        share->overhead = MIN(part, room_left(share));
        excess += part - share->overhead;
        rest -= part;
    }
    for (size_t i = 0; excess > 0 && i < n; i++) {
        uint64_t more = MIN(room_left(&shares[i]), excess);

        shares[i].overhead += more;
        excess -= more;
    }
    return excess;
}

void split_memory(const SplitAsk *ask, Share *shares, size_t n, Split *ret_split)
{
    size_t last = 0;

    *ret_split = (Split){.even = true};
    for (size_t i = 0; i < n; i++)
        shares[i].bytes = shares[i].overhead = 0;
    if (!give_memory(ask, shares, n, ret_split, &last))
        return;
    shares[last].bytes -= (ask->page - ask->memory % ask->page) % ask->page;
    ret_split->missing += share_overhead(ask, shares, n);
}
