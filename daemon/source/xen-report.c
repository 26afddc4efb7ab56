/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

#include <string.h>

/* The same text for every domain it happens with, so that a host with thousands of them gets one warning. */
int xen_call_failed(XenSource *s, ErrorKind kind, const char *call, int error)
{
    WarningList *warnings = &s->rows->warnings;
    const char *why = strerror(-error);

    s->source.errors[kind]++;
    switch (-error) {
    case EPERM:
    case EACCES:
        return warning_list_add(
            warnings, WARNING_NOT_PERMITTED,
            "%s: %s; numad-xend must be root in dom0, Xen's security policy must allow the call, and "
            "Xen's libraries must be of the release that runs",
            call, why);
    case ENOSYS:
        return warning_list_add(warnings, WARNING_NOT_PERMITTED,
                                "%s: %s; every Xen has this call, so something between dom0 and Xen filters it", call,
                                why);
    }
    return warning_list_add(warnings, WARNING_SOURCE_FAILED, "%s: %s; what it tells is missing or old", call, why);
}

int xen_warn_unreadable(XenSource *s, const char *what, int error)
{
    WarningList *warnings = &s->rows->warnings;

    if (error == -EPERM || error == -EACCES)
        return warning_list_add(warnings, WARNING_NOT_PERMITTED, "%s: %s; numad-xend must be root in dom0", what,
                                strerror(-error));
    return warning_list_add(warnings, WARNING_SOURCE_FAILED, "%s: %s; what it tells is missing or old", what,
                            strerror(-error));
}

int xen_answer_refused(XenSource *s, const char *call, const char *what)
{
    s->source.errors[ERROR_XEN]++;
    return warning_list_add(&s->rows->warnings, WARNING_SOURCE_FAILED, "%s: %s; what it tells is missing or old", call,
                            what);
}
