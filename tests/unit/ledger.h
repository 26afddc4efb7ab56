/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/ledger.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/*
 * Ledgers in short: a reservation is known by a small number, its token, and a UUID by a letter. ledger_text() tells a
 * ledger so: "1p 2p!5 3b7 4c9 x6" is a pending one, a pending one that domain 5 is not meant for, one that domain 7
 * is built for, one that domain 9 has, and the token of one that ended.
 */

#define GIB (UINT64_C(1) << 30)
#define GIB_PAGES (GIB / 4096)

typedef struct Dom {
    domid_t domid;
    char uuid; /* 0: none */
    const char *name;
    bool dying;
    uint64_t total_pages; /* 0: not known */
    uint64_t claimed_pages;
    const uint64_t *node_pages; /* of two nodes; NULL: not known */
} Dom;

static inline HostMemory *host_of(size_t n, const Dom *doms)
{
    HostMemory *memory = host_memory_new(2, n);

    assert_non_null(memory);
    for (size_t i = 0; i < n; i++) {
        DomainMemory *to = &memory->domains[i];

        to->domid = doms[i].domid;
        to->dying = doms[i].dying;
        to->has_uuid = doms[i].uuid != 0;
        memset(to->uuid, doms[i].uuid, sizeof(to->uuid));
        to->name = doms[i].name ? strdup(doms[i].name) : NULL;
        to->total_pages = doms[i].total_pages ? doms[i].total_pages : VALUE_UNKNOWN;
        to->claimed_pages = doms[i].claimed_pages;
        if (doms[i].node_pages) {
            to->node_pages = new_array(2, sizeof(*to->node_pages));
            memcpy(to->node_pages, doms[i].node_pages, 2 * sizeof(*to->node_pages));
        }
    }
    return memory;
}

#define HOST(...) host_of(sizeof((Dom[]){__VA_ARGS__}) / sizeof(Dom), (Dom[]){__VA_ARGS__})
#define EMPTY_HOST host_of(0, NULL)

static inline const char *token_of(unsigned number)
{
    static char texts[4][TOKEN_SIZE];
    static unsigned next;
    char *text = texts[next++ % 4];

    snprintf(text, TOKEN_SIZE, "%032x", number);
    return text;
}

/* One GiB on node 0 and a MiB beside it, two vCPUs that may run on CPUs 0-7 and prefer 0-3. NULL when memory is short.
 */
static inline Reservation *try_promise_of(unsigned number, char uuid, const char *name, uint64_t expires_us)
{
    PlacedMemory memory = {.node = 0, .bytes = GIB, .overhead = GIB >> 10};
    uint64_t hard = 0xff, soft = 0x0f;
    Bitmap sets[] = {{.words = &hard, .n_words = 1}, {.words = &soft, .n_words = 1}};
    PlacedVcpu vcpus[] = {{.hard = 0, .soft = 1}, {.hard = 0, .soft = 1}};
    Placement placement = {.memory = &memory, .n_memory = 1, .sets = sets, .n_sets = 2, .vcpus = vcpus, .n_vcpus = 2};
    PlacementRequest request = {.vcpus = 2, .memory = GIB, .name = (char *)name, .has_uuid = uuid != 0};
    ReservationInfo info = {.token = token_of(number), .uid = 1000, .placed_us = 7, .expires_us = expires_us};

    memset(request.uuid, uuid, sizeof(request.uuid));
    return reservation_new(&request, &placement, &info);
}

static inline Reservation *promise_of(unsigned number, char uuid, const char *name, uint64_t expires_us)
{
    Reservation *r = try_promise_of(number, uuid, name, expires_us);

    assert_non_null(r);
    return r;
}

/* Puts the new ledger in the old one's place. */
static inline void replace_ledger(Ledger **ledger, Ledger *new)
{
    ledger_unref(*ledger);
    *ledger = new;
}

/* The memory is the call's own. */
static inline void add(Ledger **ledger, unsigned number, char uuid, const char *name, HostMemory *memory)
{
    Reservation *r = promise_of(number, uuid, name, 1000);
    Ledger *new = NULL;

    assert_int_equal(ledger_add(*ledger, r, memory, &new), 0);
    reservation_unref(r);
    host_memory_free(memory);
    replace_ledger(ledger, new);
}

static inline int commit(Ledger **ledger, unsigned number, domid_t domid, HostMemory *memory)
{
    Ledger *new = NULL;
    int r = ledger_commit(*ledger, token_of(number), domid, memory, &new);

    host_memory_free(memory);
    if (r == 0)
        replace_ledger(ledger, new);
    else
        assert_null(new);
    return r;
}

static inline int release(Ledger **ledger, unsigned number)
{
    Ledger *new = NULL;
    int r = ledger_release(*ledger, token_of(number), &new);

    if (r == 0)
        replace_ledger(ledger, new);
    else
        assert_null(new);
    return r;
}

/* The tokens of those that ended: "1 2". */
static inline const char *reconcile(Ledger **ledger, HostMemory *memory, uint64_t now_us)
{
    static char ended[256];
    Ledger *new = NULL;
    LedgerEnd *ends = NULL;
    size_t n = 0, at = 0;

    assert_int_equal(ledger_reconcile(*ledger, memory, now_us, &new, &ends, &n), 0);
    ended[0] = '\0';
    for (size_t i = 0; i < n && at < sizeof(ended) - 16; i++)
        at += (size_t)sprintf(ended + at, "%s%lx", i ? " " : "", strtoul(ends[i].reservation->token, NULL, 16));
    assert_true((n == 0) == (ends == NULL));
    free(ends);
    host_memory_free(memory);
    replace_ledger(ledger, new);
    return ended;
}

static inline const char *ledger_text(const Ledger *ledger)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < ledger->n; i++) {
        const Reservation *r = ledger->items[i];

        at += (size_t)sprintf(text + at, "%s%lx%c", at ? " " : "", strtoul(r->token, NULL, 16),
                              *reservation_state_to_text(r->state));
        if (r->domid != DOMID_NONE)
            at += (size_t)sprintf(text + at, "%u", (unsigned)r->domid);
        if (r->not_domid != DOMID_NONE)
            at += (size_t)sprintf(text + at, "!%u", (unsigned)r->not_domid);
    }
    for (size_t i = 0; i < ledger->n_expired; i++)
        at += (size_t)sprintf(text + at, "%sx%lx", at ? " " : "", strtoul(ledger->expired[i], NULL, 16));
    return text;
}

#define assert_ledger(ledger, text) assert_string_equal(ledger_text(ledger), text)
