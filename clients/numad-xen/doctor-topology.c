/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "doctor.h"

#include "lib/core/text.h"

/*
 * What is wrong with a host's tables is told here with what to do, but it is no failure: the hypervisor is believed,
 * unknown distances are left out, and a host that nobody can mend must be able to pass.
 */

static const char table_advice[] = "a newer firmware; numad-xen goes by what the hypervisor says";
static const char mismatch_advice[] = "Xen without numa= and mem= on its command line, or a newer firmware (xl dmesg | "
                                      "grep -i srat: what Xen makes of it)";

/* Adds the texts of the warnings of a code to what there is. */
static void add_warnings(const HostView *host, const char *code, Text *to)
{
    _cleanup_free_ char *text = doctor_warnings_of(host, code);

    if (!text)
        return;
    text_add(to, to->size ? "; " : "");
    text_add(to, text);
}

/* Texts of the warnings of any of the codes, NULL at the end; NULL: there are none. */
static char *warnings_of_any(const HostView *host, const char *const *codes)
{
    _cleanup_text_ Text all = {0};
    char *string = NULL;

    for (; *codes; codes++)
        add_warnings(host, *codes, &all);
    if (!all.size || text_take(&all, &string, NULL) < 0)
        return NULL;
    return string;
}

static void check_nodes(CheckList *checks, const StatusView *view)
{
    const char *fix = view->host.simulated ? "describe the host's nodes, or gather it again"
                                           : "numad-xend must be permitted XEN_SYSCTL_numainfo";
    size_t n = view->nodes.n;

    if (n == 1) /* nothing is missing on a machine of one node */
        check_list_add(
            checks, "nodes", true, NULL,
            "Xen sees 1 node; if the machine has more, see Xen's numa= and the firmware's node interleaving");
    else
        check_list_add(checks, "nodes", n > 1, fix, "Xen sees %zu nodes", n);
}

static void check_firmware(CheckList *checks, const StatusView *view)
{
    static const char *const codes[] = {"srat-invalid", "srat-mismatch", NULL};
    _cleanup_free_ char *text = warnings_of_any(&view->host, codes);
    bool known = false;

    for (size_t i = 0; i < view->nodes.n; i++)
        known = known || view->nodes.items[i].pxm != VALUE_UNKNOWN;
    if (text)
        check_list_advise(checks, "firmware",
                          host_view_warns(&view->host, "srat-mismatch") ? mismatch_advice : table_advice, text);
    else
        check_list_add(checks, "firmware", true, NULL,
                       known ? "the firmware's table of nodes says the same as the hypervisor"
                             : "no firmware table of nodes is known, to hold the hypervisor's nodes against");
}

static void check_distances(CheckList *checks, const HostView *host)
{
    static const char *const codes[] = {"slit-invalid", "slit-mismatch", "slit-flat", "distance-unreachable", NULL};
    _cleanup_free_ char *text = warnings_of_any(host, codes);

    if (text)
        check_list_advise(checks, "distances", table_advice, text);
    else
        check_list_add(checks, "distances", true, NULL, "all distances between nodes are known");
}

static void check_dom0_view(CheckList *checks, const HostView *host)
{
    _cleanup_free_ char *text = doctor_warnings_of(host, "dom0-view-differs");

    check_list_add(checks, "dom0-view", true, NULL, "%s",
                   text ? text : "dom0 sees the host as it is, or what it sees is not known");
}

void doctor_check_topology(CheckList *checks, const StatusView *view)
{
    check_nodes(checks, view);
    check_firmware(checks, view);
    check_distances(checks, &view->host);
    check_dom0_view(checks, &view->host);
}
