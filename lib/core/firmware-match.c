/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "firmware-match.h"

/*
 * The hypervisor does not tell which PXM a node is. But it numbers them by a rule (srat-nodes.c), and what it does tell
 * shows whether it did: how many nodes there are and which ids are holes, how much each spans, how many CPUs it has.
 * Where all of it agrees, the rule's PXMs are the nodes'. Where something does not, the hypervisor did not use the
 * table, or not this one, and nothing can be said of any node.
 */

#define SPAN_TOLERANCE (2u << 20) /* Xen cuts to pages, people who write a host down to MiB */
#define MIB(bytes) ((bytes) >> 20)

static size_t count_existing(const Snapshot *s)
{
    size_t n = 0;

    for (nodeid_t id = 0; id < s->n_nodes; id++)
        n += s->nodes[id].exists;
    return n;
}

/* --- whether the hypervisor's nodes are those of the table --- */

/* Where the host's memory ends: Xen cuts nodes there, as with its option mem=. */
static uint64_t find_top(const Snapshot *s, const SratNodes *nodes)
{
    uint64_t top = 0;

    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (s->nodes[id].exists && s->nodes[id].span > 0)
            top = MAX(top, add_saturating(nodes->nodes[id].start, s->nodes[id].span));
    return top;
}

static uint64_t span_below(const SratNode *node, uint64_t top)
{
    return sub_saturating(MIN(node->end, top), node->start);
}

/* Slices of one power of two, but for the last one, which gets the rest. */
static bool looks_fake(const Snapshot *s)
{
    uint64_t slice = s->nodes[0].span;

    if (s->n_nodes < 2 || slice == 0 || (slice & (slice - 1)))
        return false;
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (!s->nodes[id].exists || s->nodes[id].span < slice || (s->nodes[id].span > slice && id + 1 < s->n_nodes))
            return false;
    return true;
}

static int print_ids(const Snapshot *s, const SratNodes *nodes, Text *why)
{
    _cleanup_bitmap_ Bitmap theirs = {0}, ours = {0};

    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if ((s->nodes[id].exists && bitmap_set(&theirs, id) < 0) ||
            (srat_node_exists(&nodes->nodes[id]) && bitmap_set(&ours, id) < 0))
            return -ENOMEM;
    text_add(why, "the firmware's SRAT makes nodes ");
    bitmap_print(&ours, why);
    text_add(why, ", the hypervisor has nodes ");
    bitmap_print(&theirs, why);
    return 0;
}

static void explain_count(const SratNodes *nodes, size_t existing, Text *why)
{
    text_printf(why, "the firmware's SRAT describes %zu node%s, the hypervisor has %zu", nodes->n_existing,
                plural(nodes->n_existing), existing);
    if (existing > 1)
        return;
    if (nodes->arm)
        text_add(why, ": on Arm, Xen has one node whatever the table says");
    else if (nodes->refused)
        text_printf(why, ": Xen refuses a table in which %s", nodes->refused);
    else
        text_add(why,
                 ": it was started with numa=off, or refused the table (then its boot messages, xl dmesg, say why)");
}

/* Adds in which way the nodes are not the same; nothing when they are. */
static int compare_ids(const Snapshot *s, const SratNodes *nodes, Text *why)
{
    size_t existing = count_existing(s);

    if (existing != nodes->n_existing) {
        explain_count(nodes, existing, why);
        return 0;
    }
    if (s->n_nodes != nodes->n) {
        text_printf(why, "the highest node of the firmware's SRAT is %zu, of the hypervisor %zu", nodes->n - 1,
                    s->n_nodes - 1);
        return 0;
    }
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (s->nodes[id].exists != srat_node_exists(&nodes->nodes[id]))
            return print_ids(s, nodes, why);
    return 0;
}

/* No release of Xen makes several nodes of a table in which memory overlaps: then these are not of this table. */
static void compare_use(const Snapshot *s, const SratNodes *nodes, Text *why)
{
    size_t existing = count_existing(s);

    if (nodes->overlaps && existing > 1)
        text_printf(why,
                    "the hypervisor has %zu nodes, but not by the firmware's SRAT: Xen refuses a table in which %s",
                    existing, nodes->refused);
}

