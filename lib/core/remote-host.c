/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remote-host.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define REMOTE_HOST_MAX 320u /* a host name has at most 255 bytes */

static const char *user_fault(const char *user, size_t size)
{
    if (size == 0)
        return "no user before the '@'";
    if (*user == '-')
        return "a user does not begin with '-'";
    return strspn(user, LETTERS DIGITS "._-+") < size ? "a user has letters, digits and . _ - +" : NULL;
}

/* A name, an IPv4 address, or an IPv6 address perhaps with its zone: fe80::1%eth0. */
static const char *name_fault(const char *name)
{
    const char *colon = strchr(name, ':');

    if (!*name)
        return "no host";
    if (*name == '-')
        return "a host does not begin with '-'";
    if (colon && !strchr(colon + 1, ':'))
        return "ssh takes the port from ~/.ssh/config";
    if (name[strspn(name, colon ? LETTERS DIGITS "._-:%" : LETTERS DIGITS "._-")])
        return "a host has letters, digits and . _ -";
    return NULL;
}

const char *remote_host_fault(const char *host)
{
    const char *at = strchr(host, '@'), *fault = NULL;

    if (strlen(host) > REMOTE_HOST_MAX)
        return "too long for a host";
    if (*host == '-')
        return "a host does not begin with '-'";
    if (at)
        fault = user_fault(host, (size_t)(at - host));
    return fault ? fault : name_fault(at ? at + 1 : host);
}
