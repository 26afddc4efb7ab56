/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-case.h"

#include <string.h>

/* A host's topology: which nodes there are, their CPUs, distances, pools, devices, and domains that load it. */

/* --- nodes and CPUs --- */

/* By node: how many CPUs, of how many threads a core. */
typedef struct Shape {
    unsigned n, threads;
    unsigned cpus[NODES_MAX];
} Shape;

static void draw_nodes(Draw *draw, const CaseLimits *limits, HostRows *rows, Shape *shape)
{
    bool kinds = !limits->plain && draw_chance(draw, 30), holes = !limits->plain && draw_chance(draw, 15);
    unsigned usual = (unsigned)draw_between(draw, 1, limits->max_cpus), bound;

    *shape = (Shape){.n = (unsigned)draw_between(draw, limits->min_nodes, limits->max_nodes)};
    shape->threads = 1u << (unsigned)draw_below(draw, 3) % 3;
    MUST(rows->nodes = new_array(shape->n, sizeof(*rows->nodes)));
    rows->n_nodes = shape->n;
    bound = draw_chance(draw, 50) ? usual : limits->max_cpus;
    for (unsigned i = 0; i < shape->n; i++) {
        bool hole = holes && draw_chance(draw, 25) && i + 1 < shape->n;

        node_row_init(&rows->nodes[i]);
        rows->nodes[i].size = hole ? ROW_HOLE : kinds && draw_chance(draw, 30) ? 0 : 1;
        shape->cpus[i] = hole || (kinds && draw_chance(draw, 40)) ? 0 : (unsigned)draw_between(draw, usual, bound);
    }
}

/* CPU numbers by node, or dealt out to the nodes in turn, as firmware likes to; some are left offline. */
static void draw_cpus(Draw *draw, const CaseLimits *limits, HostRows *rows, const Shape *shape)
{
    bool dealt = draw_chance(draw, 30), offline = draw_chance(draw, 20);
    unsigned total = 0, cpu = 0, given[NODES_MAX] = {0};

    for (unsigned i = 0; i < shape->n; i++)
        total += shape->cpus[i];
    rows->n_cpus = total + (unsigned)draw_below(draw, 3) + !total;
    rows->max_cpu_id = (uint32_t)rows->n_cpus - 1;
    MUST(rows->cpus = new_array(rows->n_cpus, sizeof(*rows->cpus)));
    for (size_t i = 0; i < rows->n_cpus; i++)
        rows->cpus[i] = (CpuRow){ROW_INVALID, ROW_INVALID, ROW_INVALID};
    for (unsigned node = 0, left = total; left > 0; node = (node + 1) % shape->n)
        while (given[node] < shape->cpus[node]) {
            if (!offline || !draw_chance(draw, 10))
                rows->cpus[cpu] = (CpuRow){given[node] / shape->threads, node, node};
            if (!limits->plain && draw_below(draw, 400) == 399)
                rows->cpus[cpu].node = ROW_INVALID; /* online on no node, or offline after all */
            cpu++;
            given[node]++;
            left--;
            if (dealt)
                break;
        }
}

/* --- distances --- */

enum { MISSING, FLAT, EVEN, LINE, RANDOM, ASYMMETRIC, ISLANDS, _STYLES };

static uint32_t draw_distance(Draw *draw, unsigned style, unsigned from, unsigned to)
{
    switch (style) {
    case FLAT:
        return 10;
    case EVEN:
        return 20;
    case LINE:
        return 10 + 3 * (from > to ? from - to : to - from);
    case ISLANDS:
        return draw_chance(draw, 15) ? 255 : draw_chance(draw, 5) ? 3 : 21;
    default:
        return 11 + (uint32_t)draw_below(draw, draw_chance(draw, 50) ? 3 : 30);
    }
}

