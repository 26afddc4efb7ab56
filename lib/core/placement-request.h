/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "policy.h"
#include "rows.h"

/*
 * What a toolstack asks for a domain it is about to build (contract, section 2, "Request keys"). A zeroed request with
 * pool ROW_NO_POOL asks for nothing yet.
 */
typedef struct PlacementRequest {
    uint32_t vcpus;      /* up to the domain's maximum: each gets a set of CPUs */
    uint64_t memory;     /* bytes, as the domain starts; without what Xen itself needs for it */
    uint64_t max_memory; /* bytes; 0: as memory */
    char *name;          /* owned; NULL: not told */
    bool has_uuid;
    uint8_t uuid[16];
    DomainType type;
    bool has_policy; /* else the configured one */
    PlacementPolicy policy;
    bool has_nodes; /* which may give memory; a preference unless strict */
    Bitmap nodes;
    bool has_cpus; /* a hard set of CPUs */
    Bitmap cpus;
    uint32_t pool; /* ROW_NO_POOL: not asked for, so pool 0 */
    char *near;    /* owned; a device's PCI address as "0000:3b:00.0", NULL: none */
    bool strict;
    uint32_t ttl_ms;           /* 0: the configured one */
    uint32_t threads_per_core; /* of the guest; 0: not told, as 1 */
} PlacementRequest;

#define REQUEST_VCPUS_MAX 8192u         /* Xen's MAX_VIRT_CPUS */
#define REQUEST_MEMORY_MAX (1ull << 56) /* as a host description */
#define REQUEST_NAME_MAX 255u           /* bytes */
#define REQUEST_TTL_MS_MIN 1000u        /* as the settings' */
#define REQUEST_TTL_MS_MAX (24u * 60u * 60u * 1000u)
#define REQUEST_THREADS_MAX 16u

void placement_request_done(PlacementRequest *request); /* frees what it owns and zeroes it */
int placement_request_copy(const PlacementRequest *from, PlacementRequest *ret_copy); /* 0 or -ENOMEM */

#define REQUEST_E_INVALID 1
/*
 * Whether the quantities make sense on any host. 0; REQUEST_E_INVALID, and *ret_why (owned) begins with the key:
 * "memory: 0 bytes: ask for 1 or more"; or -ENOMEM.
 */
int placement_request_check(const PlacementRequest *request, char **ret_why);

/* "0000:3b:00.0" of any usual way to write it ("3b:00.0", upper case) in `ret`; false: it is no PCI address. */
#define PCI_TEXT_SIZE 13
bool placement_request_pci(const char *text, char ret[PCI_TEXT_SIZE]);
