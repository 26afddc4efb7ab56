/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/hwloc.h"
#include "daemon/source/xen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * The Xen source without the daemon: collects GENERATIONS times (12 unless told, the first one full), prints the rows
 * of the last, and for each what it took: calls, steps, time, the longest step. Then what a reading for a decision
 * takes.
 *
 *     xencollect [GENERATIONS [PAUSE_MS]]
 */

typedef struct Counting {
    XenCalls calls;
    XenCalls *real;
    unsigned hypercalls, reads;
} Counting;

static Counting *counting(const XenCalls *calls)
{
    return (Counting *)calls;
}

#define COUNTED(name, parameters, ...)                   \
    static int count_##name parameters                   \
    {                                                    \
        Counting *c = counting(calls);                   \
                                                         \
        c->hypercalls++;                                 \
        return c->real->ops->name(c->real, __VA_ARGS__); \
    }

COUNTED(version, (XenCalls * calls, char **ret_version), ret_version)
COUNTED(commandline, (XenCalls * calls, char **ret_text), ret_text)
COUNTED(physinfo, (XenCalls * calls, XenPhysInfo *ret_info), ret_info)
COUNTED(numacount, (XenCalls * calls, uint32_t *ret_n), ret_n)
COUNTED(numainfo, (XenCalls * calls, uint32_t *n, XenMemInfo *nodes, uint32_t *distances), n, nodes, distances)
COUNTED(cputopoinfo, (XenCalls * calls, uint32_t *n, XenCpuTopo *cpus), n, cpus)
COUNTED(availheap, (XenCalls * calls, uint32_t node, unsigned width, uint64_t *ret_bytes), node, width, ret_bytes)
COUNTED(domains, (XenCalls * calls, domid_t first, uint32_t room, XenDomInfo *infos), first, room, infos)
COUNTED(vcpu_info, (XenCalls * calls, domid_t domid, uint32_t vcpu, XenVcpuInfo *info), domid, vcpu, info)
COUNTED(vcpu_affinity, (XenCalls * calls, domid_t domid, uint32_t vcpu, uint8_t *hard, uint8_t *soft, size_t n), domid,
        vcpu, hard, soft, n)
COUNTED(node_affinity, (XenCalls * calls, domid_t domid, uint8_t *nodes, size_t n), domid, nodes, n)
COUNTED(pool, (XenCalls * calls, uint32_t *pool, uint8_t *cpus, size_t n), pool, cpus, n)
COUNTED(free_cpus, (XenCalls * calls, uint8_t *cpus, size_t n), cpus, n)
COUNTED(numa_heap, (XenCalls * calls, struct xen_numa_heap *arg, void *buffer, size_t size), arg, buffer, size)
COUNTED(pci_nodes, (XenCalls * calls, const PciAddress *devices, size_t n, uint32_t *nodes), devices, n, nodes)

static int count_pci_devices(XenCalls *calls, PciAddress **ret_devices, size_t *ret_n)
{
    return counting(calls)->real->ops->pci_devices(counting(calls)->real, ret_devices, ret_n);
}

static int count_firmware(XenCalls *calls, Firmware **ret_firmware, int ret_errors[_ACPI_TABLE_MAX])
{
    return counting(calls)->real->ops->firmware(counting(calls)->real, ret_firmware, ret_errors);
}

static int count_store_open(XenCalls *calls)
{
    return counting(calls)->real->ops->store_open(counting(calls)->real);
}

static void count_store_close(XenCalls *calls)
{
    counting(calls)->real->ops->store_close(counting(calls)->real);
}

static int count_store_name(XenCalls *calls, domid_t domid, char **ret_name)
{
    counting(calls)->reads++;
    return counting(calls)->real->ops->store_name(counting(calls)->real, domid, ret_name);
}

static int count_store_fd(const XenCalls *calls)
{
    return counting(calls)->real->ops->store_fd(counting(calls)->real);
}

static int count_store_event(XenCalls *calls)
{
    return counting(calls)->real->ops->store_event(counting(calls)->real);
}

