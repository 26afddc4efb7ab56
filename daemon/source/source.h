/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/host-memory.h"

/*
 * Where the numbers come from. A source hides one world (a Xen host, a host description) behind these calls; only
 * the manager calls them. A collection is begin, then step until it says done: each step is bounded work, so that no
 * dispatch of the loop lasts more than 10 ms. What a source cannot read it leaves unknown in the rows, says so in
 * their warnings and counts in `errors`; it fails as a whole only when there is nothing to show.
 */

typedef enum ErrorKind { ERROR_XEN, ERROR_SRAT, ERROR_HWLOC, ERROR_XENSTORE, _ERROR_KIND_MAX } ErrorKind;

typedef struct Source Source;

typedef struct SourceOps {
    /* Begins a collection; one under way is dropped. `full` reads again what is read less often (vCPU affinities). */
    int (*begin)(Source *source, bool full);
    /* Goes on. 1: more to do. 0: done, and the caller owns *ret_rows. Negative: failed, nothing to show. */
    int (*step)(Source *source, HostRows **ret_rows);
    /* File descriptor that turns readable on a domain event; -1: there are none. */
    int (*event_fd)(const Source *source);
    /* Takes the events. 1: domains came or went. 0: nothing of interest. Negative: lost; the fd is no good any more. */
    int (*dispatch)(Source *source);
    /*
     * Reads at once what a decision needs, also while a collection is under way, which it does not disturb: each
     * node's memory and what each domain holds. Names are left unknown. 0 or negative: nothing could be read.
     */
    int (*read_memory)(Source *source, HostMemory **ret_memory);
    /* Reads its configuration (the host description) again. On failure the old one is kept and *ret_error says why. */
    int (*reload)(Source *source, char **ret_error);
    void (*free)(Source *source);
} SourceOps;

struct Source {
    const SourceOps *ops;
    uint64_t errors[_ERROR_KIND_MAX]; /* failed reads since the start */
};

static inline void source_free(Source *source)
{
    if (source)
        source->ops->free(source);
}
DEFINE_CLEANUP(Source *, source_free)

/* A host description file. On failure *ret_error (owned) says what is wrong with it, where. */
int sim_source_new(const char *path, Source **ret_source, char **ret_error);
/* This Xen host. On failure *ret_error says why and what to do (not in dom0, not permitted). */
int xen_source_new(Source **ret_source, char **ret_error);
