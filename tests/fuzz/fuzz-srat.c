/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/core/firmware-match.h"

#define NODES 64u

static void check_table(const Srat *srat)
{
    for (size_t i = 0; i < srat->n_ranges; i++)
        FUZZ_HOLDS(srat->ranges[i].length <= UINT64_MAX - srat->ranges[i].base);
    FUZZ_HOLDS(!srat->fault || *srat->fault);
}

static void check_nodes(const SratNodes *nodes)
{
    FUZZ_HOLDS(nodes->n_existing <= nodes->n);
    FUZZ_HOLDS(nodes->n == 0 || srat_node_exists(&nodes->nodes[nodes->n - 1]));
    for (size_t i = 0; i < nodes->n_extents; i++) {
        const SratExtent *extent = &nodes->extents[i];

        FUZZ_HOLDS(extent->start < extent->end && extent->node < nodes->n);
        FUZZ_HOLDS(i == 0 || nodes->extents[i - 1].end <= extent->start);
        FUZZ_HOLDS(extent->start >= nodes->nodes[extent->node].start);
        FUZZ_HOLDS(extent->end <= nodes->nodes[extent->node].end);
    }
}

/* A host whose hypervisor did with the table what it does: it has to be recognised. */
static void check_match(Firmware *firmware)
{
    const SratNodes *nodes = &firmware->nodes;
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;
    HostRows *rows = host_rows_new();

    if (!rows || !(rows->nodes = new_array(nodes->n, sizeof(*rows->nodes))))
        abort();
    rows->n_nodes = nodes->n;
    for (size_t i = 0; i < nodes->n; i++) {
        const SratNode *node = &nodes->nodes[i];

        node_row_init(&rows->nodes[i]);
        rows->nodes[i].free = 0;
        rows->nodes[i].size = srat_node_exists(node) ? node->end - node->start : ROW_HOLE;
        if (srat_node_exists(node) && rows->nodes[i].size == ROW_HOLE)
            rows->nodes[i].size--;
    }
    rows->firmware = firmware_ref(firmware);
    FUZZ_HOLDS(snapshot_seal(rows, 1, -1, &s) == 0);
    FUZZ_HOLDS(!warning_list_has(&s->warnings, WARNING_SRAT_MISMATCH));
    for (size_t i = 0; i < nodes->n; i++) {
        const Node *node = &s->nodes[i];

        FUZZ_HOLDS(!node->exists || (node->pxm == nodes->nodes[i].pxm && node->present <= node->span));
    }
}

/* Any bytes: a table, as far as it can be read, and the nodes it makes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Firmware *firmware = NULL;

    if (firmware_new(data, size, NULL, 0, &firmware) < 0)
        return 0;
    check_table(&firmware->srat);
    check_nodes(&firmware->nodes);
    if (firmware->nodes.n > 0 && firmware->nodes.n <= NODES)
        check_match(firmware);
    firmware_unref(firmware);
    return 0;
}
