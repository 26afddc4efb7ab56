/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/core/firmware-match.h"

#define NODES 64u

static void check_table(const Srat *srat)
{
    for (size_t i = 0; i < srat->n_ranges; i++)
        FUZZ_HOLDS(srat->ranges[i].length <= UINT64_MAX - srat->ranges[i].base);
    FUZZ_HOLDS(!srat->fault || *srat->fault);
    FUZZ_HOLDS(!srat->cut || srat->fault);
}

static void check_nodes(const SratNodes *nodes)
{
    FUZZ_HOLDS(nodes->n_existing <= nodes->n);
    FUZZ_HOLDS(!nodes->overlaps || (nodes->refused && *nodes->refused));
    FUZZ_HOLDS(nodes->n == 0 || srat_node_exists(&nodes->nodes[nodes->n - 1]));
    for (size_t i = 0; i < nodes->n_extents; i++) {
        const SratExtent *extent = &nodes->extents[i];

        FUZZ_HOLDS(extent->start < extent->end && extent->node < nodes->n);
        FUZZ_HOLDS(i == 0 || nodes->extents[i - 1].end <= extent->start);
        FUZZ_HOLDS(extent->start >= nodes->nodes[extent->node].start);
        FUZZ_HOLDS(extent->end <= nodes->nodes[extent->node].end);
    }
}

/* present <= span, and not known only of a table that is cut, or where the number itself means that. */
static void check_node(const Srat *srat, const SratNode *expected, const Node *node, bool used)
{
    bool known = node->present != VALUE_UNKNOWN;

    FUZZ_HOLDS(node->pxm == (used ? expected->pxm : VALUE_UNKNOWN));
    FUZZ_HOLDS(known ? used && node->present <= node->span : !used || srat->cut || node->span == VALUE_UNKNOWN);
}

/*
 * A host whose hypervisor did with the table what it does: it has to be recognised. And one that has several nodes
 * where it refuses the table: they are not the table's.
 */
static void check_match(Firmware *firmware)
{
    const SratNodes *nodes = &firmware->nodes;
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;
    HostRows *rows = host_rows_new();
    bool used = !nodes->overlaps || nodes->n_existing < 2;

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
    FUZZ_HOLDS(warning_list_has(&s->warnings, WARNING_SRAT_MISMATCH) == !used);
    for (size_t i = 0; i < nodes->n; i++)
        if (s->nodes[i].exists)
            check_node(&firmware->srat, &nodes->nodes[i], &s->nodes[i], used);
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
