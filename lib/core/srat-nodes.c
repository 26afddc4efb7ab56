/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "srat-nodes.h"

#include "text.h"

/*
 * How Xen makes nodes of proximity domains (4.17: arch/x86/srat.c, drivers/acpi/numa.c; the same since in
 * common/numa.c):
 *
 * It walks the enabled entries in three passes, x2APIC, APIC, memory, each in the table's order, and a PXM it has not
 * seen before gets the next node id. An APIC id beyond its table is passed over. A range of hot-plug memory or of
 * length 0 gives an id too, but only CPUs and memory that is not hot-plug bring the node online; an id that nothing
 * brings online is a hole. A node spans from its first byte to its last, hot-plug memory apart, and is cut at the end
 * of the host's memory. Generic initiators are not looked at.
 *
 * It refuses a table, and has one node then, in which memory of two PXMs overlaps; memory of one PXM overlaps and is
 * hot-plug only once; or, as the ranges come, one PXM's span has grown over a range of another that came before
 * ("interleave"; an older release takes such a table). It also refuses one that leaves RAM of the host's memory map
 * out, which cannot be seen from here. GICC entries are Arm's, where Xen has one node; where they matter, they are
 * taken like Linux takes them, before memory.
 */

#define APIC_ID_MAX 0xffffu   /* MAX_LOCAL_APIC is four times as many as CPUs that Xen can be built for, 16383 */
#define CONFLICT_RANGES 2048u /* ranges that are held against each other; Xen gives up at 128 */

typedef struct Seen {
    uint32_t pxm;
    size_t when;
    nodeid_t node;
} Seen;

/* The PXMs in the order in which Xen comes across them, then by number. */
typedef struct Domains {
    Seen *seen; /* owned */
    size_t n;
} Domains;

static void domains_done(Domains *domains)
{
    free(domains->seen);
}

static bool counts(const SratCpu *cpu)
{
    return cpu->kind == SRAT_CPU_GICC || cpu->id <= APIC_ID_MAX;
}

static void see(Domains *domains, uint32_t pxm)
{
    if (domains->n && domains->seen[domains->n - 1].pxm == pxm) /* most tables go by PXM */
        return;
    domains->seen[domains->n] = (Seen){.pxm = pxm, .when = domains->n};
    domains->n++;
}

static void see_all(Domains *domains, const Srat *srat)
{
    static const SratCpuKind passes[] = {SRAT_CPU_X2APIC, SRAT_CPU_APIC, SRAT_CPU_GICC};

    for (size_t pass = 0; pass < ARRAY_SIZE(passes); pass++)
        for (size_t i = 0; i < srat->n_cpus; i++)
            if (srat->cpus[i].kind == passes[pass] && counts(&srat->cpus[i]))
                see(domains, srat->cpus[i].pxm);
    for (size_t i = 0; i < srat->n_ranges; i++)
        see(domains, srat->ranges[i].pxm);
}

static int compare_pxm(const void *a, const void *b)
{
    const Seen *x = a, *y = b;

    if (x->pxm != y->pxm)
        return x->pxm < y->pxm ? -1 : 1;
    return (x->when > y->when) - (x->when < y->when);
}

static int compare_when(const void *a, const void *b)
{
    const Seen *x = a, *y = b;

    return (x->when > y->when) - (x->when < y->when);
}

static int number_domains(const Srat *srat, Domains *domains)
{
    size_t kept = 0;

    domains->seen = new_array(srat->n_cpus + srat->n_ranges, sizeof(*domains->seen));
    if (!domains->seen)
        return -ENOMEM;
    see_all(domains, srat);
    qsort(domains->seen, domains->n, sizeof(*domains->seen), compare_pxm);
    for (size_t i = 0; i < domains->n; i++)
        if (i == 0 || domains->seen[i].pxm != domains->seen[kept - 1].pxm)
            domains->seen[kept++] = domains->seen[i];
    domains->n = kept;
    qsort(domains->seen, domains->n, sizeof(*domains->seen), compare_when);
    for (nodeid_t node = 0; node < domains->n; node++)
        domains->seen[node].node = node;
    qsort(domains->seen, domains->n, sizeof(*domains->seen), compare_pxm);
    return 0;
}

static int compare_key(const void *key, const void *element)
{
    uint32_t x = *(const uint32_t *)key, y = ((const Seen *)element)->pxm;

    return (x > y) - (x < y);
}

static nodeid_t node_of(const Domains *domains, uint32_t pxm)
{
    const Seen *seen = bsearch(&pxm, domains->seen, domains->n, sizeof(*domains->seen), compare_key);

    return seen->node; /* every PXM that is asked for was numbered */
}

static void count_cpus(const Srat *srat, const Domains *domains, SratNodes *nodes)
{
    for (size_t i = 0; i < srat->n_cpus; i++) {
        nodes->arm |= srat->cpus[i].kind == SRAT_CPU_GICC;
        if (!counts(&srat->cpus[i]))
            continue;
        nodes->nodes[node_of(domains, srat->cpus[i].pxm)].n_cpus++;
        nodes->n_cpus++;
    }
}

/* The node as it is with one more range. */
static SratNode grown(const SratNode *node, const SratRange *range)
{
    uint64_t end = range->base + range->length;
    SratNode result = *node;
    bool empty = node->start == node->end;

    result.start = empty ? range->base : MIN(node->start, range->base);
    result.end = empty ? end : MAX(node->end, end);
    result.has_memory = true;
    return result;
}

