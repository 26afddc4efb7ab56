/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The raw hypercall XENMEM_numa_heap, for tests in dom0. Rows of numbers, pages in 4 KiB.
 *
 *   heapcall query|nodes|domains         what Xen tells
 *   heapcall hostile COUNT SEED          random calls: each must give the result the header
 *                                        promises and leave memory beyond its room alone
 *   heapcall time ROUNDS                 shortest DOMAINS call, and shortest call that does nothing
 *
 * Builds with: cc -I proto tests/system/heapcall.c -lxencall
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <xencall.h>
#include <xen/xen.h>

#include "xen_numa_heap.h"

enum { PAGE = 4096, ARENA_PAGES = 16, ARENA = ARENA_PAGES * PAGE, CANARY = 0xa5 };

typedef struct Caller {
    xencall_handle *xen;
    struct xen_numa_heap *arg; /* may be written by Xen: a page of its own */
    struct xen_numa_heap_query query;
    uint32_t nr_nodes;
} Caller;

static void die(const char *what)
{
    fprintf(stderr, "heapcall: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* One call with the argument as it is: 0 or a positive errno. */
static int call_at(const Caller *caller, uint64_t cmd, const void *arg)
{
    long rc = xencall2L(caller->xen, __HYPERVISOR_memory_op, cmd, (uintptr_t)arg);

    return rc < 0 ? errno : (int)-rc;
}

static int call(const Caller *caller)
{
    return call_at(caller, XENMEM_numa_heap, caller->arg);
}

static void prepare(const Caller *caller, uint32_t op, uint32_t nr_records, void *buffer)
{
    memset(caller->arg, 0, sizeof(*caller->arg));
    caller->arg->version = XEN_NUMA_HEAP_VERSION;
    caller->arg->op = op;
    caller->arg->nr_nodes = caller->nr_nodes;
    caller->arg->nr_records = nr_records;
    caller->arg->buffer.align = (uintptr_t)buffer;
}

static void *alloc_pages(const Caller *caller, size_t pages)
{
    void *p = xencall_alloc_buffer_pages(caller->xen, pages);

    if (!p)
        die("no memory");
    memset(p, 0, pages * PAGE);
    return p;
}

static void open_caller(Caller *caller)
{
    struct xen_numa_heap_query *query;

    caller->xen = xencall_open(NULL, 0);
    if (!caller->xen)
        die("cannot reach Xen");
    caller->nr_nodes = 0;
    caller->arg = alloc_pages(caller, 1);
    query = alloc_pages(caller, 1);
    prepare(caller, XEN_NUMA_HEAP_QUERY, 1, query);
    errno = call(caller);
    if (errno)
        die("QUERY");
    caller->query = *query;
    caller->nr_nodes = caller->arg->nr_nodes;
    xencall_free_buffer_pages(caller->xen, query, 1);
}

static void print_array(const void *record, size_t fixed, uint32_t entries)
{
    const uint64_t *array = (const void *)((const char *)record + fixed);

    for (uint32_t i = 0; i < entries; i++)
        printf(" %" PRIu64, array[i]);
    printf("\n");
}

static int print_query(Caller *caller)
{
    printf("features 0x%x\nnr_nodes %u\nnr_orders %u\nnode_size %u\ndomain_size %u\n", caller->query.features,
        caller->arg->nr_nodes, caller->arg->nr_orders, caller->query.node_size, caller->query.domain_size);
    return 0;
}

static int print_nodes(Caller *caller)
{
    uint32_t orders = caller->arg->nr_orders;
    size_t stride = caller->query.node_size + orders * sizeof(uint64_t);
    char *records = alloc_pages(caller, caller->nr_nodes * stride / PAGE + 1);

    prepare(caller, XEN_NUMA_HEAP_NODES, caller->nr_nodes, records);
    caller->arg->nr_orders = orders;
    errno = call(caller);
    if (errno)
        die("NODES");
    printf("# node present free low dirty claimed chunks...\n");
    for (uint32_t n = 0; n < caller->arg->nr_records; n++) {
        const struct xen_numa_heap_node *node = (void *)(records + n * stride);

        printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, n, node->present, node->free,
            node->low, node->dirty, node->claimed);
        print_array(node, caller->query.node_size, orders);
    }
    return 0;
}

static void print_domain(const struct xen_numa_heap_domain *domain, size_t fixed, uint32_t nodes)
{
    printf("%u %s%s%s%s ", domain->domid, domain->flags ? "" : "-",
        domain->flags & XEN_NUMA_HEAP_DOMAIN_DYING ? "d" : "",
        domain->flags & XEN_NUMA_HEAP_DOMAIN_POD ? "p" : "",
        domain->flags & XEN_NUMA_HEAP_DOMAIN_PAGING ? "g" : "");
    for (int i = 0; i < 16; i++)
        printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", domain->handle[i]);
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, domain->total, domain->extra,
        domain->xenheap, domain->pod_cache, domain->claimed);
    print_array(domain, fixed, nodes);
}

