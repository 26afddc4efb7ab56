/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "seal-topology.h"

#include "firmware-match.h"
#include "locality.h"
#include "utf8.h"

#include <string.h>

/*
 * Nodes, CPUs, distances, pools and devices: judges what hypervisor and firmware say (sentinels, impossible distances,
 * contradictions) and says so in warnings. The hypervisor is believed; what it cannot say stays unknown.
 */

static bool is_hole(const HostRows *rows, nodeid_t node)
{
    return rows->nodes[node].size == ROW_HOLE;
}

static bool cpu_is_online(const CpuRow *cpu)
{
    return cpu->core != ROW_INVALID || cpu->socket != ROW_INVALID || cpu->node != ROW_INVALID;
}

/* --- distances --- */

typedef struct DistanceFaults {
    unsigned invalid, unreachable, asymmetric, remote, flat;
} DistanceFaults;

static uint32_t judge_distance(uint32_t raw, DistanceFaults *faults)
{
    faults->remote++;
    if (raw == SLIT_UNREACHABLE || raw == UINT32_MAX) {
        faults->unreachable++;
        return DISTANCE_NONE;
    }
    if (raw < SLIT_LOCAL) {
        faults->invalid++;
        return DISTANCE_NONE;
    }
    faults->flat += raw == SLIT_LOCAL;
    return raw;
}

static void judge_distances(Snapshot *s, const HostRows *rows, DistanceFaults *faults)
{
    for (nodeid_t from = 0; from < s->n_nodes; from++)
        for (nodeid_t to = 0; to < s->n_nodes; to++) {
            size_t i = from * s->n_nodes + to;

            if (is_hole(rows, from) || is_hole(rows, to))
                s->distances[i] = DISTANCE_NONE;
            else if (from == to)
                s->distances[i] = SLIT_LOCAL;
            else
                s->distances[i] = rows->distances ? judge_distance(rows->distances[i], faults) : DISTANCE_NONE;
        }
    for (nodeid_t from = 0; from < s->n_nodes; from++)
        for (nodeid_t to = 0; to < from; to++)
            faults->asymmetric += snapshot_distance(s, from, to) != snapshot_distance(s, to, from);
}

static int seal_distances(Snapshot *s, const HostRows *rows)
{
    DistanceFaults faults = {0};
    WarningList *list = &s->warnings;
    int r = 0;

    s->distances = new_array(s->n_nodes * s->n_nodes, sizeof(*s->distances));
    if (!s->distances)
        return -ENOMEM;
    judge_distances(s, rows, &faults);
    if (faults.invalid)
        r = warning_list_add(list, WARNING_SLIT_INVALID,
                             "%u distance%s between nodes %s below 10, which no SLIT may say, and taken as unknown",
                             faults.invalid, plural(faults.invalid), are(faults.invalid));
    if (r == 0 && faults.unreachable)
        r = warning_list_add(list, WARNING_DISTANCE_UNREACHABLE,
                             "%u distance%s between nodes %s not known: the firmware says unreachable",
                             faults.unreachable, plural(faults.unreachable), are(faults.unreachable));
    if (r == 0 && faults.asymmetric)
        r = warning_list_add(list, WARNING_SLIT_ASYMMETRIC, "%u pair%s of nodes %s not equally far both ways",
                             faults.asymmetric, plural(faults.asymmetric), are(faults.asymmetric));
    if (r == 0 && faults.remote && faults.flat == faults.remote)
        r = warning_list_add(list, WARNING_SLIT_FLAT,
                             "every distance is 10, as if all memory were local; 10 and 20 are assumed for placement");
    return r;
}

/* --- nodes and CPUs --- */

static int compare_core(const void *a, const void *b)
{
    const CpuRow *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->socket != y->socket)
        return x->socket < y->socket ? -1 : 1;
    return (x->core > y->core) - (x->core < y->core);
}

/*
 * A core is (node, socket, core): core ids repeat on every socket, and a socket may hold several nodes. An online CPU
 * may have no core id: it is taken as a core of its own.
 */
