/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placed-sets.h"

#include <sys/types.h>

/*
 * Memory that was promised to a domain: from the answer of Place on, through its building, to Commit; after that, for
 * as long as the domain lives, the record of what was promised. Immutable: a change is a new one.
 */

#define TOKEN_SIZE 33 /* 128 random bits as 32 hexadecimal digits, and a 0 */
bool token_is_valid(const char *text); /* whether it can be one */

#define DOMID_NONE UINT32_MAX

typedef enum ReservationState {
    RESERVATION_PENDING,   /* no domain yet: the TTL runs */
    RESERVATION_BUILDING,  /* its domain is there, and lives */
    RESERVATION_COMMITTED, /* nothing is set aside any more */
    _RESERVATION_STATE_MAX
} ReservationState;
const char *reservation_state_to_text(ReservationState state); /* "pending" */

typedef struct Reservation {
    unsigned refs;
    char token[TOKEN_SIZE];
    ReservationState state;
    uid_t uid;           /* who placed */
    int64_t placed_us;   /* CLOCK_REALTIME, to be shown */
    uint64_t expires_us; /* CLOCK_BOOTTIME; while it is pending */
    uint32_t domid;      /* DOMID_NONE while pending */
    uint32_t not_domid;  /* a domain of that UUID or name that is not meant, as it was there before; DOMID_NONE */
    bool has_not_uuid;
    uint8_t not_uuid[16]; /* of that domain, so that another with its domid is not taken for it */
    char *name;           /* owned; NULL: not told */
    bool told_uuid;       /* in the request; else its domain is known by its name */
    bool has_uuid;
    uint8_t uuid[16]; /* told in the request; once it has a domain, that domain's */
    DomainType type;
    uint32_t pool;
    uint64_t max_memory; /* bytes */
    uint32_t vcpus;
    bool strict;
    PlacedSets *sets; /* one reference, of as many vCPUs; NULL when it is committed: its domain has its own */
    size_t n_memory;
    PlacedMemory memory[]; /* by node */
} Reservation;

typedef struct ReservationInfo {
    const char *token;
    uid_t uid;
    int64_t placed_us;
    uint64_t expires_us;
} ReservationInfo;

/* Zeroed, with room for the memory of so many nodes and no domain. One reference; NULL when memory is short. */
Reservation *reservation_blank(size_t n_memory);
/* Pending, with one reference. NULL when memory is short. */
Reservation *reservation_new(const PlacementRequest *request, const Placement *placement, const ReservationInfo *info);
Reservation *reservation_copy(const Reservation *from); /* one reference; to be changed before it is shown to anyone */
Reservation *reservation_ref(Reservation *reservation);
Reservation *reservation_unref(Reservation *reservation); /* takes NULL, returns NULL */
DEFINE_CLEANUP(Reservation *, reservation_unref)

static inline bool reservation_is_open(const Reservation *r)
{
    return r->state != RESERVATION_COMMITTED;
}
uint64_t reservation_total(const Reservation *reservation);    /* bytes of memory, without overhead */
uint64_t reservation_overhead(const Reservation *reservation); /* bytes */

/*
 * Whether every promised node holds its promise less max(4096 pages, 10 %): 1 yes, 0 no, -1 not known (it is not
 * committed, or `node_pages` is NULL).
 */
int reservation_kept(const Reservation *reservation, const uint64_t *node_pages, size_t n_nodes, uint32_t page_size);
