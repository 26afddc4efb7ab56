/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "snapshot.h"

#include "ledger.h"

#include <string.h>

static const char *const kind_texts[_NODE_KIND_MAX] = {
    [NODE_EMPTY] = "empty",
    [NODE_CPU_MEMORY] = "cpu+memory",
    [NODE_CPU] = "cpu",
    [NODE_MEMORY] = "memory",
};

const char *node_kind_to_text(NodeKind kind)
{
    return kind_texts[kind];
}

void node_set_available(Node *node, uint64_t headroom)
{
    uint64_t available = sub_saturating(node->free, known_or_zero(node->low));

    available = sub_saturating(available, known_or_zero(node->claimed));
    available = sub_saturating(available, node->reserved);
    available = sub_saturating(available, node->fragments);
    node->available = sub_saturating(available, headroom);
}

Snapshot *snapshot_ref(Snapshot *s)
{
    s->refs++;
    return s;
}

/* What a snapshot has of its own, whether or not it is derived from another. */
static void free_own(Snapshot *s)
{
    for (size_t i = 0; i < s->n_nodes; i++)
        free(s->nodes[i].free_chunks);
    free(s->nodes);
    warning_list_done(&s->warnings);
    ledger_unref(s->ledger);
}

static void free_shared(Snapshot *s)
{
    for (size_t i = 0; i < s->n_nodes; i++) {
        bitmap_done(&s->nodes[i].cpus);
        bitmap_done(&s->nodes[i].local);
    }
    for (size_t i = 0; i < s->n_pools; i++)
        bitmap_done(&s->pools[i].cpus);
    for (size_t i = 0; i < s->n_devices; i++)
        free(s->devices[i].pci);
    for (size_t i = 0; i < s->n_domains; i++)
        domain_row_done(&s->domains[i].row);
    bitmap_done(&s->online);
    free(s->xen_version);
    free(s->cpus);
    free(s->distances);
    free(s->pools);
    free(s->devices);
    free(s->domains);
}

static void snapshot_free(Snapshot *s)
{
    if (!s->base)
        free_shared(s);
    free_own(s);
    snapshot_unref(s->base);
    free(s);
}

Snapshot *snapshot_unref(Snapshot *s)
{
    if (s && --s->refs == 0)
        snapshot_free(s);
    return NULL;
}

static int compare_domid(const void *key, const void *element)
{
    return (int)*(const domid_t *)key - (int)((const Domain *)element)->row.domid;
}

const Domain *snapshot_find_domain(const Snapshot *s, domid_t domid)
{
    return bsearch(&domid, s->domains, s->n_domains, sizeof(*s->domains), compare_domid);
}

const Bitmap *snapshot_pool_cpus(const Snapshot *s, uint32_t pool)
{
    for (size_t i = 0; i < s->n_pools; i++)
        if (s->pools[i].pool == pool)
            return &s->pools[i].cpus;
    return NULL;
}

static bool same_nodes(const Snapshot *a, const Snapshot *b)
{
    for (size_t i = 0; i < a->n_nodes; i++) {
        const Node *x = &a->nodes[i], *y = &b->nodes[i];

        if (x->exists != y->exists || x->kind != y->kind || x->pxm != y->pxm || x->span != y->span ||
            x->present != y->present || !bitmap_equal(&x->cpus, &y->cpus))
            return false;
    }
    return true;
}

static bool same_pools(const Snapshot *a, const Snapshot *b)
{
    for (size_t i = 0; i < a->n_pools; i++)
        if (a->pools[i].pool != b->pools[i].pool || !bitmap_equal(&a->pools[i].cpus, &b->pools[i].cpus))
            return false;
    return true;
}

static bool same_devices(const Snapshot *a, const Snapshot *b)
{
    for (size_t i = 0; i < a->n_devices; i++)
        if (a->devices[i].node != b->devices[i].node || strcmp(a->devices[i].pci, b->devices[i].pci) != 0)
            return false;
    return true;
}

/* The one that the topology is of. */
static const Snapshot *origin(const Snapshot *s)
{
    return s->base ? s->base : s;
}

bool snapshot_same_topology(const Snapshot *a, const Snapshot *b)
{
    if (origin(a) == origin(b))
        return true;
    return a->n_nodes == b->n_nodes && a->n_cpus == b->n_cpus && a->n_pools == b->n_pools &&
           a->n_devices == b->n_devices && memcmp(a->cpus, b->cpus, a->n_cpus * sizeof(*a->cpus)) == 0 &&
           memcmp(a->distances, b->distances, a->n_nodes * a->n_nodes * sizeof(*a->distances)) == 0 &&
           same_nodes(a, b) && same_pools(a, b) && same_devices(a, b);
}
