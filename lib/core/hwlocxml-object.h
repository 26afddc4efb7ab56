/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "hwlocxml-tree.h"
#include "xmlwriter.h"

/* The objects of hwloc's XML, one by one; hwlocxml.c puts them together. */

#define SET_WORDS (MAX(CPUS_MAX, NODES_MAX) / 32)

/* A set in the making, and its text as hwloc writes it: words of 32 bits from the highest, empty for 0. */
typedef struct SetText {
    uint32_t words[SET_WORDS];
    unsigned n_words; /* those above are 0 */
    Text text;
} SetText;

typedef struct HwlocWriter {
    XmlWriter xml;
    const Snapshot *s;
    HwlocTree tree;
    SetText cpus, nodes;
    uint64_t gp_index;     /* of the next object */
    uint32_t *device_of;   /* by node, and last those of no node: index of the first device, UINT32_MAX */
    uint32_t *next_device; /* by device: the next one of the same node */
} HwlocWriter;

/* 0 or -ENOMEM. */
int hwloc_writer_init(HwlocWriter *ret_writer, const Snapshot *snapshot);
void hwloc_writer_done(HwlocWriter *w);
#define _cleanup_hwloc_writer_ _cleanup_(hwloc_writer_done)

static inline void set_text_add(SetText *set, unsigned number)
{
    set->words[number / 32] |= UINT32_C(1) << number % 32;
    set->n_words = MAX(set->n_words, number / 32 + 1);
}
/* A list of the tree's. */
void set_text_add_nodes(SetText *set, const HwlocTree *tree, nodeid_t first);
/* Makes the text of what was added and empties the set. */
void set_text_finish(SetText *set);

/* ROW_INVALID: no os_index. */
void hwloc_begin_object(HwlocWriter *w, const char *type, uint32_t os_index);
void hwloc_add_sets(HwlocWriter *w, const Text *cpus, const Text *nodes);
void hwloc_add_gp_index(HwlocWriter *w);
void hwloc_end_object(HwlocWriter *w);
void hwloc_write_info(HwlocWriter *w, const char *name, const char *value);

/* The NUMA nodes of a list, with the CPUs of the object that they belong to. */
void hwloc_write_nodes(HwlocWriter *w, nodeid_t first, const Text *cpus);
/* The devices of a list of nodes; those of no node. */
void hwloc_write_devices(HwlocWriter *w, nodeid_t first);
void hwloc_write_other_devices(HwlocWriter *w);
