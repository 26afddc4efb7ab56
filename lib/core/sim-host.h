/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "host-memory.h"
#include "placement.h"

/*
 * A Xen host as a model: domains are built, ballooned and destroyed on its rows with the rules of Xen's allocator and
 * of libxc's domain builder, so that what is decided about a simulated host meets what a real one would do.
 *
 * The builder takes memory in steps, each as far as it can be had anywhere on the host: pv in 2 MiB extents, then
 * 4 KiB; pvh in 1 GiB, 2 MiB, 4 KiB; all others the first GiB in 2 MiB, then as pvh.
 *
 * Each extent comes from the next node, round robin, of the domain's node affinity that has one above Xen's low
 * reserve and scrubbed; else from the lowest-numbered other node that has one; else, in the same order, one that is
 * dirty; else one of the low reserve, scrubbed or not. Single pages are taken dirty or not. The last node used is
 * remembered for each domain; the first extent comes from the first node. Within a node the smallest free chunk that
 * is large enough is split. A node whose free chunks are not known has all extents that its free memory has room for;
 * of one whose chunks are known the low reserve and what is dirty are taken to lie in the largest ones, as
 * placement_extents() has it.
 *
 * A build first stakes a host-wide claim on its memory, which shrinks as the pages come.
 *
 * What Xen needs beside (placement_overhead()) it takes from the domain's nodes too. Here it comes after the memory
 * and in proportion to it, as it is promised, not before it and page by page as on a real host: libxl's figure is an
 * upper bound, most of which Xen never takes, and the split of the memory must not depend on it. Pages that a node has
 * no more of come from others by the rule above.
 *
 * Pages given back are dirty. As many chunks as the model has split join again when parts enough are free; which parts
 * are neighbours is not known.
 */
typedef struct SimHost SimHost;

/* Takes the rows over, also on failure. 0 or -ENOMEM. */
int sim_host_new(HostRows *rows, SimHost **ret_host);
SimHost *sim_host_free(SimHost *host); /* takes NULL, returns NULL */
DEFINE_CLEANUP(SimHost *, sim_host_free)

/* What the host's hypercalls say now; valid until it changes. */
const HostRows *sim_host_rows(const SimHost *host);
/* What a source reads of it for a decision (host-memory.h), without names. NULL when memory is short. */
HostMemory *sim_host_memory(const SimHost *host);

/*
 * A domain to start. Texts and sets are borrowed for the call. A zeroed one with pool ROW_NO_POOL, memory and vcpus is
 * a domain of unknown type that may run and lie anywhere.
 */
typedef struct SimDomain {
    const char *name; /* NULL: none */
    bool has_uuid;
    uint8_t uuid[16];
    DomainType type;
    DomainState state;
    uint32_t pool;       /* ROW_NO_POOL: pool 0 */
    uint64_t memory;     /* bytes, rounded up to pages */
    uint64_t max_memory; /* bytes; 0: as memory */
    uint32_t vcpus;
    /* The sets of each vCPU, n_sets of them; the last one stands for all that follow. 0: all CPUs. */
    const VcpuRow *sets;
    size_t n_sets;
    /* NULL: the nodes of the CPUs in hard and soft sets of all vCPUs, or of the hard ones when there are none. */
    const Bitmap *node_affinity;
} SimDomain;

#define SIM_E_NO_MEMORY 1 /* the host has not enough; or no domid is left */
#define SIM_E_CLAIM 2     /* what is free and not claimed by others does not hold it */
#define SIM_E_UNKNOWN_DOMAIN 3
#define SIM_E_UNFINISHED 4 /* it is being built */
#define SIM_E_LIMIT 5      /* more than the domain's maximum, or less than a page */
#define SIM_E_NO_NODE 6    /* there is no such node; or a node affinity without one */

/*
 * Starts a domain: begin and build to the end. When it cannot be built it is gone again and everything given back. 0,
 * SIM_E_NO_MEMORY, SIM_E_CLAIM, SIM_E_NO_NODE or -ENOMEM. Domids go upward from the last one, as Xen's do.
 */
int sim_host_create(SimHost *host, const SimDomain *domain, domid_t *ret_domid);

/* A domain without memory, its claim staked. */
int sim_host_begin(SimHost *host, const SimDomain *domain, domid_t *ret_domid);
/*
 * At most so many bytes more; UINT64_MAX: to the end. The domain may still be SIM_E_UNFINISHED, its claim outstanding;
 * 0: it is complete (also when it was before). SIM_E_NO_MEMORY: it is gone. SIM_E_UNKNOWN_DOMAIN.
 */
int sim_host_build(SimHost *host, domid_t domid, uint64_t bytes);

/* Whether its build has begun and is not complete. */
bool sim_host_is_building(const SimHost *host, domid_t domid);

/* 0, SIM_E_UNKNOWN_DOMAIN or -ENOMEM. Its pages are free at once, and dirty. */
int sim_host_destroy(SimHost *host, domid_t domid);

/*
 * What a guest's balloon driver does to have so many bytes. Up: pv in 4 KiB extents, others in 2 MiB, then 4 KiB, by
 * the rule above; without a claim, so others' are left alone. SIM_E_NO_MEMORY: it has as much as was to be had. Down:
 * from its highest node downward, of each what lies above the low reserve first. SIM_E_UNKNOWN_DOMAIN,
 * SIM_E_UNFINISHED, SIM_E_LIMIT.
 */
int sim_host_balloon(SimHost *host, domid_t domid, uint64_t bytes);

/*
 * Memory of a node that somebody else takes, or gives back: in 4 KiB pages, the low reserve last. All or nothing: 0,
 * SIM_E_NO_NODE, or SIM_E_NO_MEMORY: the node has not so much free, or not so much in use.
 */
int sim_host_take(SimHost *host, nodeid_t node, uint64_t bytes);
int sim_host_give(SimHost *host, nodeid_t node, uint64_t bytes);

/* What the idle CPUs of each node do meanwhile: so much of what was given back there is scrubbed. */
void sim_host_scrub(SimHost *host, uint64_t bytes);

/* Pages of the domain by node, whatever the host's features tell; NULL: no such domain, or its pages are not known. */
const uint64_t *sim_host_pages(const SimHost *host, domid_t domid);
/* Pages by node that Xen holds for a domain that sim_host_create() has made; else NULL. */
const uint64_t *sim_host_overhead(const SimHost *host, domid_t domid);
