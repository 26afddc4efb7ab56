/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/io/file.h"
#include "xen.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether the Xen host can be asked at all. */

#define CAPABILITIES "/proc/xen/capabilities"
#define PRIVCMD "/dev/xen/privcmd"
#define INSTEAD "; to look at a simulated host use --host FILE"

static int explain(char **ret_error, int error, const char *text)
{
    *ret_error = strdup(text);
    return *ret_error ? error : -ENOMEM;
}

static char *join(const char *root, const char *path)
{
    char *joined = NULL;

    return asprintf(&joined, "%s%s", root, path) < 0 ? NULL : joined;
}

static int check_capabilities(const char *path, char **ret_error)
{
    _cleanup_free_ char *text = NULL;
    size_t size = 0;
    int r = file_read(path, 4096, &text, &size);

    if (r == -ENOENT)
        return explain(ret_error, -ENODEV,
                       CAPABILITIES ": not there: this is no Xen domain, or xenfs is not mounted; run numad-xend in "
                                    "dom0 of a Xen host (mount -t xenfs xenfs /proc/xen)" INSTEAD);
    if (r == -EACCES || r == -EPERM)
        return explain(ret_error, -EACCES, CAPABILITIES ": not permitted: run numad-xend as root in dom0" INSTEAD);
    if (r < 0)
        return r;
    if (!memmem(text, size, "control_d", strlen("control_d")))
        return explain(ret_error, -ENODEV,
                       CAPABILITIES ": this domain does not control the host: run numad-xend in dom0, not in a "
                                    "guest" INSTEAD);
    return 0;
}

static int check_privcmd(const char *path, char **ret_error)
{
    if (access(path, R_OK | W_OK) == 0)
        return 0;
    if (errno == EACCES || errno == EPERM)
        return explain(ret_error, -EACCES, PRIVCMD ": not permitted: run numad-xend as root in dom0" INSTEAD);
    return explain(ret_error, -ENODEV,
                   PRIVCMD ": not there: the kernel's privcmd driver is missing (modprobe xen-privcmd)" INSTEAD);
}

int xen_dom0_check(const char *root, char **ret_error)
{
    _cleanup_free_ char *capabilities = join(root, CAPABILITIES), *privcmd = join(root, PRIVCMD);
    int r;

    if (!capabilities || !privcmd)
        return -ENOMEM;
    r = check_capabilities(capabilities, ret_error);
    return r < 0 ? r : check_privcmd(privcmd, ret_error);
}