static void count_free(XenCalls *calls)
{
    xen_calls_free(counting(calls)->real);
}

static const XenCallsOps count_ops = {
    .version = count_version,
    .commandline = count_commandline,
    .physinfo = count_physinfo,
    .numacount = count_numacount,
    .numainfo = count_numainfo,
    .cputopoinfo = count_cputopoinfo,
    .availheap = count_availheap,
    .domains = count_domains,
    .vcpu_info = count_vcpu_info,
    .vcpu_affinity = count_vcpu_affinity,
    .node_affinity = count_node_affinity,
    .pool = count_pool,
    .free_cpus = count_free_cpus,
    .numa_heap = count_numa_heap,
    .pci_nodes = count_pci_nodes,
    .pci_devices = count_pci_devices,
    .firmware = count_firmware,
    .store_open = count_store_open,
    .store_close = count_store_close,
    .store_name = count_store_name,
    .store_fd = count_store_fd,
    .store_event = count_store_event,
    .free = count_free,
};

static double now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static HostRows *collect(Source *source, Counting *c, unsigned generation)
{
    HostRows *rows = NULL;
    double begin = now_us(), longest = 0;
    unsigned steps = 0;
    int r = source->ops->begin(source, generation == 1);

    c->hypercalls = c->reads = 0;
    while (r >= 0 && !rows) {
        double step = now_us();

        r = source->ops->step(source, &rows);
        longest = MAX(longest, now_us() - step);
        steps++;
    }
    printf("generation %u: %s, %u hypercalls, %u names, %u steps, %.0f us, longest step %.0f us\n", generation,
           r < 0 ? strerror(-r) : "done", c->hypercalls, c->reads, steps, now_us() - begin, longest);
    return rows;
}

#define READINGS 20u

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void read_for_decisions(Source *source, Counting *c)
{
    double times[READINGS];
    size_t n_domains = 0;
    int r = 0;

    for (unsigned i = 0; r == 0 && i < READINGS; i++) {
        _cleanup_(host_memory_free_p) HostMemory *memory = NULL;
        double begin = now_us();

        c->hypercalls = 0;
        r = source->ops->read_memory(source, &memory);
        times[i] = now_us() - begin;
        n_domains = memory ? memory->n_domains : 0;
    }
    if (r < 0) {
        printf("reading for a decision: %s\n", strerror(-r));
        return;
    }
    qsort(times, READINGS, sizeof(*times), compare_times);
    printf("reading for a decision: %zu domains, %u hypercalls, shortest %.0f us, median %.0f us\n", n_domains,
           c->hypercalls, times[0], times[READINGS / 2]);
}

static void print_number(const char *name, uint64_t value)
{
    if (value == VALUE_UNKNOWN)
        printf(" %s=?", name);
    else
        printf(" %s=%" PRIu64, name, value);
}

static void print_set(const char *name, const Bitmap *set)
{
    _cleanup_free_ char *text = bitmap_to_text(set);

    printf(" %s=%s", name, text ? text : "?");
}

static void print_host(const HostRows *rows)
{
    printf("host xen=%s features=%#x max_cpu_id=%u", rows->xen_version ? rows->xen_version : "?", rows->features,
           rows->max_cpu_id);
    print_number("total", rows->total);
    print_number("free", rows->free);
    print_number("claimed", rows->claimed);
    printf(" dom0_nodes=%u dom0_cpus=%u\n", rows->dom0_nodes, rows->dom0_cpus);
    for (size_t i = 0; i < rows->n_nodes; i++) {
        const NodeRow *node = &rows->nodes[i];

        printf("node %zu", i);
        print_number("size", node->size);
        print_number("free", node->free);
        print_number("present", node->present);
        print_number("low", node->low);
        print_number("dirty", node->dirty);
        printf(" distances=");
        for (size_t j = 0; j < rows->n_nodes; j++)
            printf("%s%d", j ? "," : "", (int)rows->distances[i * rows->n_nodes + j]);
        printf("\n");
    }
    for (size_t i = 0; i < rows->n_cpus; i++)
        printf("cpu %zu core=%d socket=%d node=%d\n", i, (int)rows->cpus[i].core, (int)rows->cpus[i].socket,
               (int)rows->cpus[i].node);
    for (size_t i = 0; i < rows->n_pools; i++) {
        printf("pool %u", rows->pools[i].pool);
        print_set("cpus", &rows->pools[i].cpus);
        printf("\n");
    }
    for (size_t i = 0; i < rows->n_devices; i++)
        printf("device %s node=%d\n", rows->devices[i].pci, (int)rows->devices[i].node);
    if (rows->firmware)
        printf("firmware srat=%zu slit=%zu cpus=%zu ranges=%zu localities=%u\n", rows->firmware->srat_size,
               rows->firmware->slit_size, rows->firmware->srat.n_cpus, rows->firmware->srat.n_ranges,
               rows->firmware->slit.n);
}

