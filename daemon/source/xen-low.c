/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dmabits.h"
#include "xen-source.h"

/*
 * Memory that Xen sets aside for DMA, on a Xen that does not say so itself. Its width is that of the command line, or
 * what Xen computes from start and span of the first node that starts below 4 GiB. No call tells where a node starts,
 * but the one that holds the lowest memory starts at 0. So: if the first node of all is the one with the lowest free
 * memory, and that is below 4 GiB, its start is known, and the width. Otherwise `low` stays unknown.
 */

#define ISA_WIDTH 24u /* low memory up to here is handed out last, so it is where to look first */
#define LOW_WIDTH 32u

static int available(XenSource *s, uint32_t node, unsigned width, uint64_t *ret_bytes)
{
    xen_spend(s, 1);
    return s->calls->ops->availheap(s->calls, node, width, ret_bytes);
}

/* Number of nodes, and which is the first that has memory. */
static unsigned count_nodes(const HostRows *rows, nodeid_t *ret_first)
{
    unsigned n = 0;

    *ret_first = NODE_NONE;
    for (nodeid_t i = 0; i < rows->n_nodes; i++) {
        if (rows->nodes[i].size == ROW_HOLE)
            continue;
        n++;
        if (*ret_first == NODE_NONE && rows->nodes[i].size > 0)
            *ret_first = i;
    }
    return n;
}

/* 1: all of the lowest free memory is on this node; 0: not so, or there is none below 4 GiB. */
static int holds_lowest(XenSource *s, nodeid_t node)
{
    for (unsigned width = ISA_WIDTH; width <= LOW_WIDTH; width++) {
        uint64_t all = 0, here = 0;
        int r = available(s, XEN_ANY_NODE, width, &all);

        if (r == 0 && all)
            r = available(s, node, width, &here);
        if (r < 0)
            return r;
        if (all)
            return here >= all;
    }
    return 0;
}

/* 1: *ret_width is what Xen uses; 0: it cannot be known; negative: the call that *call names failed. */
static int find_width(XenSource *s, unsigned *ret_width, const char **call)
{
    _cleanup_free_ char *commandline = NULL;
    nodeid_t first;
    int r;

    if (count_nodes(s->rows, &first) <= 1) {
        *ret_width = 0;
        return 1;
    }
    *call = "xen_version (command line)";
    r = s->calls->ops->commandline(s->calls, &commandline);
    if (r < 0)
        return r;
    *call = "availheap";
    *ret_width = dma_bits_from_commandline(commandline);
    if (*ret_width)
        return 1;
    if (first == NODE_NONE)
        return 0;
    r = holds_lowest(s, first);
    if (r > 0)
        *ret_width = dma_bits_from_node(0, s->rows->nodes[first].size / XEN_PAGE_SIZE);
    return r;
}

/* 0, or as find_width(). A width that was found once stays in force until there is a new one. */
static int learn_width(XenSource *s, const char **call)
{
    unsigned width = 0;
    int r = find_width(s, &width, call);

    if (r > 0)
        s->dma = (XenDma){.known = true, .width = width};
    return MIN(r, 0);
}

int xen_fetch_low(XenSource *s, NodeRow *row, nodeid_t node)
{
    uint64_t bytes = 0;
    int r = 0;

    if (s->dma.width > 0 && s->dma.width < DMA_BITS_ALL && row->size > 0)
        r = available(s, node, s->dma.width, &bytes);
    if (r < 0)
        return r;
    row->low = MIN(bytes, row->free); /* free was read a moment before */
    return 0;
}

int xen_read_low(XenSource *s)
{
    const char *call = "availheap";
    int r = 0;

    for (nodeid_t i = 0; i < s->rows->n_nodes && r == 0; i++) {
        NodeRow *row = &s->rows->nodes[i];

        if (row->size == ROW_HOLE || row->low != VALUE_UNKNOWN)
            continue;
        if (s->dma.due) /* for the first such node, not at all where Xen says */
            r = learn_width(s, &call);
        if (r == 0 && !s->dma.known)
            return 0;
        if (r == 0)
            r = xen_fetch_low(s, row, i);
    }
    return r < 0 ? xen_call_failed(s, ERROR_XEN, call, r) : 0;
}
