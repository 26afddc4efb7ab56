/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hwlocxml-tree.h"

#include <string.h>

/*
 * hwloc wants a tree; sockets and nodes need not make one. A piece is what a socket and a node have in common.
 *
 *   a socket that is a node            a Package with the node's memory
 *   a node of several sockets          a Group with the memory, its Packages inside
 *   a socket of several nodes          a Package, a Group with its memory for each node inside
 *   a socket and a node that cross     the node stays whole, for memory is what counts: the socket is cut into its
 *                                      pieces, each a Package with the socket's number
 *   a node that is the whole host      its memory belongs to the Machine
 *
 * What is not known is left out: a CPU without a socket hangs in its node's Group, one without a node in its Package,
 * one without either in the Machine.
 *
 * A node without CPUs goes to the lowest object that holds all nodes with CPUs that are nearest to it.
 */

/* The object that has a node's memory: level 0 is the Machine, 1 the outer branch, 2 the inner one. */
typedef struct NodePlace {
    unsigned level;
    cpuid_t first[TREE_INNER + 1];
} NodePlace;

typedef struct Build {
    const Snapshot *s;
    HwlocTree *tree;
    unsigned *pieces; /* by node */
    NodePlace *places;
} Build;

static int compare_words(const uint32_t *a, const uint32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    return compare_words(((const CpuPlace *)a)->id, ((const CpuPlace *)b)->id, _PLACE_ID_MAX);
}

static int compare_firsts(const void *a, const void *b)
{
    return compare_words(((const CpuPlace *)a)->first, ((const CpuPlace *)b)->first, _TREE_LEVEL_MAX);
}

/* How many places from the first on have the same first `n_ids` ids. */
static size_t run_length(const CpuPlace *cpus, size_t n, size_t n_ids)
{
    size_t i = 1;

    while (i < n && compare_words(cpus[0].id, cpus[i].id, n_ids) == 0)
        i++;
    return i;
}

static cpuid_t lowest_cpu(const CpuPlace *cpus, size_t n)
{
    cpuid_t lowest = CPU_NONE;

    for (size_t i = 0; i < n; i++)
        lowest = MIN(lowest, cpus[i].id[PLACE_CPU]);
    return lowest;
}

/* How many pieces each node has; one of no socket counts too. */
static void count_pieces(Build *b)
{
    const HwlocTree *tree = b->tree;

    for (size_t i = 0; i < tree->n_cpus; i += run_length(tree->cpus + i, tree->n_cpus - i, PLACE_NODE + 1)) {
        nodeid_t node = tree->cpus[i].id[PLACE_NODE];

        if (node != ROW_INVALID)
            b->pieces[node]++;
    }
}

/* Whether one of the nodes of a socket is also on another. */
static bool socket_crosses(const Build *b, const CpuPlace *cpus, size_t n)
{
    for (size_t i = 0; i < n; i += run_length(cpus + i, n - i, PLACE_NODE + 1))
        if (cpus[i].id[PLACE_NODE] != ROW_INVALID && b->pieces[cpus[i].id[PLACE_NODE]] > 1)
            return true;
    return false;
}

/* What is above the cores of a piece. `shared`: its socket is one Package with other pieces. */
static void choose_branches(const Build *b, const CpuPlace *piece, bool shared, BranchType branch[2])
{
    nodeid_t node = piece->id[PLACE_NODE];
    bool has_socket = piece->id[PLACE_SOCKET] != ROW_INVALID, has_node = node != ROW_INVALID;
    bool whole_host = has_node && bitmap_equal(&b->s->nodes[node].cpus, &b->s->online);

    branch[TREE_OUTER] = branch[TREE_INNER] = BRANCH_NONE;
    if (!has_socket)
        branch[TREE_OUTER] = has_node && !whole_host ? BRANCH_GROUP : BRANCH_NONE;
    else if (shared || !has_node || whole_host || b->pieces[node] == 1) {
        branch[TREE_OUTER] = BRANCH_PACKAGE;
        branch[TREE_INNER] = shared && has_node ? BRANCH_GROUP : BRANCH_NONE;
    } else {
        branch[TREE_OUTER] = BRANCH_GROUP;
        branch[TREE_INNER] = BRANCH_PACKAGE;
    }
}

static NodePlace choose_node_place(const Build *b, const CpuPlace *cpu)
{
    NodePlace place = {.first = {cpu->first[TREE_OUTER], cpu->first[TREE_INNER]}};
    bool is_socket = cpu->id[PLACE_SOCKET] != ROW_INVALID && b->pieces[cpu->id[PLACE_NODE]] == 1;

    if (cpu->branch[TREE_INNER] == BRANCH_GROUP)
        place.level = 2;
    else if (cpu->branch[TREE_OUTER] == BRANCH_GROUP || (cpu->branch[TREE_OUTER] == BRANCH_PACKAGE && is_socket))
        place.level = 1;
    return place;
}