static void print_domain(const HostRows *rows, const DomainRow *row)
{
    const char *type = domain_type_to_text(row->type);
    char uuid[UUID_TEXT_SIZE];

    printf("domain %u name=%s uuid=%s %s %s pool=%u", row->domid, row->name ? row->name : "?",
           domain_uuid_to_text(row, uuid) ? uuid : "?", type ? type : "?", domain_state_to_text(row->state), row->pool);
    print_number("pages", row->total_pages);
    print_number("max", row->max_pages);
    for (size_t i = 0; row->node_pages && i < rows->n_nodes; i++)
        printf(" node%zu=%" PRIu64, i, row->node_pages[i]);
    if (row->has_node_affinity)
        print_set("affinity", &row->node_affinity);
    printf("\n");
    for (size_t i = 0; row->vcpus && i < row->vcpus->n; i++) {
        printf("vcpu %u.%zu %s cpu=%d", row->domid, i, row->vcpus->rows[i].online ? "online" : "offline",
               (int)row->vcpus->rows[i].cpu);
        print_set("hard", &row->vcpus->rows[i].hard);
        print_set("soft", &row->vcpus->rows[i].soft);
        printf("\n");
    }
}

static void print_warnings(const HostRows *rows)
{
    for (size_t i = 0; i < rows->warnings.n; i++)
        printf("warning %s: %s\n", warning_code_to_text(rows->warnings.items[i].code), rows->warnings.items[i].text);
}

static int run(Source *source, Counting *c, unsigned generations, unsigned pause_ms)
{
    for (unsigned generation = 1; generation <= generations; generation++) {
        _cleanup_(host_rows_free_p) HostRows *rows = collect(source, c, generation);
        int events = source->ops->dispatch(source);

        if (!rows)
            return EXIT_FAILURE;
        if (events)
            printf("domain events\n");
        fflush(stdout);
        usleep(pause_ms * 1000);
        if (generation < generations) {
            if (pause_ms)
                print_warnings(rows);
            continue;
        }
        read_for_decisions(source, c);
        print_host(rows);
        for (size_t i = 0; i < rows->n_domains; i++)
            print_domain(rows, &rows->domains[i]);
        print_warnings(rows);
    }
    printf("errors xen=%" PRIu64 " hwloc=%" PRIu64 " xenstore=%" PRIu64 "\n", source->errors[ERROR_XEN],
           source->errors[ERROR_HWLOC], source->errors[ERROR_XENSTORE]);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static Counting c = {.calls.ops = &count_ops};
    _cleanup_(source_free_p) Source *source = NULL;
    _cleanup_free_ char *why = NULL;
    int r = xen_dom0_check("", &why);

    if (r == 0)
        r = xen_calls_open(&c.real);
    if (r == 0)
        r = xen_source_new_on(&c.calls, hwloc_view, &source);
    if (r < 0) {
        fprintf(stderr, "xencollect: %s\n", why ? why : strerror(-r));
        return EXIT_FAILURE;
    }
    return run(source, &c, argc > 1 ? (unsigned)atoi(argv[1]) : 12, argc > 2 ? (unsigned)atoi(argv[2]) : 0);
}
