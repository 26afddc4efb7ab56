/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "snapshot.h"

/*
 * Where CPUs and nodes hang in hwloc's tree: Machine, up to two branches, core, PU. Every object but the Machine is
 * known by its level and its lowest CPU, which is also how hwloc orders children.
 */
typedef enum BranchType { BRANCH_NONE, BRANCH_GROUP, BRANCH_PACKAGE } BranchType;

enum { TREE_OUTER, TREE_INNER, TREE_CORE, TREE_PU, _TREE_LEVEL_MAX };
enum { PLACE_SOCKET, PLACE_NODE, PLACE_CORE, PLACE_CPU, _PLACE_ID_MAX };

/* An online CPU. */
typedef struct CpuPlace {
    uint32_t id[_PLACE_ID_MAX];        /* ROW_INVALID: not known */
    uint32_t first[_TREE_LEVEL_MAX];   /* the lowest CPU of the object on that level, or of what stands in its place */
    BranchType branch[TREE_INNER + 1]; /* BRANCH_NONE: no object on that level */
} CpuPlace;

typedef struct HwlocTree {
    CpuPlace *cpus; /* owned, in the order of the tree */
    size_t n_cpus;
    nodeid_t on_machine;                 /* first node whose memory belongs to the Machine, NODE_NONE */
    nodeid_t *on_branch[TREE_INNER + 1]; /* owned; the same for a branch, by its lowest CPU */
    nodeid_t *next;                      /* owned; the next node of the same object, ascending */
} HwlocTree;

/* 0 or -ENOMEM. */
int hwloc_tree_init(HwlocTree *ret_tree, const Snapshot *snapshot);
void hwloc_tree_done(HwlocTree *tree);
#define _cleanup_hwloc_tree_ _cleanup_(hwloc_tree_done)

static inline bool cpu_place_has_core(const CpuPlace *place)
{
    return place->id[PLACE_CORE] != ROW_INVALID;
}
