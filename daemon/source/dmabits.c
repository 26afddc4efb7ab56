/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dmabits.h"

#include <limits.h>
#include <string.h>

#define PAGE_SHIFT 12
#define DMA_BITS_MAX 32 /* of those Xen chooses */
#define OPTION "dma_bits="
/* Xen copies an option into a buffer of this size and drops the rest. */
#define OPTION_SIZE_MAX 128

/* As Xen reads it: base by prefix, whatever follows the digits is ignored; -1 is the largest there is. */
static void parse_width(const char *text, unsigned *width)
{
    long long value = strtoll(text, NULL, 0);

    if (value > UINT_MAX || value < INT_MIN)
        return; /* it does not fit: Xen keeps what it had */
    *width = MIN((unsigned)value, DMA_BITS_ALL);
}

unsigned dma_bits_from_commandline(const char *text)
{
    unsigned width = 0;

    while (*(text += strspn(text, " "))) {
        size_t length = strcspn(text, " ");
        char option[OPTION_SIZE_MAX];

        memcpy(option, text, MIN(length, sizeof(option) - 1));
        option[MIN(length, sizeof(option) - 1)] = '\0';
        if (strncmp(option, OPTION, strlen(OPTION)) == 0)
            parse_width(option + strlen(OPTION), &width); /* the last one counts */
        text += length;
    }
    return width;
}

unsigned dma_bits_from_node(uint64_t start_pfn, uint64_t span_pages)
{
    /* Not the whole node is set aside, but a quarter. The last pfn of it; 0 - 1 wraps in Xen as well. */
    uint64_t last = start_pfn + span_pages / 4 - 1;
    unsigned bits = last ? 64 - (unsigned)__builtin_clzll(last) : 0;

    return MIN(bits + PAGE_SHIFT, DMA_BITS_MAX);
}