/* The first node that does not span what the table says; NODE_NONE: all do. */
static nodeid_t find_other_span(const Snapshot *s, const SratNodes *nodes)
{
    uint64_t top = find_top(s, nodes);

    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        uint64_t expected = span_below(&nodes->nodes[id], top), span = s->nodes[id].span;

        if (s->nodes[id].exists && MAX(expected, span) - MIN(expected, span) > SPAN_TOLERANCE)
            return id;
    }
    return NODE_NONE;
}

static void print_spans(const Snapshot *s, const SratNodes *nodes, nodeid_t id, Text *why)
{
    const SratNode *node = &nodes->nodes[id];

    text_printf(why, "node %u spans %" PRIu64 " MiB in the hypervisor; by the firmware's SRAT it is PXM %u, which ", id,
                MIB(s->nodes[id].span), node->pxm);
    text_printf(why, "spans %" PRIu64 " MiB", MIB(span_below(node, find_top(s, nodes))));
}

/* Xen puts CPUs that the table leaves out on node 0. */
static void compare_cpus(const Snapshot *s, const SratNodes *nodes, Text *why)
{
    nodeid_t first = bitmap_weight(&s->online) > nodes->n_cpus ? 1 : 0;

    for (nodeid_t id = first; id < s->n_nodes && why->size == 0; id++) {
        unsigned n_cpus = bitmap_weight(&s->nodes[id].cpus);

        if (n_cpus > nodes->nodes[id].n_cpus)
            text_printf(why, "node %u has %u CPU%s online; by the firmware's SRAT it is PXM %u, which has room for %u",
                        id, n_cpus, plural(n_cpus), nodes->nodes[id].pxm, nodes->nodes[id].n_cpus);
    }
}

/* Why the hypervisor's nodes are not those of the table; empty when they are. */
static int compare_nodes(const Snapshot *s, const Firmware *firmware, Text *why)
{
    const SratNodes *nodes = &firmware->nodes;
    int r = compare_ids(s, nodes, why);
    bool same_ids = r == 0 && why->size == 0;
    nodeid_t other_span = same_ids ? find_other_span(s, nodes) : NODE_NONE;

    if (same_ids)
        compare_use(s, nodes, why);
    if (same_ids && why->size == 0 && other_span != NODE_NONE)
        print_spans(s, nodes, other_span, why);
    if (same_ids && why->size == 0)
        compare_cpus(s, nodes, why);
    if (why->size && firmware->srat.cut)
        text_add(why, "; the table is broken, and may describe more than can be read");
    else if (why->size && firmware->srat.fault)
        text_add(why, "; the table is broken");
    else if (why->size && (!same_ids || other_span != NODE_NONE) && looks_fake(s))
        text_printf(why,
                    "; the hypervisor's nodes are equal slices of the memory, which is what its option numa=fake=%zu "
                    "would make",
                    s->n_nodes);
    return why->failed ? -ENOMEM : r;
}

/* --- what they tell then --- */

static void free_counts(uint64_t **counts)
{
    free(*counts);
}

/* What could not be read of a table may fill the holes of a node: then they tell nothing. */
static int fill_present(Snapshot *s, const Firmware *firmware)
{
    const SratNodes *nodes = &firmware->nodes;
    _cleanup_(free_counts) uint64_t *present = new_array(s->n_nodes, sizeof(*present));
    uint64_t top = find_top(s, nodes);

    if (!present)
        return -ENOMEM;
    for (size_t i = 0; i < nodes->n_extents; i++) {
        const SratExtent *extent = &nodes->extents[i];

        present[extent->node] += sub_saturating(MIN(extent->end, top), extent->start);
    }
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (s->nodes[id].exists && s->nodes[id].present == VALUE_UNKNOWN &&
            !(firmware->srat.cut && present[id] < s->nodes[id].span))
            s->nodes[id].present = MIN(present[id], s->nodes[id].span);
    return 0;
}

static int match_nodes(Snapshot *s, const Firmware *firmware, bool *ret_same)
{
    const SratNodes *nodes = &firmware->nodes;
    _cleanup_text_ Text why = {0};
    int r;

    *ret_same = false;
    if (nodes->n_existing == 0 && (firmware->srat.fault || count_existing(s) < 2))
        return 0; /* nothing is left of a broken table; or one without content, on a host that needs none */
    r = compare_nodes(s, firmware, &why);
    if (r < 0)
        return r;
    if (why.size)
        return warning_list_add(&s->warnings, WARNING_SRAT_MISMATCH,
                                "%s; the hypervisor is believed, and which node is which PXM is not known", why.data);
    *ret_same = true;
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (s->nodes[id].exists)
            s->nodes[id].pxm = nodes->nodes[id].pxm;
    return fill_present(s, firmware);
}

