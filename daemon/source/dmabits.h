/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

/*
 * Xen's DMA width: with more than one node, memory at or below it is given to a guest only when no node has any
 * other. No hypercall tells it, so it is computed as Xen does (common/page_alloc.c end_boot_allocator(),
 * arch/x86/numa.c arch_get_dma_bitsize()).
 */

/* At and above this width nothing is set aside: it is as wide as any address (PADDR_BITS). */
#define DMA_BITS_ALL 52u

/* dma_bits= of the hypervisor's command line, at most DMA_BITS_ALL; 0: not given, or 0, which is the same to Xen. */
unsigned dma_bits_from_commandline(const char *text);

/*
 * What Xen chooses by itself. start and span (pages of 4 KiB, holes included) are of the first online node, by
 * number, that has memory and starts below 4 GiB.
 */
unsigned dma_bits_from_node(uint64_t start_pfn, uint64_t span_pages);