static int count_cores(Snapshot *s)
{
    CpuRow *sorted = new_array(s->n_cpus, sizeof(*sorted));

    if (!sorted)
        return -ENOMEM;
    if (s->n_cpus)
        memcpy(sorted, s->cpus, s->n_cpus * sizeof(*sorted));
    qsort(sorted, s->n_cpus, sizeof(*sorted), compare_core);
    for (size_t i = 0; i < s->n_cpus; i++)
        if (sorted[i].node < s->n_nodes &&
            (i == 0 || sorted[i].core == ROW_INVALID || compare_core(&sorted[i - 1], &sorted[i]) != 0))
            s->nodes[sorted[i].node].cores++;
    free(sorted);
    return 0;
}

/* One warning for all of a set, named in the text: "CPUs 3,5-7 are ...". */
static int warn_set(Snapshot *s, WarningCode code, const Bitmap *set, const char *noun, const char *what)
{
    _cleanup_free_ char *members = NULL;
    unsigned n = bitmap_weight(set);

    if (n == 0)
        return 0;
    members = bitmap_to_text(set);
    return members ? warning_list_add(&s->warnings, code, "%s%s %s %s %s", noun, plural(n), members, are(n), what)
                   : -ENOMEM;
}

/* Takes over the CPU rows; a CPU on a node that does not exist is on no node. */
static int seal_cpus(Snapshot *s, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap strays = {0};
    int r = 0;

    for (cpuid_t cpu = 0; r == 0 && cpu < rows->n_cpus; cpu++) {
        CpuRow *row = &rows->cpus[cpu];

        if (!cpu_is_online(row))
            continue;
        r = bitmap_set(&s->online, cpu);
        if (r == 0 && row->node != ROW_INVALID && (row->node >= rows->n_nodes || is_hole(rows, row->node))) {
            r = bitmap_set(&strays, cpu);
            row->node = ROW_INVALID;
        }
        if (r == 0 && row->node != ROW_INVALID)
            r = bitmap_set(&s->nodes[row->node].cpus, cpu);
    }
    if (r == 0)
        r = warn_set(s, WARNING_CPU_NODE_CONFLICT, &strays, "CPU",
                     "said to be on a node that does not exist, and taken as on none");
    if (r < 0)
        return r;
    s->cpus = TAKE_PTR(rows->cpus);
    s->n_cpus = rows->n_cpus;
    return count_cores(s);
}

static void seal_node(Snapshot *s, NodeRow *row, nodeid_t id)
{
    Node *node = &s->nodes[id];

    node->exists = row->size != ROW_HOLE;
    node->pxm = VALUE_UNKNOWN;
    if (!node->exists)
        return;
    node->span = row->size;
    node->free = row->free;
    node->present = row->present;
    node->low = row->low;
    node->dirty = s->features & FEATURE_BIT(FEATURE_NODE_MEMORY) ? row->dirty : VALUE_UNKNOWN;
    node->claimed = s->features & FEATURE_BIT(FEATURE_CLAIMS) ? row->claimed : VALUE_UNKNOWN;
    node->fragments = known_or_zero(row->fragments);
    node_set_available(node, 0);
    if (s->features & FEATURE_BIT(FEATURE_FREE_CHUNKS)) {
        node->free_chunks = TAKE_PTR(row->free_chunks);
        node->n_free_chunks = row->n_free_chunks;
    }
}

static int seal_nodes(Snapshot *s, HostRows *rows)
{
    _cleanup_bitmap_ Bitmap overfull = {0};

    s->nodes = new_array(rows->n_nodes, sizeof(*s->nodes));
    if (!s->nodes)
        return -ENOMEM;
    s->n_nodes = rows->n_nodes;
    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        seal_node(s, &rows->nodes[id], id);
        if (s->nodes[id].free > s->nodes[id].span && bitmap_set(&overfull, id) < 0)
            return -ENOMEM;
    }
    return warn_set(s, WARNING_FREE_ABOVE_SIZE, &overfull, "node", "said to have more free memory than memory");
}

static void seal_kinds(Snapshot *s)
{
    static const NodeKind kinds[2][2] = {{NODE_EMPTY, NODE_MEMORY}, {NODE_CPU, NODE_CPU_MEMORY}};

    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        Node *node = &s->nodes[id];

        node->kind = kinds[!bitmap_isempty(&node->cpus)][node->exists && node->span > 0];
    }
}