static int print_domains(Caller *caller)
{
    enum { ROOM = 64 };
    size_t stride = caller->query.domain_size + caller->nr_nodes * sizeof(uint64_t);
    char *records = alloc_pages(caller, ROOM * stride / PAGE + 1);
    uint32_t first = 0;

    printf("# domid flags handle total extra xenheap pod_cache claimed nodes...\n");
    while (first != XEN_NUMA_HEAP_END) {
        prepare(caller, XEN_NUMA_HEAP_DOMAINS, ROOM, records);
        caller->arg->first_domid = first;
        errno = call(caller);
        if (errno)
            die("DOMAINS");
        for (uint32_t i = 0; i < caller->arg->nr_records; i++)
            print_domain((void *)(records + i * stride), caller->query.domain_size, caller->nr_nodes);
        first = caller->arg->first_domid;
    }
    return 0;
}

/* Hostile calls. */

typedef enum Target { IN_ARENA, AT_NULL, AT_UNMAPPED, AT_READ_ONLY, AT_XEN, NON_CANONICAL, N_TARGETS } Target;

typedef struct Hostile {
    Caller *caller;
    uint8_t *arena; /* between two pages that cannot be accessed */
    uint8_t *read_only;
    void *unmapped;
    uint64_t state;
    /* The call at hand. */
    uint64_t cmd;
    struct xen_numa_heap in;
    Target buffer, arg;
    uint64_t room; /* bytes of the buffer it may write */
    size_t offset;     /* of the buffer in the arena */
    size_t arg_offset; /* of the argument in its page */
} Hostile;

static uint64_t draw(Hostile *h, uint64_t below)
{
    h->state ^= h->state << 13;
    h->state ^= h->state >> 7;
    h->state ^= h->state << 17;
    return below ? h->state % below : h->state;
}

/* Mostly the right count, else one that is near a limit or absurd. */
static uint32_t draw_count(Hostile *h, uint32_t right)
{
    const uint32_t values[] = { 0, 1, right - 1, right + 1, 7, 64,
        XEN_NUMA_HEAP_MAX_ENTRIES, XEN_NUMA_HEAP_MAX_ENTRIES + 1, XEN_NUMA_HEAP_MAX_RECORDS,
        XEN_NUMA_HEAP_MAX_RECORDS + 1, 0x7fffffff, 0x80000000, ~0U, ~0U / 8, (uint32_t)draw(h, 0) };

    return draw(h, 5) ? right : values[draw(h, sizeof(values) / sizeof(values[0]))];
}

static uint64_t address(Hostile *h, Target target)
{
    switch (target) {
    case IN_ARENA: return (uintptr_t)h->arena + h->offset;
    case AT_UNMAPPED: return (uintptr_t)h->unmapped + draw(h, PAGE);
    case AT_READ_ONLY: return (uintptr_t)h->read_only + draw(h, PAGE / 2);
    case AT_XEN: return 0xffff830000000000 + draw(h, 1UL << 38);
    case NON_CANONICAL: return 0x8000000000000000 + draw(h, 1UL << 40);
    default: return 0;
    }
}

/* Mostly right, so that every check is reached; anything can be wrong. */
static void draw_call(Hostile *h)
{
    struct xen_numa_heap *in = &h->in;
    uint64_t entries = 0, fixed;

    memset(in, 0, sizeof(*in));
    h->cmd = XENMEM_numa_heap | (draw(h, 40) ? 0 : (1 + draw(h, 1U << 26)) << 6);
    in->version = draw(h, 30) ? XEN_NUMA_HEAP_VERSION : (uint32_t)draw(h, 0);
    in->op = draw(h, 20) ? draw(h, 3) : draw_count(h, 3);
    in->nr_nodes = draw_count(h, h->caller->nr_nodes);
    in->nr_orders = draw_count(h, 0);
    in->first_domid = draw(h, 2) ? draw(h, 4) : draw_count(h, XEN_NUMA_HEAP_END);
    in->nr_records = draw_count(h, h->caller->nr_nodes);
    in->flags = draw(h, 40) ? 0 : draw_count(h, 1);
    in->pad = draw(h, 40) ? 0 : draw_count(h, 1);
    h->offset = draw(h, 3) ? draw(h, ARENA) : draw(h, 64);
    h->buffer = draw(h, 3) ? IN_ARENA : draw(h, N_TARGETS);
    h->arg = draw(h, 10) ? IN_ARENA : draw(h, N_TARGETS);
    h->arg_offset = draw(h, 3) ? 0 : draw(h, 100);
    in->buffer.align = address(h, h->buffer);

    fixed = h->caller->query.domain_size;
    if (in->op == XEN_NUMA_HEAP_QUERY)
        fixed = sizeof(h->caller->query);
    else if (in->op == XEN_NUMA_HEAP_NODES)
        fixed = h->caller->query.node_size, entries = in->nr_orders;
    else
        entries = in->nr_nodes;
    h->room = in->op == XEN_NUMA_HEAP_QUERY ? (in->nr_records ? fixed : 0)
                        : in->nr_records * (fixed + entries * sizeof(uint64_t));
}

