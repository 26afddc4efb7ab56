/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>
#include <sys/epoll.h>

/*
 * Names and domain events, from xenstore. The descriptor the loop polls is an epoll set that holds xenstore's, so it
 * outlives a connection that is lost; the next collections try to connect again, once each.
 */

#define NAME_COST 16    /* a round trip to another process */
#define EVENTS_MAX 1024 /* taken in one dispatch; the loop comes back for more */

static void disconnect(XenSource *s)
{
    int fd = s->calls->ops->store_fd(s->calls);

    if (fd >= 0)
        (void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    s->calls->ops->store_close(s->calls);
    s->store_open = false;
}

static int watch_fd(XenSource *s)
{
    int fd = s->calls->ops->store_fd(s->calls);
    struct epoll_event event = {.events = EPOLLIN};

    if (fd < 0)
        return -ENOTCONN;
    return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int xen_store_connect(XenSource *s)
{
    int r;

    if (s->store_open)
        return 0;
    xen_spend(s, NAME_COST);
    r = s->calls->ops->store_open(s->calls);
    if (r == 0) {
        r = watch_fd(s);
        s->store_open = r == 0;
        s->names_all = true; /* events may have been missed */
        if (r < 0)
            disconnect(s);
    }
    return r < 0 ? xen_call_failed(s, ERROR_XENSTORE, "xenstore", r) : 0;
}

int xen_store_dispatch(XenSource *s)
{
    int r = 0, n = 0;

    if (!s->store_open)
        return 0;
    while (n < EVENTS_MAX && (r = s->calls->ops->store_event(s->calls)) > 0)
        n++;
    if (r < 0)
        s->source.errors[ERROR_XENSTORE]++;
    if (r < 0 && r != -ENOMEM)
        disconnect(s); /* the next collection says so if it cannot connect */
    s->names_stale |= n > 0;
    return n > 0;
}

static bool is_due(const XenSource *s, const KnownDomain *known)
{
    /* A name that is not there yet may come without an event. */
    return !known->gone && (s->names_all || !known->has_name || !known->name || xen_turn_of(s, known->domid));
}

/* 0, or negative: out of memory. */
static int read_name(XenSource *s, KnownDomain *known)
{
    char *name = NULL;
    int r = s->calls->ops->store_name(s->calls, known->domid, &name);

    xen_spend(s, NAME_COST);
    s->has_fresh = true;
    known->has_name = false; /* what failed is read again the next time */
    if (r == 0 || r == -ENOENT) {
        free(known->name);
        known->name = name;
        known->has_name = true;
        return 0;
    }
    if (r == -ENOTCONN)
        disconnect(s); /* the names are what they were */
    return xen_call_failed(s, ERROR_XENSTORE, "xenstore", r);
}

int xen_read_names(XenSource *s)
{
    int r = s->cursor == 0 ? xen_store_connect(s) : 0;

    for (; r == 0 && s->store_open && s->cursor < s->rows->n_domains; s->cursor++) {
        if (s->budget <= 0)
            return 1;
        if (is_due(s, &s->known[s->cursor]))
            r = read_name(s, &s->known[s->cursor]);
    }
    s->cursor = 0; /* for the check */
    return r;
}
