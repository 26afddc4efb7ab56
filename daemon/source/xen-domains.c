/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>

/* The list of domains, and what is known of them from one collection to the next. */

void known_domain_done(KnownDomain *known)
{
    vcpu_rows_unref(known->vcpus);
    bitmap_done(&known->node_affinity);
    free(known->name);
    *known = (KnownDomain){0};
}

static DomainType domain_type(const XenDomInfo *info)
{
    if (!(info->flags & XEN_DOMAIN_HVM))
        return DOMAIN_TYPE_PV;
    /* An ordinary PVH domain has the LAPIC alone, a PVH dom0 the others as well. */
    return info->emulation & ~(XEN_EMU_LAPIC | XEN_EMU_IOAPIC | XEN_EMU_VPCI) ? DOMAIN_TYPE_HVM : DOMAIN_TYPE_PVH;
}

static DomainState domain_state(const XenDomInfo *info)
{
    if (info->flags & XEN_DOMAIN_DYING)
        return DOMAIN_DYING;
    if (info->flags & XEN_DOMAIN_SHUTDOWN)
        return XEN_DOMAIN_CODE(info->flags) == XEN_SHUTDOWN_CRASH ? DOMAIN_CRASHED : DOMAIN_SHUTDOWN;
    if (info->flags & XEN_DOMAIN_PAUSED)
        return DOMAIN_PAUSED;
    if (info->flags & XEN_DOMAIN_RUNNING)
        return DOMAIN_RUNNING;
    /* Neither: it waits for a CPU, unless it has no vCPU that could. */
    return info->flags & XEN_DOMAIN_BLOCKED || info->nr_online_vcpus == 0 ? DOMAIN_BLOCKED : DOMAIN_RUNNING;
}

bool xen_has_uuid(const XenDomInfo *info)
{
    static const uint8_t nil[16];

    return memcmp(info->handle, nil, sizeof(nil)) != 0;
}

static void fill_row(DomainRow *row, const XenDomInfo *info)
{
    *row = (DomainRow){
        .domid = info->domid,
        .has_uuid = xen_has_uuid(info),
        .type = domain_type(info),
        .state = domain_state(info),
        .pool = info->pool,
        .total_pages = info->tot_pages,
        .max_pages = info->max_pages,
        .claimed_pages = info->outstanding_pages,
        .n_vcpus = info->max_vcpu_id == XEN_NO_VCPU ? 0 : MIN(info->max_vcpu_id, XEN_VCPUS_MAX - 1) + 1,
    };
    memcpy(row->uuid, info->handle, sizeof(row->uuid));
}

int xen_list_make_room(XenList *list)
{
    size_t room = list->room ? 2 * list->room : XEN_LIST_PAGE;
    XenDomInfo *infos;

    if (list->n + XEN_LIST_PAGE <= list->room)
        return 0;
    infos = reallocarray(list->infos, room, sizeof(*infos));
    if (!infos)
        return -ENOMEM;
    list->infos = infos;
    list->room = room;
    return 0;
}

/* Takes a page of the list: whether it was in order, which is relied on by whoever searches. */
static bool take_page(XenList *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const XenDomInfo *info = &list->infos[list->n++];

        if (info->domid < list->first || info->domid >= DOMAINS_MAX)
            return false;
        list->first = info->domid + 1u;
    }
    return true;
}

int xen_list_fetch(XenSource *s, XenList *list)
{
    int n = s->calls->ops->domains(s->calls, (domid_t)list->first, XEN_LIST_PAGE, &list->infos[list->n]);

    xen_spend(s, 4 + MAX(n, 0) / 4);
    if (n < 0)
        return n;
    if ((uint32_t)n > XEN_LIST_PAGE || !take_page(list, (uint32_t)n))
        return -EBADMSG;
    return n == (int)XEN_LIST_PAGE && list->first < DOMAINS_MAX;
}

/*
 * What is known of the domains moves over to those that are still the same; the rest is forgotten. Both are in
 * order.
 */
static int match_known(XenSource *s, const XenDomInfo *infos, size_t n)
{
    size_t old = 0;
    KnownDomain *known = new_array(n, sizeof(*known));

    if (!known)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const XenDomInfo *info = &infos[i];

        while (old < s->n_domains && s->known[old].domid < info->domid)
            known_domain_done(&s->known[old++]);
        if (old < s->n_domains && s->known[old].domid == info->domid &&
            memcmp(s->known[old].handle, info->handle, sizeof(info->handle)) == 0)
            known[i] = s->known[old++];
        known[i].domid = info->domid;
        memcpy(known[i].handle, info->handle, sizeof(known[i].handle));
        known[i].gone = false;
    }
    while (old < s->n_domains)
        known_domain_done(&s->known[old++]);
    free(s->known);
    s->known = known;
    return 0;
}

