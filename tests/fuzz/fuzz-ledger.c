/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/core/ledger-file.h"

#include <string.h>

static const LedgerOrigin origin = {.boot_id = "b", .host = "xen"};

/* Domains 1 to 4, of UUIDs 1 to 3 and none, and names of which one is the UUID's. */
static HostMemory *make_host(void)
{
    HostMemory *memory = host_memory_new(4, 4);

    FUZZ_HOLDS(memory);
    for (size_t i = 0; i < memory->n_domains; i++) {
        DomainMemory *domain = &memory->domains[i];

        domain->domid = (domid_t)(i + 1);
        domain->has_uuid = i < 3;
        memset(domain->uuid, domain->has_uuid ? (int)i + 1 : 0, sizeof(domain->uuid));
        domain->name = strdup(i % 2 ? "a" : "web");
        domain->total_pages = 1000;
        domain->claimed_pages = i * 1000;
        domain->dying = i == 2;
    }
    return memory;
}

/* An open one has sets, and each of its vCPUs has two of them that can be read. */
static void check_sets(const Reservation *r)
{
    _cleanup_bitmap_ Bitmap set = {0};
    uint64_t n = 0;

    FUZZ_HOLDS(reservation_is_open(r) == (r->sets != NULL));
    for (size_t i = 0; r->sets && i < r->sets->n_texts; i++)
        FUZZ_HOLDS(bitmap_parse(&set, r->sets->texts[i], CPUS_MAX - 1) == 0 && !bitmap_isempty(&set));
    for (size_t i = 0; r->sets && i < r->sets->n_runs; i++) {
        FUZZ_HOLDS(r->sets->runs[i].hard < r->sets->n_texts && r->sets->runs[i].soft < r->sets->n_texts);
        n += r->sets->runs[i].n;
    }
    FUZZ_HOLDS(!r->sets || n == r->vcpus);
}

static void check_whole(const Ledger *ledger)
{
    size_t n_placed = 0;

    for (size_t i = 0; i < ledger->n; i++) {
        const Reservation *r = ledger->items[i];

        FUZZ_HOLDS(ledger_find(ledger, r->token) == r);
        FUZZ_HOLDS((r->state == RESERVATION_PENDING) == (r->domid == DOMID_NONE));
        FUZZ_HOLDS(r->n_memory > 0 && r->memory[r->n_memory - 1].node < NODES_MAX);
        check_sets(r);
        if (r->domid == DOMID_NONE)
            continue;
        FUZZ_HOLDS(ledger_find_domain(ledger, (domid_t)r->domid) == r);
        n_placed++;
    }
    FUZZ_HOLDS(ledger->n_placed == n_placed);
}

/* A good ledger can be written, and what was written is the same ledger. */
static void check_written(const Ledger *ledger)
{
    _cleanup_free_ char *text = NULL, *again = NULL, *why = NULL;
    _cleanup_(ledger_unref_p) Ledger *same = NULL;
    size_t size = 0, size_again = 0;
    int r;

    FUZZ_HOLDS(ledger_write(ledger, &origin, &text, &size) == 0);
    r = ledger_read(text, size, &origin, &same, &why);
    if (r != 0)
        fprintf(stderr, "%s\n%s\n", why ? why : "", text);
    FUZZ_HOLDS(r == 0);
    FUZZ_HOLDS(ledger_write(same, &origin, &again, &size_again) == 0);
    FUZZ_HOLDS(size == size_again && memcmp(text, again, size) == 0);
}

static void check_used(Ledger *ledger)
{
    _cleanup_(host_memory_free_p) HostMemory *memory = make_host();
    _cleanup_(ledger_unref_p) Ledger *now = NULL, *same = NULL, *changed = NULL;
    LedgerEnd *ends = NULL;
    size_t n_ends = 0;
    uint64_t reserved[4] = {0}, claimed;

    FUZZ_HOLDS(ledger_reconcile(ledger, memory, 1000, &now, &ends, &n_ends) == 0);
    free(ends);
    check_whole(now);
    check_written(now);
    FUZZ_HOLDS(ledger_reconcile(now, memory, 1000, &same, &ends, &n_ends) == 0);
    FUZZ_HOLDS(same == now && n_ends == 0); /* all is said and done */
    ledger_reserve(now, memory, reserved, &claimed);
    for (size_t i = 0; i < now->n; i++) {
        if (ledger_commit(now, now->items[i]->token, 1, memory, &changed) == 0) {
            check_whole(changed);
            check_written(changed);
        }
        changed = ledger_unref(changed);
        FUZZ_HOLDS(ledger_release(now, now->items[i]->token, &changed) == 0);
        check_whole(changed);
        changed = ledger_unref(changed);
        if (i > 8)
            break;
    }
}

/* Any bytes: refused with a reason, or a ledger. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = NULL;
    _cleanup_free_ char *why = NULL;
    int r = ledger_read((const char *)data, size, &origin, &ledger, &why);

    FUZZ_HOLDS(r < 0 || (r == 0) == (ledger != NULL));
    FUZZ_HOLDS(r <= 0 || (why && *why));
    if (r != 0)
        return 0;
    check_whole(ledger);
    check_written(ledger);
    check_used(ledger);
    return 0;
}
