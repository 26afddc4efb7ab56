/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "doctor.h"

#include "lib/core/text.h"

#include <math.h>

#define FRESH_SECONDS 10

static const char patch_fix[] =
    "build and boot the patched hypervisor: hypervisor-patches/README.md; on a patched one see numad-xend's journal";
/* Of a host that is described, its hypervisor's features are told; what the description does not tell is no fault. */
static const char described_fix[] = "run the patched hypervisor on that host (hypervisor-patches/README.md) and gather "
                                    "it again; one that is made up names it in its features";

const DoctorAdvice *doctor_advice(bool system_bus, bool remote)
{
    static const DoctorAdvice there = {
        .start_bus = "see to what it says; there, dbus must run and systemd-stdio-bridge must be installed",
        .admit = "see the bus policy there",
        .start = "there: systemctl start numad-xend; journalctl -u numad-xend says more",
        .restart = "there: systemctl restart numad-xend; journalctl -u numad-xend may say why",
        .log = "there: journalctl -u numad-xend says more",
    };
    static const DoctorAdvice here = {
        .start_bus = "systemctl start dbus, or give another address with --bus",
        .admit = "see the bus policy",
        .start = "systemctl start numad-xend; journalctl -u numad-xend says more",
        .restart = "systemctl restart numad-xend; journalctl -u numad-xend may say why",
        .log = "journalctl -u numad-xend says more",
    };
    static const DoctorAdvice elsewhere = {
        .start_bus = "start a dbus-daemon there, or ask on another bus",
        .admit = "see the policy in that bus's configuration",
        .start = "start numad-xend with the address of this bus: --bus ADDRESS",
        .restart = "end that numad-xend and start it again",
        .log = "see what numad-xend prints",
    };

    if (remote)
        return &there;
    return system_bus ? &here : &elsewhere;
}

static bool has_feature(const HostView *host, const char *feature)
{
    for (size_t i = 0; i < value_count(host->features); i++) {
        struct json_object *value = value_at(host->features, i);

        if (json_object_is_type(value, json_type_string) && strcmp(json_object_get_string(value), feature) == 0)
            return true;
    }
    return false;
}

char *doctor_warnings_of(const HostView *host, const char *code)
{
    _cleanup_text_ Text all = {0};
    char *string = NULL;

    for (size_t i = 0; i < value_count(host->warnings); i++) {
        struct json_object *warning = value_at(host->warnings, i);
        Bytes text = value_bytes(warning, "text");

        if (!text.data || !bytes_equal(value_bytes(warning, "code"), code))
            continue;
        text_add(&all, all.size ? "; " : "");
        text_add_bytes(&all, text.data, text.size);
    }
    if (!all.size || text_take(&all, &string, NULL) < 0)
        return NULL;
    return string;
}

static void check_backend(CheckList *checks, const HostView *host)
{
    Bytes backend = host->backend;

    if (host->simulated)
        check_list_add(checks, "backend", true, NULL, "the host is SIMULATED, from a host description");
    else if (bytes_equal(backend, "xen"))
        check_list_add(checks, "backend", true, NULL, "the daemon asks the Xen hypervisor");
    else
        check_list_add(checks, "backend", false, "use the same version of numad-xend and numad-xen",
                       "the daemon does not say what it asks");
}

static void check_fresh(CheckList *checks, const StatusView *view, int64_t now, const DoctorAdvice *advice)
{
    struct json_object *stats = value_get(view->document, "stats");
    double last = value_ratio(stats, "last_collection");

    if (isnan(last))
        check_list_add(checks, "fresh", false, advice->log, "the daemon has collected nothing yet");
    else if ((double)now - last >= FRESH_SECONDS)
        check_list_add(checks, "fresh", false, advice->restart, "the last collection was %.0f s ago",
                       (double)now - last);
    else
        check_list_add(checks, "fresh", true, NULL, "the last collection was under %d s ago", FRESH_SECONDS);
}

static void check_features(CheckList *checks, const HostView *host)
{
    const char *fix = host->simulated ? described_fix : patch_fix;

    if (has_feature(host, "node-pages"))
        check_list_add(checks, "node-pages", true, NULL, "the hypervisor counts each domain's pages on each node");
    else
        check_list_add(checks, "node-pages", false, fix,
                       "the hypervisor does not say where domains' memory is: not patched");
    if (has_feature(host, "node-memory"))
        check_list_add(checks, "node-memory", true, NULL, "the hypervisor tells what memory of nodes is dirty");
    else
        check_list_add(checks, "node-memory", false, fix,
                       "the hypervisor does not tell what memory of nodes is dirty: not patched");
}

static void check_warnings(CheckList *checks, const HostView *host, const DoctorAdvice *advice)
{
    _cleanup_free_ char *refused = doctor_warnings_of(host, "not-permitted"),
                        *broken = doctor_warnings_of(host, "source-failed");

    check_list_add(checks, "permitted", !refused, "run numad-xend as root in dom0; with XSM, its policy must allow it",
                   "%s", refused ? refused : "nothing that was asked was refused");
    check_list_add(checks, "sources", !broken, advice->log, "%s",
                   broken ? broken : "everything that was asked was answered");
}

/* Whether numad-xend knows what was promised before it started; nothing to say of where all is well. */
static void check_ledger(CheckList *checks, const HostView *host)
{
    _cleanup_free_ char *lost = doctor_warnings_of(host, "ledger-lost");

    if (lost)
        check_list_add(checks, "ledger", false,
                       "see that domains which wait to be built still fit; numad-xend's next start forgets it", "%s",
                       lost);
}

static void check_names(CheckList *checks, const StatusView *view)
{
    size_t unnamed = 0;

    for (size_t i = 0; i < view->n_domains; i++)
        unnamed += !view->domains[i].name.data && !bytes_equal(view->domains[i].state, "dying");
    if (unnamed && view->host.simulated)
        check_list_add(checks, "names", true, NULL, "the description names %zu of %zu domains",
                       view->n_domains - unnamed, view->n_domains);
    else if (unnamed)
        check_list_add(checks, "names", false, "see that xenstored runs: xenstore-ls /local/domain",
                       "%zu of %zu domains have no name in xenstore", unnamed, view->n_domains);
    else
        check_list_add(checks, "names", true, NULL, "all domains have names");
}

static void check_low(CheckList *checks, const StatusView *view)
{
    const NodeViews *nodes = &view->nodes;
    bool low = false;

    for (size_t i = 0; i < nodes->n; i++)
        low = low || nodes->items[i].low != VALUE_UNKNOWN;
    if (low)
        check_list_add(checks, "low", true, NULL, "it is known how much memory is kept for DMA");
    else if (view->host.simulated)
        check_list_add(checks, "low", true, NULL, "the description does not say how much memory is kept for DMA");
    else
        check_list_add(checks, "low", false,
                       "numad-xend must be permitted XEN_SYSCTL_availheap: run it as root in dom0",
                       "it is not known how much memory is kept for DMA");
}

void doctor_check_status(CheckList *checks, const StatusView *view, int64_t now, const DoctorAdvice *advice)
{
    check_backend(checks, &view->host);
    if (now >= 0)
        check_fresh(checks, view, now, advice);
    check_features(checks, &view->host);
    check_warnings(checks, &view->host, advice);
    check_ledger(checks, &view->host);
    check_names(checks, view);
    check_low(checks, view);
    doctor_check_topology(checks, view);
}
