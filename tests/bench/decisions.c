/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/account.h"
#include "lib/core/placement.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * CPU time of decisions, the engine alone: decisions NODES CPUS DOMAINS COUNT usual|large. Prints in microseconds, on
 * one line, the median, the 99th percentile and the maximum of a decision, the longest step, and how many of the
 * requests fitted. Usual requests are of several kinds, in turn: for a node, for some nodes, for siblings, interleaved.
 * Large ones want about half of the host's memory.
 */

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "decisions: %s\n", what);
        exit(1);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* --- the host --- */

/* Nodes in sockets of four, as far apart as firmware says: 10, 12 in the socket, 20 and more between sockets. */
static void fill_nodes(HostRows *rows, unsigned n, uint64_t *random)
{
    must((rows->nodes = new_array(n, sizeof(*rows->nodes))), "no memory");
    must((rows->distances = new_array((size_t)n * n, sizeof(*rows->distances))), "no memory");
    rows->n_nodes = n;
    for (unsigned i = 0; i < n; i++) {
        node_row_init(&rows->nodes[i]);
        rows->nodes[i].size = 64 * GIB;
        rows->nodes[i].free = GIB + next_random(random) % (48 * 1024) * MIB;
        rows->nodes[i].low = i == 0 ? GIB / 2 : 0;
        for (unsigned j = 0; j < n; j++)
            rows->distances[i * n + j] = i == j ? 10 : i / 4 == j / 4 ? 12 : 20 + (i / 4 ^ j / 4) % 12;
    }
}

/* Two threads a core. */
static void fill_cpus(HostRows *rows, unsigned n_nodes, unsigned n_cpus)
{
    unsigned share = n_cpus / n_nodes;

    must((rows->cpus = new_array(n_cpus, sizeof(*rows->cpus))), "no memory");
    rows->n_cpus = n_cpus;
    rows->max_cpu_id = n_cpus - 1;
    for (unsigned i = 0; i < n_cpus; i++)
        rows->cpus[i] = (CpuRow){.core = i % share / 2, .socket = i / share, .node = i / share};
}

/* Each on one node, with two vCPUs. */
static void fill_domains(HostRows *rows, unsigned n, uint64_t *random)
{
    unsigned share = (unsigned)(rows->n_cpus / rows->n_nodes);

    must((rows->domains = new_array(n, sizeof(*rows->domains))), "no memory");
    for (; rows->n_domains < n; rows->n_domains++) {
        DomainRow *domain = &rows->domains[rows->n_domains];
        unsigned node = (unsigned)(next_random(random) % rows->n_nodes);

        *domain = (DomainRow){.domid = (domid_t)rows->n_domains,
                              .pool = 0,
                              .total_pages = 262144,
                              .max_pages = 262144,
                              .claimed_pages = VALUE_UNKNOWN,
                              .n_vcpus = 2};
        must((domain->vcpus = vcpu_rows_new(2)), "no memory");
        for (unsigned i = 0; i < 2; i++) {
            domain->vcpus->rows[i].online = true;
            must(bitmap_set_range(&domain->vcpus->rows[i].hard, 0, rows->max_cpu_id) == 0 &&
                     bitmap_set_range(&domain->vcpus->rows[i].soft, node * share, node * share + share - 1) == 0,
                 "no memory");
        }
    }
}

static Snapshot *make_host(unsigned n_nodes, unsigned n_cpus, unsigned n_domains)
{
    const AccountOptions options = {.generation = 1, .time_us = -1};
    _cleanup_(snapshot_unref_p) Snapshot *base = NULL;
    Snapshot *snapshot = NULL;
    HostRows *rows = host_rows_new();
    Ledger *ledger = ledger_new();
    uint64_t random = 4;

    must(rows && ledger, "no memory");
    rows->backend = "sim";
    rows->simulated = true;
    rows->features = FEATURE_BIT(FEATURE_CLAIMS);
    fill_nodes(rows, n_nodes, &random);
    fill_cpus(rows, n_nodes, n_cpus);
    fill_domains(rows, n_domains, &random);
    must(snapshot_seal(rows, 1, -1, &base) == 0, "the host cannot be sealed");
    must(account_snapshot(base, NULL, ledger, &options, &snapshot) == 0, "the host cannot be accounted");
    ledger_unref(ledger);
    return snapshot;
}