/* The list is complete. */
static int take_listing(XenSource *s)
{
    int r = match_known(s, s->listing.infos, s->listing.n);

    if (r < 0)
        return r;
    free(s->infos);
    s->infos = s->listing.infos;
    s->n_domains = s->listing.n;
    s->listing = (XenList){0};
    return 0;
}

static int fill_rows(XenSource *s)
{
    s->rows->domains = new_array(s->n_domains, sizeof(*s->rows->domains));
    if (!s->rows->domains)
        return -ENOMEM;
    for (; s->rows->n_domains < s->n_domains; s->rows->n_domains++)
        fill_row(&s->rows->domains[s->rows->n_domains], &s->infos[s->rows->n_domains]);
    return 0;
}

/*
 * A list that fails leaves the last one in force: it would be worse to say that all domains have ended than to show
 * one that just did.
 */
int xen_read_domains(XenSource *s)
{
    int r = xen_list_make_room(&s->listing);

    if (r < 0)
        return r;
    r = xen_list_fetch(s, &s->listing);
    if (r > 0)
        return 1;
    if (r == -EBADMSG)
        r = xen_answer_refused(s, "getdomaininfolist", "domains are not in order");
    else if (r < 0)
        r = xen_call_failed(s, ERROR_XEN, "getdomaininfolist", r);
    else
        r = take_listing(s);
    return r < 0 ? r : fill_rows(s);
}

/* --- the end of a collection --- */

/* Of the page of a later list: marks what is not the same any more. Whether the page was in order. */
static bool check_page(XenSource *s, const XenDomInfo *infos, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (infos[i].domid < s->first || infos[i].domid >= DOMAINS_MAX)
            return false;
        s->first = infos[i].domid + 1u;
        while (s->cursor < s->n_domains && s->known[s->cursor].domid < infos[i].domid)
            s->known[s->cursor++].gone = true;
        if (s->cursor == s->n_domains || s->known[s->cursor].domid != infos[i].domid)
            continue; /* it is new */
        if (memcmp(s->known[s->cursor].handle, infos[i].handle, sizeof(infos[i].handle)) != 0)
            s->known[s->cursor].gone = true;
        s->cursor++;
    }
    return true;
}

int xen_check_domains(XenSource *s)
{
    _cleanup_free_ char *buffer = NULL;
    XenDomInfo *infos;
    int n;

    if (!s->has_fresh)
        return 0;
    buffer = new_array(XEN_LIST_PAGE, sizeof(*infos));
    infos = (XenDomInfo *)(void *)buffer;
    if (!infos)
        return -ENOMEM;
    n = s->calls->ops->domains(s->calls, (domid_t)s->first, XEN_LIST_PAGE, infos);
    xen_spend(s, 4 + MAX(n, 0) / 4);
    if (n < 0)
        return xen_call_failed(s, ERROR_XEN, "getdomaininfolist", n);
    if ((uint32_t)n > XEN_LIST_PAGE || !check_page(s, infos, (uint32_t)n))
        return xen_answer_refused(s, "getdomaininfolist", "domains are not in order");
    if (n == (int)XEN_LIST_PAGE && s->first < DOMAINS_MAX)
        return 1;
    while (s->cursor < s->n_domains)
        s->known[s->cursor++].gone = true;
    return 0;
}

static int complete_row(DomainRow *row, const KnownDomain *known)
{
    row->vcpus = vcpu_rows_ref(known->vcpus);
    row->has_node_affinity = known->has_node_affinity;
    if (known->name && !(row->name = strdup(known->name)))
        return -ENOMEM;
    return bitmap_copy(&row->node_affinity, &known->node_affinity);
}

int xen_complete_domains(XenSource *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->rows->n_domains; i++) {
        DomainRow *row = &s->rows->domains[i];
        int r = s->known[i].gone ? 0 : complete_row(row, &s->known[i]);

        if (r < 0)
            return r;
        if (s->known[i].gone)
            domain_row_done(row);
        else {
            DomainRow moved = *row;

            *row = (DomainRow){0};
            s->rows->domains[kept++] = moved;
        }
    }
    s->rows->n_domains = kept;
    return 0;
}
