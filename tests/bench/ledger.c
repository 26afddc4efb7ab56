/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/ledger-file.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * What the ledger costs where it is largest: 1024 open reservations and 4096 committed ones, against 4096 domains and
 * 1024 more that have just come. Prints milliseconds; the least of some rounds, as the machine is noisy.
 */

#define OPEN 1024u
#define COMMITTED 4096u
#define ROUNDS 20

static double now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void must(bool done)
{
    if (!done) {
        fputs("ledger: memory is short, or a change was refused\n", stderr);
        exit(1);
    }
}

static void set_uuid(uint8_t uuid[16], unsigned number)
{
    unsigned mixed = number * 2654435761u;

    memset(uuid, 0x5a, 16);
    memcpy(uuid, &mixed, sizeof(mixed));
    memcpy(uuid + 8, &number, sizeof(number));
}

static HostMemory *make_host(size_t n)
{
    HostMemory *memory = host_memory_new(8, n);

    must(memory);
    for (unsigned i = 0; i < n; i++) {
        DomainMemory *domain = &memory->domains[i];
        char name[32];

        snprintf(name, sizeof(name), "guest-%u", i);
        domain->domid = (domid_t)i;
        domain->has_uuid = true;
        set_uuid(domain->uuid, i);
        domain->name = strdup(name);
        domain->total_pages = 65536;
    }
    return memory;
}

static Reservation *make_reservation(unsigned number, bool by_name)
{
    PlacedMemory memory[2] = {{.node = 1, .bytes = 1u << 30}, {.node = 5, .bytes = 1u << 30, .overhead = 1u << 20}};
    uint64_t first = UINT64_C(0xff), all = UINT64_C(0xffffffffffffffff);
    Bitmap sets[] = {{.words = &all, .n_words = 1}, {.words = &first, .n_words = 1}};
    PlacedVcpu vcpus[4] = {{.hard = 0, .soft = 1},
                           {.hard = 0, .soft = 1},
                           {.hard = 0, .soft = 1},
                           {.hard = 0, .soft = 1}};
    Placement placement = {.memory = memory, .n_memory = 2, .sets = sets, .n_sets = 2, .vcpus = vcpus, .n_vcpus = 4};
    char token[TOKEN_SIZE], name[32];
    PlacementRequest request = {.vcpus = 4, .memory = 2u << 30, .name = name, .has_uuid = !by_name};
    ReservationInfo info = {.token = token, .expires_us = 1000};

    snprintf(token, sizeof(token), "%032x", number);
    snprintf(name, sizeof(name), "guest-%u", number);
    set_uuid(request.uuid, number);
    return reservation_new(&request, &placement, &info);
}

static Ledger *make_ledger(const HostMemory *memory, bool by_name)
{
    Ledger *ledger = ledger_new(), *new = NULL;

    must(ledger);
    for (unsigned i = 0; i < COMMITTED + OPEN; i++) {
        Reservation *r = make_reservation(i, by_name && i >= COMMITTED);

        must(r && ledger_add(ledger, r, &(HostMemory){0}, &new) == 0);
        ledger_unref(ledger);
        ledger = new;
        if (i < COMMITTED) {
            must(ledger_commit(ledger, r->token, (domid_t)i, memory, &new) == 0);
            ledger_unref(ledger);
            ledger = new;
        }
        reservation_unref(r);
    }
    return ledger;
}

static void time_reconcile(const char *what, Ledger *ledger, const HostMemory *memory, uint64_t now_us)
{
    double best = 1e9;
    size_t n_ends = 0, n_placed = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = now_ms();
        Ledger *new = NULL;
        LedgerEnd *ends = NULL;

        must(ledger_reconcile(ledger, memory, now_us, &new, &ends, &n_ends) == 0);
        best = MIN(best, now_ms() - start);
        n_placed = new->n_placed;
        ledger_unref(new);
        free(ends);
    }
    printf("%-44s %7.3f ms  (%zu with a domain, %zu ended)\n", what, best, n_placed, n_ends);
}

static void time_changes(Ledger *ledger, const HostMemory *memory)
{
    double add = 1e9, commit = 1e9, reserve = 1e9;

    for (unsigned round = 0; round < ROUNDS; round++) {
        Reservation *r = make_reservation(1000000, false);
        uint64_t reserved[8] = {0}, claimed;
        Ledger *one = NULL, *two = NULL;
        double start = now_ms();

        must(r && ledger_add(ledger, r, memory, &one) == 0);
        add = MIN(add, now_ms() - start);
        start = now_ms();
        must(ledger_commit(ledger, ledger->items[COMMITTED]->token, COMMITTED, memory, &two) == 0);
        commit = MIN(commit, now_ms() - start);
        start = now_ms();
        ledger_reserve(ledger, memory, reserved, &claimed);
        reserve = MIN(reserve, now_ms() - start);
        reservation_unref(r);
        ledger_unref(one);
        ledger_unref(two);
    }
    printf("%-44s %7.3f ms\n%-44s %7.3f ms\n%-44s %7.3f ms\n", "add", add, "commit", commit, "reserve", reserve);
}

static void time_file(const Ledger *ledger)
{
    const LedgerOrigin origin = {.boot_id = "boot", .host = "xen"};
    double write = 1e9, read = 1e9;
    size_t size = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        char *text = NULL, *why = NULL;
        Ledger *same = NULL;
        double start = now_ms();

        must(ledger_write(ledger, &origin, &text, &size) == 0);
        write = MIN(write, now_ms() - start);
        start = now_ms();
        must(ledger_read(text, size, &origin, &same, &why) == 0);
        read = MIN(read, now_ms() - start);
        ledger_unref(same);
        free(text);
    }
    printf("%-44s %7.3f ms  (%zu bytes)\n%-44s %7.3f ms\n", "write", write, size, "read", read);
}

int main(void)
{
    HostMemory *most = make_host(COMMITTED + OPEN), *fewer = make_host(COMMITTED + OPEN);
    Ledger *ledger = make_ledger(most, false), *by_name = make_ledger(most, true);

    fewer->n_domains = COMMITTED;
    printf("%u open and %u committed reservations\n", OPEN, COMMITTED);
    time_reconcile("reconcile, nothing has changed", ledger, fewer, 1);
    time_reconcile("reconcile, 1024 domains have come", ledger, most, 1);
    time_reconcile("reconcile, 1024 domains have come, by name", by_name, most, 1);
    time_reconcile("reconcile, 1024 reservations are over", ledger, fewer, 1000);
    time_changes(ledger, most);
    time_file(ledger);
    fewer->n_domains = COMMITTED + OPEN;
    ledger_unref(ledger);
    ledger_unref(by_name);
    host_memory_free(most);
    host_memory_free(fewer);
    return 0;
}
