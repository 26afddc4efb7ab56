/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the hypervisor does for a domain, in nanoseconds; on a host whose clock counts instructions
 * (tests/system/boot --shape icount2) these are instructions. Runs in dom0.
 *
 *   instructions populate MIB ORDER ROUNDS   populate a domain and give the memory back
 *   instructions key KEY ROUNDS              a debug key
 *   instructions hold COUNT MIB              make domains, and leave them
 *
 * Builds with: cc tests/bench/instructions.c -lxenctrl
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xenctrl.h>

static void die(const char *what)
{
    fprintf(stderr, "instructions: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void keep_least(int64_t *least, int64_t from)
{
    int64_t ns = now_ns() - from;

    if (!*least || ns < *least)
        *least = ns;
}

/* A PV domain that never runs: its memory is all it has. */
static uint32_t create(xc_interface *xc, unsigned long mib)
{
    struct xen_domctl_createdomain config = {
        .max_vcpus = 1,
        .max_evtchn_port = 1023,
        .max_grant_frames = 32,
        .max_maptrack_frames = 1024,
        .grant_opts = XEN_DOMCTL_GRANT_version(1),
    };
    uint32_t domid = 0;

    if (xc_domain_create(xc, &domid, &config))
        die("cannot create a domain");
    if (xc_domain_max_vcpus(xc, domid, 1) || xc_domain_setmaxmem(xc, domid, (mib + 16) << 10))
        die("cannot set a domain up");
    return domid;
}

/* The extents' first pfns: Xen replaces them by frames as it populates. */
static void number(xen_pfn_t *extents, unsigned long count, unsigned int order)
{
    for (unsigned long i = 0; i < count; i++)
        extents[i] = i << order;
}

static void populate(xc_interface *xc, unsigned long mib, unsigned int order, unsigned int rounds)
{
    uint32_t domid = create(xc, mib);
    unsigned long count = (mib << 8) >> order;
    xen_pfn_t *extents = calloc(count, sizeof(*extents));
    int64_t least[2] = { 0, 0 };

    if (!extents)
        die("no memory");
    for (unsigned int i = 0; i < rounds; i++) {
        int64_t from;

        number(extents, count, order);
        from = now_ns();
        if (xc_domain_populate_physmap_exact(xc, domid, count, order, 0, extents))
            die("populate");
        keep_least(&least[0], from);
        from = now_ns();
        if (xc_domain_decrease_reservation_exact(xc, domid, count, order, extents))
            die("give back");
        keep_least(&least[1], from);
    }
    printf("row populate %lu %u %" PRId64 "\n", mib, order, least[0]);
    printf("row give-back %lu %u %" PRId64 "\n", mib, order, least[1]);
    xc_domain_destroy(xc, domid);
    free(extents);
}

static void press(xc_interface *xc, const char *key, unsigned int rounds)
{
    int64_t least = 0;

    for (unsigned int i = 0; i < rounds; i++) {
        int64_t from = now_ns();

        if (xc_send_debug_keys(xc, key))
            die("debug key");
        keep_least(&least, from);
    }
    printf("key %s ns %" PRId64 "\n", key, least);
}

static void hold(xc_interface *xc, unsigned int domains, unsigned long mib)
{
    unsigned long count = mib << 8;
    xen_pfn_t *extents = calloc(count, sizeof(*extents));

    if (!extents)
        die("no memory");
    for (unsigned int i = 0; i < domains; i++) {
        uint32_t domid = create(xc, mib);

        number(extents, count, 0);
        if (xc_domain_populate_physmap_exact(xc, domid, count, 0, 0, extents))
            die("populate");
        printf("domid %u\n", domid);
    }
    free(extents);
}

static int usage(void)
{
    fprintf(stderr, "usage: instructions populate MIB ORDER ROUNDS | key KEY ROUNDS | hold COUNT MIB\n");
    return 2;
}

int main(int argc, char **argv)
{
    xc_interface *xc = xc_interface_open(NULL, NULL, 0);

    if (!xc)
        die("cannot reach Xen");
    if (argc == 5 && !strcmp(argv[1], "populate"))
        populate(xc, strtoul(argv[2], NULL, 0), atoi(argv[3]), atoi(argv[4]));
    else if (argc == 4 && !strcmp(argv[1], "key"))
        press(xc, argv[2], atoi(argv[3]));
    else if (argc == 4 && !strcmp(argv[1], "hold"))
        hold(xc, atoi(argv[2]), strtoul(argv[3], NULL, 0));
    else
        return usage();
    return 0;
}