/* --- the requests --- */

static PlacementRequest small_request(unsigned i, uint64_t *random)
{
    return (PlacementRequest){.vcpus = 1 + (unsigned)(next_random(random) % 8),
                              .memory = (1 + next_random(random) % 64) * 256 * MIB,
                              .pool = ROW_NO_POOL,
                              .type = (DomainType)(1 + i % 3),
                              .has_policy = true};
}

static PlacementRequest usual_request(const Snapshot *s, unsigned i, uint64_t *random)
{
    PlacementRequest request = small_request(i, random);

    switch (i % 7) {
    case 1:
        request.policy = POLICY_PACK;
        break;
    case 2: /* more than any node has */
        request.memory = 100 * GIB + next_random(random) % 64 * GIB;
        break;
    case 3: /* more CPUs than a node has */
        request.vcpus = (unsigned)(s->n_cpus / s->n_nodes) + 3;
        request.threads_per_core = 2;
        break;
    case 4:
        request.policy = POLICY_INTERLEAVE;
        break;
    case 6:
        request.strict = true;
        request.threads_per_core = 2;
        break;
    }
    return request;
}

static PlacementRequest large_request(const Snapshot *s, unsigned i, uint64_t *random)
{
    PlacementRequest request = small_request(i, random);

    request.memory = s->n_nodes * (8 + next_random(random) % 9) * GIB;
    return request;
}

/* --- measuring --- */

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* The decision's time in all; *longest becomes that of its longest step, if it is longer. */
static double decide(Snapshot *s, const PlacementRequest *request, double *longest, bool *ret_fits)
{
    const PlacementOptions options = {.policy = POLICY_BALANCE};
    _cleanup_(placement_search_free_p) PlacementSearch *search = NULL;
    _cleanup_(placement_free_p) Placement *placement = NULL;
    _cleanup_free_ char *why = NULL;
    double start = now_us(), before = start;
    int r = placement_search_new(s, request, &options, &search);

    do {
        double now;

        if (r == 0 || r == -EAGAIN)
            r = placement_search_step(search, &placement, &why);
        now = now_us();
        *longest = now - before > *longest ? now - before : *longest;
        before = now;
    } while (r == -EAGAIN);
    must(r == 0 || r == PLACEMENT_E_NOFIT, "a decision failed");
    *ret_fits = r == 0;
    return before - start;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    unsigned numbers[4], n_fits = 0;
    bool large;
    double *times, longest = 0;
    uint64_t random = 9;
    Snapshot *snapshot;

    must(argc == 6, "usage: decisions NODES CPUS DOMAINS COUNT usual|large");
    large = strcmp(argv[5], "large") == 0;
    for (unsigned i = 0; i < 4; i++)
        numbers[i] = (unsigned)strtoul(argv[i + 1], NULL, 10);
    must(numbers[0] > 0 && numbers[3] > 0, "a host has nodes, and there is something to decide");
    snapshot = make_host(numbers[0], numbers[1], numbers[2]);
    must((times = new_array(numbers[3], sizeof(*times))), "no memory");
    for (unsigned i = 0; i < numbers[3]; i++) {
        PlacementRequest request = (large ? large_request : usual_request)(snapshot, i, &random);
        bool fits;

        times[i] = decide(snapshot, &request, &longest, &fits);
        n_fits += fits;
    }
    qsort(times, numbers[3], sizeof(*times), compare_times);
    printf("%.1f %.1f %.1f %.1f %u\n", times[numbers[3] / 2], times[numbers[3] * 99 / 100], times[numbers[3] - 1],
           longest, n_fits);
    free(times);
    snapshot_unref(snapshot);
    return 0;
}