/* Xen's own test of a SLIT. */
static bool slit_is_used(const Slit *slit)
{
    for (unsigned from = 0; from < slit->n; from++)
        for (unsigned to = 0; to < slit->n; to++) {
            uint8_t raw = slit->distances[(size_t)from * slit->n + to];

            if (from == to ? raw != 10 : raw <= 10)
                return false;
        }
    return true;
}

typedef struct SlitDifference {
    size_t n;
    nodeid_t from, to; /* the first */
} SlitDifference;

static SlitDifference compare_distances(const Snapshot *s, const Slit *slit)
{
    SlitDifference difference = {0};

    for (nodeid_t from = 0; from < s->n_nodes; from++)
        for (nodeid_t to = 0; to < s->n_nodes; to++) {
            uint32_t says;

            if (from == to || !s->nodes[from].exists || !s->nodes[to].exists)
                continue;
            says = slit_distance(slit, (uint32_t)s->nodes[from].pxm, (uint32_t)s->nodes[to].pxm);
            if (says != snapshot_distance(s, from, to) && difference.n++ == 0)
                difference = (SlitDifference){1, from, to};
        }
    return difference;
}

/* What is in the table, also where it is no distance. */
static void print_entry(Text *text, const Slit *slit, uint64_t from, uint64_t to)
{
    uint8_t raw;

    if (from >= slit->n || to >= slit->n) {
        text_add(text, "no such locality");
        return;
    }
    raw = slit->distances[from * slit->n + to];
    if (raw == SLIT_UNREACHABLE)
        text_add(text, "unreachable");
    else
        text_printf(text, raw < SLIT_LOCAL ? "%u, which no SLIT may say" : "%u", raw);
}

static void print_distance(Text *text, uint32_t distance)
{
    if (distance == DISTANCE_NONE)
        text_add(text, "nothing");
    else
        text_add_u64(text, distance);
}

static int match_distances(Snapshot *s, const Slit *slit)
{
    SlitDifference difference = compare_distances(s, slit);
    _cleanup_text_ Text text = {0};

    if (difference.n == 0)
        return 0;
    text_printf(&text, "the firmware's SLIT says %zu other distance%s than the hypervisor, first from node %u to ",
                difference.n, plural(difference.n), difference.from);
    text_printf(&text, "node %u: ", difference.to);
    print_entry(&text, slit, s->nodes[difference.from].pxm, s->nodes[difference.to].pxm);
    text_add(&text, ", the hypervisor ");
    print_distance(&text, snapshot_distance(s, difference.from, difference.to));
    if (MAX(s->nodes[difference.from].pxm, s->nodes[difference.to].pxm) >= slit->n)
        text_printf(&text, "; the table has %u %s, too few for these nodes", slit->n, slit_localities(slit->n));
    else if (!slit_is_used(slit))
        text_add(&text, "; Xen does not use a SLIT in which a node is 10 or nearer to another, or not 10 to itself");
    text_add(&text, "; the hypervisor is believed");
    return text.failed ? -ENOMEM : warning_list_add(&s->warnings, WARNING_SLIT_MISMATCH, "%s", text.data);
}

static int report_fault(Snapshot *s, WarningCode code, const char *table, const char *fault)
{
    return fault ? warning_list_add(&s->warnings, code, "the firmware's %s is broken: %s", table, fault) : 0;
}

int firmware_match(Snapshot *s, const Firmware *firmware)
{
    bool same = false;
    int r;

    if (!firmware)
        return 0;
    r = report_fault(s, WARNING_SRAT_INVALID, "SRAT", firmware->srat.fault);
    if (r == 0)
        r = report_fault(s, WARNING_SLIT_INVALID, "SLIT", firmware->slit.fault);
    if (r == 0 && firmware->srat_bytes)
        r = match_nodes(s, firmware, &same);
    return r == 0 && same && firmware->slit.distances ? match_distances(s, &firmware->slit) : r;
}