/* What the header promises before a record is written. */
static int refusal(const Hostile *h)
{
    const struct xen_numa_heap *in = &h->in;

    if (h->cmd != XENMEM_numa_heap)
        return EINVAL;
    if (h->arg != IN_ARENA && h->arg != AT_READ_ONLY)
        return EFAULT;
    if (in->version != XEN_NUMA_HEAP_VERSION)
        return EOPNOTSUPP;
    if (in->flags || in->pad || in->nr_nodes > XEN_NUMA_HEAP_MAX_ENTRIES ||
        in->nr_orders > XEN_NUMA_HEAP_MAX_ENTRIES || in->nr_records > XEN_NUMA_HEAP_MAX_RECORDS)
        return EINVAL;
    if (in->op > XEN_NUMA_HEAP_DOMAINS)
        return ENOSYS;
    if (in->op == XEN_NUMA_HEAP_NODES && in->nr_records && in->nr_records < h->caller->nr_nodes)
        return ERANGE;
    if (in->op == XEN_NUMA_HEAP_DOMAINS && in->nr_records && in->nr_nodes < h->caller->nr_nodes)
        return ERANGE;
    return 0;
}

static bool is_expected(const Hostile *h, int rc)
{
    const struct xen_numa_heap *in = &h->in;
    int refused = refusal(h);

    /* The argument can be read but not written back. */
    if (h->arg == AT_READ_ONLY && (!refused || refused == ERANGE))
        return rc == EFAULT;
    if (refused || !in->nr_records)
        return rc == refused;
    /* How many domains there are is unknown here: with none left, or few, no bad byte is reached. */
    if (h->buffer != IN_ARENA)
        return rc == EFAULT || (!rc && in->op == XEN_NUMA_HEAP_DOMAINS && in->first_domid);
    return h->offset + h->room <= ARENA ? rc == 0 : rc == 0 || rc == EFAULT;
}

/* The bytes that may have changed are those of the room, after success or a fault alone. */
static bool is_untouched(const Hostile *h, int rc)
{
    bool may_write = h->buffer == IN_ARENA && (!rc || rc == EFAULT) && !refusal(h);
    uint64_t end = may_write ? h->offset + h->room : h->offset;

    for (size_t i = 0; i < ARENA; i++)
        if (h->arena[i] != CANARY && (i < h->offset || i >= end))
            return false;
    return true;
}

static bool is_argument_right(const Hostile *h, int rc)
{
    struct xen_numa_heap out, wanted = h->in;

    memcpy(&out, (const char *)h->caller->arg + h->arg_offset, sizeof(out));
    if (rc && rc != ERANGE)
        return !memcmp(&out, &wanted, sizeof(wanted));
    wanted.nr_nodes = h->caller->nr_nodes;
    wanted.nr_orders = out.nr_orders;
    wanted.first_domid = out.first_domid;
    wanted.nr_records = out.nr_records;
    if (rc == ERANGE)
        wanted.nr_records = wanted.op == XEN_NUMA_HEAP_NODES ? wanted.nr_nodes : 1;
    else if (out.nr_records > h->in.nr_records)
        return false;
    return !memcmp(&out, &wanted, sizeof(wanted));
}

static int hostile_call(Hostile *h)
{
    void *arg = (char *)h->caller->arg + h->arg_offset;

    memset(h->arena, CANARY, ARENA);
    memcpy(arg, &h->in, sizeof(h->in));
    if (h->arg == AT_READ_ONLY) {
        mprotect(h->read_only, PAGE, PROT_READ | PROT_WRITE);
        memcpy(h->read_only, &h->in, sizeof(h->in));
        mprotect(h->read_only, PAGE, PROT_READ);
        arg = h->read_only;
    } else if (h->arg != IN_ARENA) {
        arg = (void *)(uintptr_t)address(h, h->arg);
    }
    return call_at(h->caller, h->cmd, arg);
}

