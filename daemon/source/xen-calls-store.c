/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-calls-store.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <xenstore.h>

/* The one file that knows libxenstore. */

/*
 * libxenstore goes on to /dev/xen/xenbus when xenstored does not answer on its socket. That is right where xenstored
 * runs in another domain; where it ran in this one and ended, a request through there would never be answered.
 */
static int probe_socket(StoreLink *link)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = xs_daemon_socket();
    struct stat st;
    int fd, r = 0;

    if (!path || stat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return link->had_socket ? -ENOTCONN : 0;
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        r = -errno;
    close(fd);
    link->had_socket = true;
    return r;
}

void store_link_close(StoreLink *link)
{
    if (link->handle)
        xs_close(link->handle);
    link->handle = NULL;
}

static int failed(void)
{
    return errno > 0 ? -errno : -EIO;
}

int store_link_open(StoreLink *link)
{
    int r = probe_socket(link);

    if (r < 0)
        return r;
    store_link_close(link);
    link->handle = xs_open(0);
    if (!link->handle)
        return failed();
    if (!xs_watch(link->handle, "@introduceDomain", "introduce") ||
        !xs_watch(link->handle, "@releaseDomain", "release")) {
        r = failed();
        store_link_close(link);
        return r;
    }
    return 0;
}

/* A connection that ended shows as any of several errors, EINVAL among them. */
static int store_error(void)
{
    switch (errno) {
    case ENOENT:
    case EACCES:
    case EPERM:
    case ENOMEM:
    case EAGAIN:
        return -errno;
    }
    return -ENOTCONN;
}

int store_link_name(StoreLink *link, domid_t domid, char **ret_name)
{
    char path[sizeof("/local/domain/65535/name")];

    if (!link->handle)
        return -ENOTCONN;
    snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
    *ret_name = xs_read(link->handle, XBT_NULL, path, NULL);
    return *ret_name ? 0 : store_error();
}

int store_link_fd(const StoreLink *link)
{
    return link->handle ? xs_fileno(link->handle) : -1;
}

int store_link_event(StoreLink *link)
{
    char **event;

    if (!link->handle)
        return -ENOTCONN;
    event = xs_check_watch(link->handle);
    if (!event)
        return errno == EAGAIN ? 0 : store_error();
    free(event);
    return 1;
}
