/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What every file of the core uses: id types, cleanup attributes and arithmetic that cannot wrap. */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint16_t domid_t;  /* as Xen's public/xen.h */
typedef uint32_t nodeid_t; /* a node as the hypervisor numbers it, not a proximity domain */
typedef uint32_t cpuid_t;  /* a physical CPU as the hypervisor numbers it */

#define NODE_NONE UINT32_MAX
#define CPU_NONE UINT32_MAX
#define DISTANCE_NONE UINT32_MAX /* unreachable, invalid or a hole */
#define VALUE_UNKNOWN UINT64_MAX /* of a number of bytes, pages or a PXM that nobody told us */

#define NODES_MAX 1024u /* ids 0..1023 */
#define CPUS_MAX 8192u  /* ids 0..8191 */
#define DOMAINS_MAX 32752u

#define _cleanup_(f) __attribute__((cleanup(f)))
#define DEFINE_CLEANUP(type, free_function)           \
    static inline void free_function##_p(type *value) \
    {                                                 \
        free_function(*value);                        \
    }

static inline void free_charp(char **text)
{
    free(*text);
}
#define _cleanup_free_ _cleanup_(free_charp)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Moves the value out of a variable, so that its cleanup frees nothing. */
#define TAKE_PTR(variable)                        \
    ({                                            \
        __typeof__(variable) taken_ = (variable); \
        (variable) = NULL;                        \
        taken_;                                   \
    })

static inline uint64_t sub_saturating(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* An unknown part of a sum counts as nothing. */
static inline uint64_t known_or_zero(uint64_t value)
{
    return value == VALUE_UNKNOWN ? 0 : value;
}

/* Zeroed array of n elements, never NULL for n == 0; NULL when memory is short or the size would overflow. */
static inline void *new_array(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}
