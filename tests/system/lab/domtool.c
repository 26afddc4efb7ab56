/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One domain, made and fed by hand: libxenctrl's calls behind a line protocol, for tests that need
 * what no toolstack does (a chosen domid, single pages, an exchange, a page held after the end).
 *
 * Commands on stdin, a line each; the answer is "ok [VALUE]" or "error TEXT".
 *   create DOMID                              0 lets Xen choose; a PV domain; gives the domid
 *   populate PFN COUNT ORDER NODE             COUNT extents, exactly on NODE (-1: anywhere)
 *   return PFN COUNT ORDER
 *   claim PAGES                               stakes a claim, host-wide
 *   exchange PFN PAGES IN_ORDER OUT_ORDER NODE   the domain's affinity decides where new pages are
 *   hold PFN                                  map a page into this process
 *   drop                                      unmap it
 *   destroy
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>

#define MAX_PAGES (1UL << 18)

struct tool {
    xc_interface *xc;
    xenforeignmemory_handle *fmem;
    uint32_t domid;
    void *held;
    xen_pfn_t mfn[MAX_PAGES]; /* by pfn; a PV domain gives back machine frames */
};

static int create(struct tool *t, unsigned long domid)
{
    struct xen_domctl_createdomain config = {
        .handle = { 0x6e, 0x75, 0x6d, 0x61, 0x64, 0x78, domid >> 8, domid },
        .max_vcpus = 1,
        .max_evtchn_port = 1023,
        .max_grant_frames = 32,
        .max_maptrack_frames = 1024,
        .grant_opts = XEN_DOMCTL_GRANT_version(1),
    };

    t->domid = domid;
    if (xc_domain_create(t->xc, &t->domid, &config) < 0)
        return -errno;
    if (xc_domain_setmaxmem(t->xc, t->domid, MAX_PAGES * 4) < 0)
        return -errno;
    return xc_domain_max_vcpus(t->xc, t->domid, 1) < 0 ? -errno : 0;
}

static xen_pfn_t *extents(struct tool *t, unsigned long pfn, unsigned long count, unsigned order,
                          int by_mfn)
{
    xen_pfn_t *list;

    if (order > 20 || pfn > MAX_PAGES || count > (MAX_PAGES - pfn) >> order)
        return NULL;
    list = calloc(count + 1, sizeof(*list));
    for (unsigned long i = 0; list && i < count; i++) {
        unsigned long at = pfn + (i << order);

        list[i] = by_mfn ? t->mfn[at] : at;
    }
    return list;
}

static void remember(struct tool *t, unsigned long pfn, unsigned long count, unsigned order,
                     const xen_pfn_t *mfn)
{
    for (unsigned long i = 0; i < count; i++)
        for (unsigned long j = 0; j < 1UL << order; j++)
            t->mfn[pfn + (i << order) + j] = mfn[i] + j;
}

static int populate(struct tool *t, unsigned long pfn, unsigned long count, unsigned order, int node)
{
    xen_pfn_t *list = extents(t, pfn, count, order, 0);
    int r;

    if (!list)
        return -EINVAL;
    r = xc_domain_populate_physmap_exact(t->xc, t->domid, count, order,
                                         node < 0 ? 0 : XENMEMF_exact_node(node), list);
    if (r == 0)
        remember(t, pfn, count, order, list);
    else
        r = errno ? -errno : -ENOMEM;
    free(list);
    return r;
}

static int give_back(struct tool *t, unsigned long pfn, unsigned long count, unsigned order)
{
    xen_pfn_t *list = extents(t, pfn, count, order, 1);
    int r;

    if (!list)
        return -EINVAL;
    r = xc_domain_decrease_reservation_exact(t->xc, t->domid, count, order, list);
    if (r != 0)
        r = errno ? -errno : -EBUSY;
    free(list);
    return r;
}

static int set_affinity(struct tool *t, int node)
{
    xc_nodemap_t map = xc_nodemap_alloc(t->xc);
    int r;

    if (!map)
        return -ENOMEM;
    map[node / 8] = 1 << (node % 8);
    r = xc_domain_node_setaffinity(t->xc, t->domid, map) < 0 ? -errno : 0;
    free(map);
    return r;
}

static int exchange(struct tool *t, unsigned long pfn, unsigned long pages, unsigned in_order,
                    unsigned out_order, int node)
{
    xen_pfn_t *in = extents(t, pfn, pages >> in_order, in_order, 1);
    xen_pfn_t *out = extents(t, pfn, pages >> out_order, out_order, 0);
    int r = -EINVAL;

    if (in && out)
        r = set_affinity(t, node);
    if (r == 0 && xc_domain_memory_exchange_pages(t->xc, t->domid, pages >> in_order, in_order, in,
                                                  pages >> out_order, out_order, out) < 0)
        r = errno ? -errno : -ENOMEM;
    if (r == 0)
        remember(t, pfn, pages >> out_order, out_order, out);
    free(in);
    free(out);
    return r;
}

/* Xen takes no claim above what the domain may have. */
static int claim(struct tool *t, unsigned long pages)
{
    if (xc_domain_setmaxmem(t->xc, t->domid, pages * 4) < 0)
        return -errno;
    return xc_domain_claim_pages(t->xc, t->domid, pages) < 0 ? -errno : 0;
}

static int hold(struct tool *t, unsigned long pfn)
{
    if (pfn >= MAX_PAGES || t->held)
        return -EINVAL;
    t->held = xenforeignmemory_map(t->fmem, t->domid, PROT_READ, 1, &t->mfn[pfn], NULL);
    return t->held ? 0 : -errno;
}

static int drop(struct tool *t)
{
    int r = t->held ? xenforeignmemory_unmap(t->fmem, t->held, 1) : -EINVAL;

    t->held = NULL;
    return r;
}

/* Runs one line; a positive result is a value for the answer. */
static int command(struct tool *t, const char *line)
{
    unsigned long a, b, c, d;
    int node;

    if (sscanf(line, "create %lu", &a) == 1) {
        int r = create(t, a);

        return r < 0 ? r : (int)t->domid;
    }
    if (sscanf(line, "populate %lu %lu %lu %d", &a, &b, &c, &node) == 4)
        return populate(t, a, b, c, node);
    if (sscanf(line, "return %lu %lu %lu", &a, &b, &c) == 3)
        return give_back(t, a, b, c);
    if (sscanf(line, "exchange %lu %lu %lu %lu %d", &a, &b, &c, &d, &node) == 5)
        return exchange(t, a, b, c, d, node);
    if (sscanf(line, "hold %lu", &a) == 1)
        return hold(t, a);
    if (sscanf(line, "claim %lu", &a) == 1)
        return claim(t, a);
    if (strncmp(line, "drop", 4) == 0)
        return drop(t);
    if (strncmp(line, "destroy", 7) == 0)
        return xc_domain_destroy(t->xc, t->domid) < 0 ? -errno : 0;
    return -EINVAL;
}

int main(void)
{
    static struct tool t;
    char line[256];

    t.xc = xc_interface_open(NULL, NULL, 0);
    t.fmem = xenforeignmemory_open(NULL, 0);
    if (!t.xc || !t.fmem) {
        perror("domtool: cannot reach the hypervisor");
        return 1;
    }
    while (fgets(line, sizeof(line), stdin)) {
        int r = command(&t, line);

        if (r < 0)
            printf("error %s\n", strerror(-r));
        else
            printf("ok %d\n", r);
        fflush(stdout);
    }
    xenforeignmemory_close(t.fmem);
    xc_interface_close(t.xc);
    return 0;
}