static bool overlap(const SratRange *a, const SratRange *b)
{
    return a->base < b->base + b->length && b->base < a->base + a->length;
}

/* Why Xen refuses the table at this range: it overlaps a range before it. */
static void find_overlap(const Srat *srat, size_t i, Text *why)
{
    const SratRange *range = &srat->ranges[i];

    for (size_t k = 0; k < i && why->size == 0 && !why->failed; k++) {
        const SratRange *other = &srat->ranges[k];

        if (other->length == 0 || !overlap(range, other))
            continue;
        if (other->pxm != range->pxm)
            text_printf(why, "memory of PXM %" PRIu32 " and PXM %" PRIu32 " overlaps", other->pxm, range->pxm);
        else if (other->hotplug != range->hotplug)
            text_printf(why, "memory of PXM %" PRIu32 " overlaps itself and is hot-plug only once", range->pxm);
    }
}

/* Why Xen refuses the table at this range: with it, its PXM spans a range before it that is another's. */
static void find_interleave(const Srat *srat, size_t i, const SratNode *wide, Text *why)
{
    const SratRange *range = &srat->ranges[i];

    for (size_t k = 0; k < i && why->size == 0 && !why->failed; k++) {
        const SratRange *other = &srat->ranges[k];

        if (other->length > 0 && other->pxm != range->pxm && other->base >= wide->start &&
            other->base + other->length <= wide->end)
            text_printf(why, "memory of PXM %" PRIu32 " is in between that of PXM %" PRIu32 " (interleaved)",
                        other->pxm, range->pxm);
    }
}

/* An overlap says more than interleaved ranges, wherever in the table it is: every Xen refuses it. */
static int take_reason(Text *overlaps, Text *interleaved, SratNodes *nodes)
{
    nodes->overlaps = overlaps->size > 0;
    if (overlaps->failed || interleaved->failed)
        return -ENOMEM;
    if (overlaps->size)
        return text_take(overlaps, &nodes->refused, NULL);
    return interleaved->size ? text_take(interleaved, &nodes->refused, NULL) : 0;
}

static int span_ranges(const Srat *srat, const Domains *domains, SratNodes *nodes)
{
    _cleanup_text_ Text overlaps = {0}, interleaved = {0};

    for (size_t i = 0; i < srat->n_ranges; i++) {
        SratNode *node = &nodes->nodes[node_of(domains, srat->ranges[i].pxm)];
        SratNode wide = grown(node, &srat->ranges[i]);

        if (i < CONFLICT_RANGES) {
            find_overlap(srat, i, &overlaps);
            find_interleave(srat, i, &wide, &interleaved);
        }
        if (!srat->ranges[i].hotplug)
            *node = wide;
    }
    return take_reason(&overlaps, &interleaved, nodes);
}

static int compare_extent(const void *a, const void *b)
{
    const SratExtent *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Where ranges overlap, a byte belongs to the one that begins first. */
static int collect_extents(const Srat *srat, const Domains *domains, SratNodes *nodes)
{
    size_t n = 0;
    uint64_t covered = 0;

    nodes->extents = new_array(srat->n_ranges, sizeof(*nodes->extents));
    if (!nodes->extents)
        return -ENOMEM;
    for (size_t i = 0; i < srat->n_ranges; i++) {
        const SratRange *range = &srat->ranges[i];

        if (!range->hotplug && !range->nonvolatile && range->length > 0)
            nodes->extents[n++] = (SratExtent){range->base, range->base + range->length, node_of(domains, range->pxm)};
    }
    qsort(nodes->extents, n, sizeof(*nodes->extents), compare_extent);
    for (size_t i = 0; i < n; i++) {
        SratExtent extent = nodes->extents[i];

        extent.start = MAX(extent.start, covered);
        if (extent.start < extent.end)
            nodes->extents[nodes->n_extents++] = extent;
        covered = MAX(covered, extent.end);
    }
    return 0;
}

static void count_nodes(SratNodes *nodes)
{
    while (nodes->n > 0 && !srat_node_exists(&nodes->nodes[nodes->n - 1]))
        nodes->n--; /* a hole at the end is none */
    for (size_t i = 0; i < nodes->n; i++)
        nodes->n_existing += srat_node_exists(&nodes->nodes[i]);
}

int srat_nodes_make(const Srat *srat, SratNodes *ret_nodes)
{
    _cleanup_(domains_done) Domains domains = {0};
    _cleanup_(srat_nodes_done) SratNodes nodes = {0};
    int r = number_domains(srat, &domains);

    if (r < 0)
        return r;
    nodes.n = domains.n;
    nodes.nodes = new_array(nodes.n, sizeof(*nodes.nodes));
    if (!nodes.nodes)
        return -ENOMEM;
    for (size_t i = 0; i < domains.n; i++)
        nodes.nodes[domains.seen[i].node].pxm = domains.seen[i].pxm;
    count_cpus(srat, &domains, &nodes);
    if ((r = span_ranges(srat, &domains, &nodes)) < 0 || (r = collect_extents(srat, &domains, &nodes)) < 0)
        return r;
    count_nodes(&nodes);
    *ret_nodes = nodes;
    nodes = (SratNodes){0};
    return 0;
}

void srat_nodes_done(SratNodes *nodes)
{
    free(nodes->nodes);
    free(nodes->extents);
    free(nodes->refused);
    *nodes = (SratNodes){0};
}