static void draw_distances(Draw *draw, const CaseLimits *limits, HostRows *rows)
{
    unsigned style = (unsigned)draw_below(draw, limits->plain ? ISLANDS : _STYLES);
    size_t n = rows->n_nodes;

    if (style == MISSING)
        return;
    MUST(rows->distances = new_array(n * n, sizeof(*rows->distances)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            rows->distances[i * n + j] = i == j ? 10
                                         : style == RANDOM && j < i
                                             ? rows->distances[j * n + i]
                                             : draw_distance(draw, style, (unsigned)i, (unsigned)j);
}

/* --- pools and devices --- */

static void draw_pools(Draw *draw, const CaseLimits *limits, HostRows *rows)
{
    bool by_node = draw_chance(draw, 50);
    unsigned n = limits->plain || draw_chance(draw, 70) ? 0 : (unsigned)draw_between(draw, 1, 3);

    if (n == 0)
        return;
    MUST(rows->pools = new_array(n, sizeof(*rows->pools)));
    rows->n_pools = n;
    for (unsigned i = 0; i < n; i++)
        rows->pools[i].pool = i;
    for (cpuid_t cpu = 0; cpu < rows->n_cpus; cpu++) {
        unsigned pool = by_node ? rows->cpus[cpu].node % n : (unsigned)draw_below(draw, n);

        if (rows->cpus[cpu].core != ROW_INVALID && !draw_chance(draw, 3))
            MUST(bitmap_set(&rows->pools[pool].cpus, cpu) == 0);
    }
}

static void draw_devices(Draw *draw, HostRows *rows)
{
    unsigned n = draw_chance(draw, 50) ? 0 : (unsigned)draw_between(draw, 1, 3);

    MUST(rows->devices = new_array(n, sizeof(*rows->devices)));
    for (; rows->n_devices < n; rows->n_devices++) {
        DeviceRow *device = &rows->devices[rows->n_devices];

        MUST(device->pci = malloc(CASE_PCI_SIZE));
        snprintf(device->pci, CASE_PCI_SIZE, "0000:%02x:00.0", 3 + (unsigned)rows->n_devices);
        device->node = draw_chance(draw, 15) ? ROW_INVALID : (uint32_t)draw_below(draw, rows->n_nodes);
    }
}

/* --- domains --- */

/* All CPUs, those of a node, or a run of some. */
static void draw_affinity(Draw *draw, const HostRows *rows, Bitmap *set)
{
    unsigned how = (unsigned)draw_below(draw, 3), first = (unsigned)draw_below(draw, rows->n_cpus);
    unsigned last = MIN(first + (unsigned)draw_below(draw, 8), rows->max_cpu_id);

    if (how == 2)
        MUST(bitmap_set_range(set, first, last) == 0);
    for (cpuid_t cpu = 0; how == 1 && cpu < rows->n_cpus; cpu++)
        if (rows->cpus[cpu].node == rows->cpus[first].node)
            MUST(bitmap_set(set, cpu) == 0);
    if (how == 0)
        MUST(bitmap_set_range(set, 0, rows->max_cpu_id) == 0);
}

static void draw_domain(Draw *draw, HostRows *rows, domid_t domid)
{
    DomainRow *domain = &rows->domains[rows->n_domains++];

    *domain = (DomainRow){.domid = domid,
                          .state = draw_chance(draw, 5) ? DOMAIN_DYING : DOMAIN_RUNNING,
                          .pool = (uint32_t)draw_below(draw, MAX(rows->n_pools, (size_t)1)),
                          .total_pages = draw_below(draw, 100000),
                          .max_pages = 100000,
                          .claimed_pages = VALUE_UNKNOWN,
                          .n_vcpus = draw_between(draw, 1, 4)};
    MUST(domain->vcpus = vcpu_rows_new(domain->n_vcpus));
    for (size_t i = 0; i < domain->n_vcpus; i++) {
        VcpuRow *vcpu = &domain->vcpus->rows[i];

        vcpu->online = !draw_chance(draw, 10);
        draw_affinity(draw, rows, &vcpu->hard);
        draw_affinity(draw, rows, &vcpu->soft);
    }
    if (draw_chance(draw, 5))
        domain->claimed_pages = draw_below(draw, 400000);
}

static void draw_domains(Draw *draw, HostRows *rows)
{
    unsigned n = (unsigned)draw_below(draw, 9);

    MUST(rows->domains = new_array(n, sizeof(*rows->domains)));
    for (unsigned i = 0; i < n; i++)
        draw_domain(draw, rows, (domid_t)(7 * i % 11));
}

void place_draw_host(Draw *draw, const CaseLimits *limits, HostRows *rows)
{
    Shape shape;

    rows->backend = "sim";
    rows->simulated = true;
    draw_nodes(draw, limits, rows, &shape);
    draw_cpus(draw, limits, rows, &shape);
    draw_distances(draw, limits, rows);
    draw_pools(draw, limits, rows);
    draw_devices(draw, rows);
    draw_domains(draw, rows);
}
