/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

/* CPU pools, and which CPUs are online: those in a pool, and those free for one. No other call tells it. */

int xen_mask_to_bitmap(Bitmap *to, const uint8_t *bytes, uint32_t n_bits)
{
    int r = bitmap_from_bytes(to, bytes, xen_mask_size(n_bits));

    if (r == 0)
        bitmap_cut(to, n_bits);
    return r;
}

static const char call_name[] = "cpupool_op";

static void free_pools(PoolRow *pools, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bitmap_done(&pools[i].cpus);
    free(pools);
}

/* Adds the first pool at or above *id, and moves *id past it. 1: it is there; 0: there are no more. */
static int fetch_pool(XenSource *s, uint32_t *id, PoolRow *pool)
{
    uint8_t mask[CPUS_MAX / 8] = {0};
    uint32_t n_cpus = xen_n_cpus(s), found = *id;
    int r = s->calls->ops->pool(s->calls, &found, mask, xen_mask_size(n_cpus));

    xen_spend(s, 2);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (found < *id || found == UINT32_MAX)
        return -ERANGE;
    pool->pool = found;
    *id = found + 1;
    r = xen_mask_to_bitmap(&pool->cpus, mask, n_cpus);
    return r < 0 ? r : 1;
}

static int fetch_pools(XenSource *s)
{
    XenTopology *t = &s->topology;
    PoolRow *pools = NULL;
    size_t n = 0, room = 0;
    uint32_t id = 0;
    int r = 1;

    while (r > 0 && n < XEN_POOLS_MAX) {
        if (n == room) {
            PoolRow *more = reallocarray(pools, room ? 2 * room : 4, sizeof(*pools));

            r = more ? 1 : -ENOMEM;
            if (!more)
                break;
            pools = more;
            room = room ? 2 * room : 4;
        }
        pools[n] = (PoolRow){0};
        r = fetch_pool(s, &id, &pools[n]);
        n += r > 0;
    }
    if (r < 0 || n == 0) {
        free_pools(pools, n);
        t->are_pools_old = true;
        return r < 0 ? xen_call_failed(s, ERROR_XEN, call_name, r)
                     : xen_answer_refused(s, call_name, "it tells of no pool");
    }
    t->are_pools_old = false;
    free_pools(t->pools, t->n_pools);
    t->pools = pools;
    t->n_pools = n;
    return 0;
}

/*
 * The set of online CPUs; a CPU on its way from one pool to another is missing in it for a moment. All three answers
 * must be of one moment, or a number that fits by chance would make a wrong set.
 */
static int fetch_online(XenSource *s)
{
    XenTopology *t = &s->topology;
    _cleanup_bitmap_ Bitmap online = {0};
    uint8_t mask[CPUS_MAX / 8] = {0};
    uint32_t n_cpus = xen_n_cpus(s);
    int r = s->calls->ops->free_cpus(s->calls, mask, xen_mask_size(n_cpus));

    xen_spend(s, 1);
    if (r < 0)
        return xen_call_failed(s, ERROR_XEN, call_name, r);
    r = xen_mask_to_bitmap(&online, mask, n_cpus);
    for (size_t i = 0; r == 0 && i < t->n_pools; i++)
        r = bitmap_or(&online, &t->pools[i].cpus);
    if (r < 0 || t->is_phys_old || t->are_pools_old || bitmap_weight(&online) != t->phys.nr_cpus)
        return r; /* what was known stays */
    t->online_changes += t->has_online && !bitmap_equal(&t->online, &online);
    t->has_online = true;
    return bitmap_copy(&t->online, &online);
}

int xen_read_pools(XenSource *s)
{
    const XenTopology *t = &s->topology;
    HostRows *rows = s->rows;
    int r = fetch_pools(s);

    if (r == 0)
        r = fetch_online(s);
    if (r < 0)
        return r;
    rows->pools = new_array(t->n_pools, sizeof(*rows->pools));
    if (!rows->pools)
        return -ENOMEM;
    for (; rows->n_pools < t->n_pools; rows->n_pools++) {
        PoolRow *pool = &rows->pools[rows->n_pools];

        pool->pool = t->pools[rows->n_pools].pool;
        r = bitmap_copy(&pool->cpus, &t->pools[rows->n_pools].cpus);
        if (r < 0)
            return r;
        bitmap_cut(&pool->cpus, xen_n_cpus(s));
    }
    return 0;
}