/* `socket_first` is the lowest CPU of the socket. */
static void place_piece(Build *b, CpuPlace *cpus, size_t n, bool shared, cpuid_t socket_first)
{
    nodeid_t node = cpus->id[PLACE_NODE];
    cpuid_t piece_first = lowest_cpu(cpus, n), core_first = CPU_NONE, outer_first;
    BranchType branch[2];

    choose_branches(b, cpus, shared, branch);
    if (branch[TREE_OUTER] == BRANCH_GROUP)
        outer_first = bitmap_next(&b->s->nodes[node].cpus, 0);
    else
        outer_first = shared ? socket_first : piece_first;
    for (size_t i = 0; i < n; i++) {
        CpuPlace *cpu = &cpus[i];

        if (i == 0 || !cpu_place_has_core(cpu) || compare_words(cpu[-1].id, cpu->id, PLACE_CORE + 1) != 0)
            core_first = cpu->id[PLACE_CPU];
        memcpy(cpu->branch, branch, sizeof(branch));
        cpu->first[TREE_PU] = cpu->id[PLACE_CPU];
        cpu->first[TREE_CORE] = core_first;
        cpu->first[TREE_INNER] = branch[TREE_INNER] ? piece_first : core_first;
        cpu->first[TREE_OUTER] = branch[TREE_OUTER] ? outer_first : cpu->first[TREE_INNER];
    }
    if (node != ROW_INVALID)
        b->places[node] = choose_node_place(b, cpus);
}

static void place_socket(Build *b, CpuPlace *cpus, size_t n)
{
    bool known = cpus->id[PLACE_SOCKET] != ROW_INVALID;
    bool shared = known && run_length(cpus, n, PLACE_NODE + 1) < n && !socket_crosses(b, cpus, n);
    cpuid_t first = lowest_cpu(cpus, n);

    for (size_t i = 0, length; i < n; i += length) {
        length = run_length(cpus + i, n - i, PLACE_NODE + 1);
        place_piece(b, cpus + i, length, shared, first);
    }
}

static int collect_cpus(Build *b)
{
    HwlocTree *tree = b->tree;

    tree->cpus = new_array(bitmap_weight(&b->s->online), sizeof(*tree->cpus));
    if (!tree->cpus)
        return -ENOMEM;
    BITMAP_FOREACH (cpu, &b->s->online) {
        const CpuRow *row = &b->s->cpus[cpu];

        tree->cpus[tree->n_cpus++] = (CpuPlace){.id = {row->socket, row->node, row->core, cpu}};
    }
    return 0;
}

static void place_cpus(Build *b)
{
    HwlocTree *tree = b->tree;

    qsort(tree->cpus, tree->n_cpus, sizeof(*tree->cpus), compare_ids);
    count_pieces(b);
    for (size_t i = 0, length; i < tree->n_cpus; i += length) {
        length = run_length(tree->cpus + i, tree->n_cpus - i, PLACE_SOCKET + 1);
        place_socket(b, tree->cpus + i, length);
    }
    qsort(tree->cpus, tree->n_cpus, sizeof(*tree->cpus), compare_firsts);
}

/* --- nodes --- */

/* The lowest object that holds both. */
static NodePlace join(NodePlace a, NodePlace b)
{
    NodePlace place = a;

    place.level = MIN(a.level, b.level);
    while (place.level && compare_words(a.first, b.first, place.level) != 0)
        place.level--;
    return place;
}

static NodePlace place_cpuless(const Build *b, nodeid_t node)
{
    uint32_t nearest = DISTANCE_NONE;
    NodePlace place = {0};

    for (nodeid_t other = 0; other < b->s->n_nodes; other++) {
        uint32_t distance = snapshot_distance(b->s, other, node); /* from the node that has the CPUs */

        if (distance == DISTANCE_NONE || distance > nearest || bitmap_isempty(&b->s->nodes[other].cpus))
            continue;
        place = distance < nearest ? b->places[other] : join(place, b->places[other]);
        nearest = distance;
    }
    return place;
}

static void link_node(Build *b, nodeid_t node)
{
    const NodePlace *place = &b->places[node];
    nodeid_t *head = &b->tree->on_machine;

    if (place->level)
        head = &b->tree->on_branch[place->level - 1][place->first[place->level - 1]];
    b->tree->next[node] = *head;
    *head = node;
}

static int place_nodes(Build *b)
{
    HwlocTree *tree = b->tree;
    const Snapshot *s = b->s;

    tree->on_machine = NODE_NONE;
    tree->next = new_array(s->n_nodes, sizeof(*tree->next));
    for (unsigned level = 0; level <= TREE_INNER; level++) {
        tree->on_branch[level] = new_array(s->n_cpus, sizeof(nodeid_t));
        if (!tree->on_branch[level])
            return -ENOMEM;
        memset(tree->on_branch[level], 0xff, s->n_cpus * sizeof(nodeid_t)); /* NODE_NONE */
    }
    if (!tree->next)
        return -ENOMEM;
    for (nodeid_t node = (nodeid_t)s->n_nodes; node-- > 0;) { /* downward: a list begins with its lowest */
        if (!s->nodes[node].exists)
            continue;
        if (bitmap_isempty(&s->nodes[node].cpus))
            b->places[node] = place_cpuless(b, node);
        link_node(b, node);
    }
    return 0;
}

void hwloc_tree_done(HwlocTree *tree)
{
    free(tree->cpus);
    for (unsigned level = 0; level <= TREE_INNER; level++)
        free(tree->on_branch[level]);
    free(tree->next);
    *tree = (HwlocTree){0};
}

int hwloc_tree_init(HwlocTree *ret_tree, const Snapshot *s)
{
    Build b = {.s = s, .tree = ret_tree};
    int r = -ENOMEM;

    *ret_tree = (HwlocTree){0};
    b.pieces = new_array(s->n_nodes, sizeof(*b.pieces));
    b.places = new_array(s->n_nodes, sizeof(*b.places));
    if (b.pieces && b.places)
        r = collect_cpus(&b);
    if (r == 0) {
        place_cpus(&b);
        r = place_nodes(&b);
    }
    free(b.pieces);
    free(b.places);
    if (r < 0)
        hwloc_tree_done(ret_tree);
    return r;
}