/* --- pools and devices --- */

static int compare_pool(const void *a, const void *b)
{
    const PoolRow *x = a, *y = b;

    return (x->pool > y->pool) - (x->pool < y->pool);
}

static int seal_pools(Snapshot *s, HostRows *rows)
{
    if (rows->n_pools == 0) { /* one pool of everything */
        s->pools = new_array(1, sizeof(*s->pools));
        if (!s->pools)
            return -ENOMEM;
        s->n_pools = 1;
        return bitmap_copy(&s->pools[0].cpus, &s->online);
    }
    s->pools = TAKE_PTR(rows->pools);
    s->n_pools = rows->n_pools;
    rows->n_pools = 0;
    qsort(s->pools, s->n_pools, sizeof(*s->pools), compare_pool);
    for (size_t i = 0; i < s->n_pools; i++) {
        int r = bitmap_and(&s->pools[i].cpus, &s->pools[i].cpus, &s->online);

        if (r < 0)
            return r;
    }
    return 0;
}

static int compare_device(const void *a, const void *b)
{
    return strcmp(((const DeviceRow *)a)->pci, ((const DeviceRow *)b)->pci);
}

static int seal_devices(Snapshot *s, HostRows *rows)
{
    s->devices = TAKE_PTR(rows->devices);
    s->n_devices = rows->n_devices;
    rows->n_devices = 0;
    for (size_t i = 0; i < s->n_devices; i++)
        if (utf8_replace(&s->devices[i].pci) < 0)
            return -ENOMEM;
    if (s->n_devices)
        qsort(s->devices, s->n_devices, sizeof(*s->devices), compare_device);
    for (size_t i = 0; i < s->n_devices; i++) { /* a device may name a node that is not there */
        uint32_t node = s->devices[i].node;

        if (node >= s->n_nodes || !s->nodes[node].exists)
            s->devices[i].node = ROW_INVALID;
    }
    return 0;
}

/* --- what dom0 sees --- */

/* dom0 is a guest like others: its kernel is told of virtual CPUs and of one node. */
static int compare_dom0(Snapshot *s)
{
    uint32_t n_cpus = bitmap_weight(&s->online), n_nodes = 0;

    for (nodeid_t id = 0; id < s->n_nodes; id++)
        n_nodes += s->nodes[id].exists;
    if (!s->has_dom0_view || (s->dom0_nodes == n_nodes && s->dom0_cpus == n_cpus))
        return 0;
    return warning_list_add(
        &s->warnings, WARNING_DOM0_VIEW_DIFFERS,
        "lstopo, lscpu and numactl in dom0 show %" PRIu32 " node%s and %" PRIu32 " CPU%s, the host has %" PRIu32
        " node%s and %" PRIu32
        " CPU%s: like any guest, dom0 sees its virtual CPUs; do not place or pin by what they show, "
        "but by numad-xen topology",
        s->dom0_nodes, plural(s->dom0_nodes), s->dom0_cpus, plural(s->dom0_cpus), n_nodes, plural(n_nodes), n_cpus,
        plural(n_cpus));
}

static int warn_holes(Snapshot *s)
{
    _cleanup_bitmap_ Bitmap holes = {0};

    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (!s->nodes[id].exists && bitmap_set(&holes, id) < 0)
            return -ENOMEM;
    return warn_set(s, WARNING_NODE_OFFLINE, &holes, "node number",
                    "not in use: such a node is offline or does not exist, and is not listed");
}

int seal_topology(Snapshot *s, HostRows *rows)
{
    int r;

    if ((r = seal_nodes(s, rows)) < 0 || (r = seal_cpus(s, rows)) < 0)
        return r;
    seal_kinds(s);
    if ((r = warn_holes(s)) < 0 || (r = seal_distances(s, rows)) < 0 || (r = firmware_match(s, rows->firmware)) < 0 ||
        (r = seal_pools(s, rows)) < 0 || (r = seal_devices(s, rows)) < 0 || (r = compare_dom0(s)) < 0)
        return r;
    return locality_attach(s);
}
