/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/sim.h"

/*
 * The model counts in closed form; here stands the same allocator as Xen has it, one extent after the other and one
 * split after the other. On random hosts both must leave the same, extent counts by order too.
 */

#define ORDERS 19u
#define N_NODES 5u

typedef struct Buddy {
    size_t n;
    bool has_chunks;
    uint64_t free[N_NODES], low[N_NODES], dirty[N_NODES], chunks[N_NODES][ORDERS];
    uint64_t got[N_NODES];
    unsigned affinity; /* a bit a node */
    unsigned last;     /* N_NODES: none */
} Buddy;

static uint64_t seed;
static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static uint64_t in_chunks(const Buddy *b, unsigned node, unsigned order)
{
    uint64_t pages = 0;

    for (unsigned i = order; i < ORDERS; i++)
        pages += b->chunks[node][i] << i;
    return pages;
}

/* Whether there is an extent: scrubbed or any; above the low reserve or in it. What is low is the last to be dirty. */
static bool has(const Buddy *b, unsigned node, unsigned order, bool low, bool clean)
{
    uint64_t pages = b->has_chunks ? MIN(b->free[node], in_chunks(b, node, order)) : b->free[node];
    uint64_t above = b->free[node] - b->low[node], dirty = clean && order > 0 ? b->dirty[node] : 0;

    if (low)
        return MIN(pages, b->low[node]) >= (dirty > above ? dirty - above : 0) + (1u << order);
    return pages >= b->low[node] + MIN(dirty, above) + (1u << order);
}

static void take_from(Buddy *b, unsigned node, unsigned order, bool low, bool clean)
{
    unsigned i = order;

    b->free[node] -= 1u << order;
    b->low[node] -= low ? 1u << order : 0;
    if (order > 0 && !clean)
        b->dirty[node] -= MIN(b->dirty[node], 1u << order);
    b->dirty[node] = MIN(b->dirty[node], b->free[node]);
    b->got[node] += 1u << order;
    b->last = node;
    if (!b->has_chunks)
        return;
    while (b->chunks[node][i] == 0)
        i++;
    for (b->chunks[node][i]--; i > order; i--)
        b->chunks[node][i - 1]++;
}

/* The nodes of the affinity from the last one on, then the others from the lowest on. */
static bool take_in_pass(Buddy *b, unsigned order, bool low, bool clean)
{
    for (unsigned i = 1; i <= N_NODES; i++) {
        unsigned node = (b->last == N_NODES ? i - 1 : b->last + i) % N_NODES;

        if (b->affinity >> node & 1 && has(b, node, order, low, clean)) {
            take_from(b, node, order, low, clean);
            return true;
        }
    }
    for (unsigned node = 0; node < N_NODES; node++)
        if (!(b->affinity >> node & 1) && has(b, node, order, low, clean)) {
            take_from(b, node, order, low, clean);
            return true;
        }
    return false;
}

static bool take_one(Buddy *b, unsigned order)
{
    return take_in_pass(b, order, false, true) || take_in_pass(b, order, false, false) ||
           take_in_pass(b, order, true, true) || take_in_pass(b, order, true, false);
}

static uint64_t take_up_to(Buddy *b, unsigned order, uint64_t pages)
{
    uint64_t left = pages;

    while (left >= 1u << order && take_one(b, order))
        left -= 1u << order;
    return pages - left;
}

/* True: it was built. */
static bool build(Buddy *b, DomainType type, uint64_t pages)
{
    uint64_t left = pages;

    if (type == DOMAIN_TYPE_HVM)
        left -= take_up_to(b, 9, MIN(left, 262144u));
    if (type != DOMAIN_TYPE_PV)
        left -= take_up_to(b, 18, left);
    left -= take_up_to(b, 9, left);
    left -= take_up_to(b, 0, left);
    return left == 0;
}

/* Some free memory, mostly in few sizes; what is low is in the largest. */
static void draw_node(Buddy *b, unsigned node)
{
    static const unsigned orders[] = {0, 3, 9, 10, 12, 17, 18};

    b->free[node] = b->low[node] = b->dirty[node] = b->got[node] = 0;
    memset(b->chunks[node], 0, sizeof(b->chunks[node]));
    for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
        unsigned order = orders[i];
        uint64_t n = draw(2) ? draw(order == 18 ? 4 : order > 9 ? 6 : 30) : 0;

        b->chunks[node][order] = n;
        b->free[node] += n << order;
    }
    if (draw(3) == 0)
        b->low[node] = draw(b->free[node] + 1);
    if (draw(3) == 0)
        b->dirty[node] = draw(b->free[node] + 1);
}

static HostRows *make_rows(const Buddy *b)
{
    _cleanup_text_ Text text = {0};

    text_printf(&text, "{'format':'numad-xen-host/1','features':['node-pages','node-memory'%s],'nodes':[",
                b->has_chunks ? ",'free-chunks'" : "");
    for (unsigned node = 0; node < N_NODES; node++)
        text_printf(&text, "%s{'size':%" PRIu64 ",'free':%" PRIu64 "}", node ? "," : "", 64 * GIB,
                    b->free[node] * 4096);
    text_add(&text, "],'node_extra':[");
    for (unsigned node = 0; node < N_NODES; node++) {
        text_printf(&text, "%s{'low':%" PRIu64 ",'dirty':%" PRIu64 ",'free_chunks':[", node ? "," : "",
                    b->low[node] * 4096, b->dirty[node] * 4096);
        for (unsigned i = 0; i < ORDERS; i++)
            text_printf(&text, "%s%" PRIu64, i ? "," : "", b->chunks[node][i]);
        text_add(&text, "]}");
    }
    text_add(&text, "]}");
    assert_false(text.failed);
    return rows_of(text.data);
}

