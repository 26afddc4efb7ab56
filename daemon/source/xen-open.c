/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hwloc.h"
#include "xen.h"

#include <stdio.h>
#include <string.h>

/* The Xen source on this host; built only with Xen. */

static int explain(int error, char **ret_error)
{
    if (asprintf(ret_error,
                 "the hypervisor cannot be called: %s: run numad-xend as root in dom0; to look at a simulated host use "
                 "--host FILE",
                 strerror(-error)) < 0)
        *ret_error = NULL;
    return error;
}

int xen_source_new(Source **ret_source, char **ret_error)
{
    _cleanup_(xen_calls_free_p) XenCalls *calls = NULL;
    int r = xen_dom0_check("", ret_error);

    if (r < 0)
        return r;
    r = xen_calls_open(&calls);
    if (r < 0)
        return explain(r, ret_error);
    r = xen_source_new_on(calls, hwloc_view, ret_source);
    if (r == 0)
        calls = NULL;
    return r;
}
