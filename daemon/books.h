/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "ledger-store.h"
#include "lib/core/account.h"

#include <systemd/sd-event.h>

/*
 * The ledger in force, and the snapshot that tells it: what was collected last, less what is promised. A change of the
 * ledger is on the disk before anybody sees it.
 */
typedef struct Books Books;

typedef struct BooksHooks {
    /* As SourceOps.read_memory. */
    int (*read_memory)(HostMemory **ret_memory, void *userdata);
    /* What is true from now on; whoever keeps it takes a reference. */
    void (*publish)(Snapshot *snapshot, void *userdata);
    /* An open reservation has ended by itself: its time was over, or its domain is gone. */
    void (*ended)(const char *token, void *userdata);
} BooksHooks;

/* Takes the ledger over and borrows the store (NULL: nothing is kept on a disk). 0 or negative. */
int books_new(sd_event *event, LedgerStore *store, Ledger *ledger, const BooksHooks *hooks, void *userdata,
              Books **ret_books);
Books *books_free(Books *books); /* takes NULL, returns NULL */
/* As AccountOptions.headroom, from the next snapshot on; the default is 0. */
void books_set_headroom(Books *books, uint64_t headroom);

Ledger *books_ledger(const Books *books);     /* borrowed */
Snapshot *books_snapshot(const Books *books); /* the published one, borrowed; NULL: none yet */
/* A collection that began then (CLOCK_MONOTONIC) is complete: reconciles, and publishes. */
void books_collected(Books *books, Snapshot *collected, uint64_t begun_us);

/*
 * While they are held the ledger changes only through books_adopt(): reservations that are over end later. A decision
 * that takes several dispatches holds them.
 */
void books_hold(Books *books, bool held);

/*
 * Reads the numbers of now and holds the ledger against them. -ENODATA before the first collection; else what reading
 * says.
 */
int books_read(Books *books, HostMemory **ret_memory);
/* The same, with the last collection's numbers where those of now cannot be read: for what decides nothing by them. */
int books_read_any(Books *books, HostMemory **ret_memory);
/* A snapshot with another ledger and those numbers, which nobody sees yet. 0 or negative. */
int books_account(Books *books, Ledger *ledger, const HostMemory *memory, Snapshot **ret_snapshot);
/* The ledger takes the old one's place: on the disk, then for all to see. Negative: nothing has changed. */
int books_adopt(Books *books, Ledger *ledger, const HostMemory *memory);
/* What a negative result of the above means, and what to do. Owned; NULL when memory is short. */
char *books_explain(const Books *books, int r);