static void compare(const Buddy *b, const SimHost *sim, domid_t domid, unsigned round)
{
    const HostRows *rows = sim_host_rows(sim);

    for (unsigned node = 0; node < N_NODES; node++) {
        const NodeRow *row = &rows->nodes[node];

        if (row->free != b->free[node] * 4096 || row->low != b->low[node] * 4096 ||
            row->dirty != b->dirty[node] * 4096 || sim_host_pages(sim, domid)[node] != b->got[node])
            fail_msg("round %u, node %u: %" PRIu64 " pages free, %" PRIu64 " low, %" PRIu64 " got; Xen: %" PRIu64
                     ", %" PRIu64 ", %" PRIu64,
                     round, node, row->free / 4096, row->low / 4096, sim_host_pages(sim, domid)[node], b->free[node],
                     b->low[node], b->got[node]);
        for (unsigned i = 0; b->has_chunks && i < ORDERS; i++)
            if (row->free_chunks[i] != b->chunks[node][i])
                fail_msg("round %u, node %u: %" PRIu64 " chunks of order %u; Xen: %" PRIu64, round, node,
                         row->free_chunks[i], i, b->chunks[node][i]);
    }
}

/* What Xen needs for it: of each node as much as its memory is of all; then wherever there is some. */
static bool take_overhead(Buddy *b, uint64_t pages, uint64_t total)
{
    uint64_t left = pages, got[N_NODES];
    unsigned last_with = 0, last = b->last;

    memcpy(got, b->got, sizeof(got));
    for (unsigned node = 0; node < N_NODES; node++)
        last_with = got[node] ? node : last_with;
    for (unsigned node = 0; node < N_NODES; node++)
        for (uint64_t n = node == last_with ? left : pages * got[node] / total; n > 0 && has(b, node, 0, false, false);
             n--) {
            take_from(b, node, 0, false, false);
            left--;
        }
    b->last = last;
    while (left > 0 && take_one(b, 0))
        left--;
    memcpy(b->got, got, sizeof(got));
    return left == 0;
}

/* Builds the same domain on both; whether they could. */
static bool build_both(SimHost *sim, Buddy *b, DomainType type, uint64_t pages, domid_t *ret_domid)
{
    _cleanup_bitmap_ Bitmap affinity = {0};
    const SimDomain domain = {.type = type, .pool = ROW_NO_POOL, .memory = pages * 4096, .node_affinity = &affinity};
    uint64_t overhead = type == DOMAIN_TYPE_PV ? 0 : (pages + 255) / 256;
    bool is_built;
    int r;

    for (unsigned node = 0; node < N_NODES; node++)
        if (b->affinity >> node & 1)
            assert_int_equal(bitmap_set(&affinity, node), 0);
    b->last = N_NODES;
    is_built = build(b, type, pages) && take_overhead(b, overhead, pages);
    r = sim_host_create(sim, &domain, ret_domid);
    assert_true(r == 0 || r == SIM_E_NO_MEMORY);
    assert_int_equal(r == 0, is_built);
    return is_built;
}

static void compare_to_before(const Buddy *before, const SimHost *sim)
{
    for (unsigned node = 0; node < N_NODES; node++) {
        const NodeRow *row = &sim_host_rows(sim)->nodes[node];

        assert_int_equal(row->free, before->free[node] * 4096);
        assert_int_equal(row->low, before->low[node] * 4096);
        for (unsigned i = 0; before->has_chunks && i < ORDERS; i++)
            assert_int_equal(row->free_chunks[i], before->chunks[node][i]); /* all joined again */
    }
}

static void test_same_as_xen(void **state)
{
    unsigned built = 0, refused = 0;

    (void)state;
    seed = 20240117;
    for (unsigned round = 0; round < 4000; round++) {
        _cleanup_(sim_host_free_p) SimHost *sim = NULL;
        Buddy b = {.has_chunks = draw(2)}, before;
        uint64_t total = 1;
        domid_t domid = 0;

        for (unsigned node = 0; node < N_NODES; node++) {
            draw_node(&b, node);
            total += b.free[node];
        }
        b.affinity = 1 + (unsigned)draw((1u << N_NODES) - 1);
        b.free[0]++; /* so that there is something */
        b.chunks[0][0]++;
        assert_int_equal(sim_host_new(make_rows(&b), &sim), 0);
        before = b;
        if (build_both(sim, &b, (DomainType)(DOMAIN_TYPE_PV + draw(3)), 1 + draw(total), &domid)) {
            built++;
            compare(&b, sim, domid, round);
            assert_int_equal(sim_host_destroy(sim, domid), 0);
        } else
            refused++;
        compare_to_before(&before, sim);
    }
    assert_true(built > 3000);
    assert_true(refused > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_xen)};

    return cmocka_run_group_tests_name("sim-rules", tests, NULL, NULL);
}