static void report(const Hostile *h, unsigned long i, int rc, const char *what)
{
    const struct xen_numa_heap *in = &h->in;

    printf("call %lu: %s: result %d (%s), wanted %d;", i, what, rc, strerror(rc), refusal(h));
    printf(" cmd 0x%" PRIx64 " version 0x%x op %u nodes %u orders %u", h->cmd, in->version, in->op, in->nr_nodes,
        in->nr_orders);
    printf(" first %u records %u flags %u pad %u", in->first_domid, in->nr_records, in->flags, in->pad);
    printf(" buffer %d+%zu argument %d+%zu\n", h->buffer, h->offset, h->arg, h->arg_offset);
}

static void map_hostile(Hostile *h)
{
    uint8_t *map = mmap(NULL, (ARENA_PAGES + 4) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        die("mmap");
    h->arena = map + PAGE;
    h->read_only = h->arena + ARENA + PAGE;
    if (mprotect(h->arena, ARENA, PROT_READ | PROT_WRITE) ||
        mprotect(h->read_only, PAGE, PROT_READ | PROT_WRITE))
        die("mprotect");
    memset(h->arena, CANARY, ARENA);
    memset(h->read_only, CANARY, PAGE);
    if (mlock(h->arena, ARENA) || mlock(h->read_only, PAGE) || mprotect(h->read_only, PAGE, PROT_READ))
        die("mlock");
    h->unmapped = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (h->unmapped == MAP_FAILED || munmap(h->unmapped, PAGE))
        die("munmap");
}

static int run_hostile(Caller *caller, unsigned long count, uint64_t seed)
{
    Hostile h = { .caller = caller, .state = seed * 2654435761u + 88172645463325252u };
    unsigned long results[256] = { 0 }, bad = 0;

    map_hostile(&h);
    for (unsigned long i = 0; i < count; i++) {
        const char *what = NULL;
        int rc;

        draw_call(&h);
        rc = hostile_call(&h);
        results[rc & 255]++;
        if (!is_expected(&h, rc))
            what = "unexpected result";
        else if (!is_untouched(&h, rc))
            what = "memory outside the room changed";
        else if (h.arg == IN_ARENA && !is_argument_right(&h, rc))
            what = "argument written wrongly";
        if (what && bad++ < 20)
            report(&h, i, rc, what);
    }
    for (int rc = 0; rc < 256; rc++)
        if (results[rc])
            printf("%lu calls: %s\n", results[rc], rc ? strerror(rc) : "done");
    printf("%lu calls, %lu wrong\n", count, bad);
    return bad != 0;
}

/* The time of a call on a host where a nanosecond is an instruction. */

static int64_t elapsed_ns(const Caller *caller, int *ret_rc)
{
    struct timespec from, to;

    clock_gettime(CLOCK_MONOTONIC, &from);
    *ret_rc = call(caller);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (to.tv_sec - from.tv_sec) * INT64_C(1000000000) + to.tv_nsec - from.tv_nsec;
}

static int run_time(Caller *caller, unsigned long rounds)
{
    enum { ROOM = 64 };
    size_t stride = caller->query.domain_size + caller->nr_nodes * sizeof(uint64_t);
    char *records = alloc_pages(caller, ROOM * stride / PAGE + 1);
    int64_t least[2] = { INT64_MAX, INT64_MAX };
    uint32_t got = 0;
    int rc;

    for (unsigned long i = 0; i < 2 * rounds; i++) {
        int64_t ns;

        prepare(caller, i & 1 ? XEN_NUMA_HEAP_DOMAINS : XEN_NUMA_HEAP_QUERY, i & 1 ? ROOM : 0, records);
        ns = elapsed_ns(caller, &rc);
        errno = rc;
        if (rc)
            die("call");
        if (ns < least[i & 1])
            least[i & 1] = ns;
        if (i & 1)
            got = caller->arg->nr_records;
    }
    printf("domains %u ns %" PRId64 " nothing_ns %" PRId64 "\n", got, least[1], least[0]);
    return 0;
}

static const struct Command {
    const char *name;
    int (*run)(Caller *caller);
} commands[] = {
    { "query", print_query },
    { "nodes", print_nodes },
    { "domains", print_domains },
};

int main(int argc, char **argv)
{
    Caller caller;

    for (size_t i = 0; argc == 2 && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(argv[1], commands[i].name)) {
            open_caller(&caller);
            return commands[i].run(&caller);
        }
    if (argc == 4 && !strcmp(argv[1], "hostile")) {
        open_caller(&caller);
        return run_hostile(&caller, strtoul(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
    }
    if (argc == 3 && !strcmp(argv[1], "time")) {
        open_caller(&caller);
        return run_time(&caller, strtoul(argv[2], NULL, 0));
    }
    fprintf(stderr, "usage: heapcall query|nodes|domains | hostile COUNT SEED | time ROUNDS\n");
    return 2;
}
