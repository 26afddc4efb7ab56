/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "manager.h"

#include "books.h"
#include "clock.h"
#include "collector.h"
#include "count.h"
#include "log.h"
#include "placer.h"
#include "publish/bus.h"
#include "publish/sim.h"
#include "settings.h"

#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

/*
 * Owns the loop and ties its parts together: the collector brings snapshots, the books take off what is promised, the
 * placer promises, the bus shows what is true then, the service manager hears how it goes. The name is asked for only
 * with the first snapshot in hand, so that a call that started the daemon (D-Bus activation) waits for an answer
 * instead of getting none.
 */

typedef struct Manager {
    const Options *options;
    sd_event *event;
    Source *source; /* the collector's */
    Collector *collector;
    LedgerStore *store;
    Books *books;
    Placer *placer;
    Bus *bus;
    Stats stats;
    Snapshot *snapshot;
    bool ready;
    bool reloading;
    bool reopened; /* the source has read its configuration since the last snapshot */
} Manager;

static ExitStatus exit_status(int error)
{
    return error == -EACCES || error == -EPERM ? EXIT_NOT_PERMITTED : EXIT_FAILED;
}

static void manager_done(Manager *m)
{
    bus_free(m->bus);
    placer_free(m->placer);
    books_free(m->books);
    ledger_store_free(m->store);
    collector_free(m->collector);
    snapshot_unref(m->snapshot);
    sd_event_unref(m->event);
}

/* Tells the service manager what `systemctl status` shows, when it is no longer true. */
static void notify_status(const Snapshot *new, const Snapshot *old)
{
    uint32_t n_nodes = count_nodes(new);

    if (old && count_nodes(old) == n_nodes && old->n_domains == new->n_domains)
        return;
    sd_notifyf(false, "STATUS=%s host: %" PRIu32 " nodes, %zu domains", new->simulated ? "simulated" : "Xen", n_nodes,
               new->n_domains);
}

/* A warning is logged when the host begins to have it, not in each generation. */
static void log_new_warnings(const Snapshot *new, const Snapshot *old)
{
    for (size_t i = 0; i < new->warnings.n; i++) {
        const Warning *warning = &new->warnings.items[i];
        char field[64];

        if (old && warning_list_has_item(&old->warnings, warning->code, warning->text))
            continue;
        if (warning->code == WARNING_LEDGER_LOST) /* ledger-store.c has logged it */
            continue;
        snprintf(field, sizeof(field), "NUMAD_XEN_WARNING=%s", warning_code_to_text(warning->code));
        log_field(LOG_WARNING, field, "%s: %s", warning_code_to_text(warning->code), warning->text);
    }
}

static void on_owned(int error, void *userdata)
{
    Manager *m = userdata;

    if (error < 0) {
        sd_event_exit(m->event, exit_status(error));
        return;
    }
    m->ready = true;
    log_info("ready: %s host, %" PRIu32 " nodes, %zu domains", m->snapshot->simulated ? "simulated" : "Xen",
             count_nodes(m->snapshot), m->snapshot->n_domains);
    sd_notify(false, "READY=1");
}

static void end_reload(Manager *m)
{
    if (m->reloading)
        sd_notify(false, "READY=1");
    m->reloading = false;
}

/* free() keeps what lies below a piece in use; what a large host took goes back to the system when it has shrunk. */
static void keep_snapshot(Manager *m, Snapshot *snapshot)
{
    bool shrunk = m->snapshot && snapshot->n_domains < m->snapshot->n_domains / 2;

    snapshot_unref(m->snapshot);
    m->snapshot = snapshot_ref(snapshot);
    if (shrunk || m->reopened)
        (void)malloc_trim(0);
    m->reopened = false;
}

/* What the books say from now on. */
static void on_published(Snapshot *snapshot, void *userdata)
{
    Manager *m = userdata;

    bus_set_snapshot(m->bus, snapshot);
    log_new_warnings(snapshot, m->snapshot);
    notify_status(snapshot, m->snapshot);
    if (!m->snapshot && bus_own_name(m->bus, on_owned, m) < 0)
        sd_event_exit(m->event, EXIT_NO_BUS);
    keep_snapshot(m, snapshot);
}

static int on_read_memory(HostMemory **ret_memory, void *userdata)
{
    Manager *m = userdata;

    return collector_read_memory(m->collector, ret_memory);
}

static void on_ended(const char *token, void *userdata)
{
    Manager *m = userdata;

    bus_reservation_ended(m->bus, token);
}

static void on_collected(Snapshot *snapshot, void *userdata)
{
    Manager *m = userdata;

    if (snapshot)
        books_collected(m->books, snapshot, collector_begun_us(m->collector));
    end_reload(m);
}

static void on_captured(int error, const char *text, size_t size, void *userdata)
{
    Manager *m = userdata;

    bus_captured(m->bus, error, text, size);
}

static int capture(void *userdata)
{
    Manager *m = userdata;
    int r = collector_capture(m->collector, on_captured, m);

    return r == -EALREADY ? 0 : r; /* on_captured() will be called */
}

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
    Manager *m = userdata;

    sd_notify(false, "STOPPING=1\nSTATUS=stopping");
    log_info("stopping");
    return sd_event_exit(m->event, EXIT_DONE);
}

static int load_settings(const Manager *m, Settings *ret_settings, char **ret_error)
{
    const char *config = m->options->config;
    int r = settings_load(config ? config : OPTIONS_CONFIG, config, ret_settings, ret_error);

    return r == SETTINGS_E_REFUSED ? -EINVAL : r;
}

static void apply_settings(Manager *m, const Settings *settings)
{
    collector_set_interval(m->collector, settings->interval_ms * 1000);
    books_set_headroom(m->books, settings->headroom);
    placer_set(m->placer, &(PlacerSettings){.policy = settings->policy,
                                            .ttl_ms = settings->ttl_ms,
                                            .gather_ms = settings->gather_ms,
                                            .gather_max_ms = settings->gather_max_ms,
                                            .reservations = settings->reservations,
                                            .per_uid = settings->per_uid});
    m->bus->limit.per_s = (unsigned)settings->requests_per_s;
}

static void log_settings(const char *when, const Settings *settings)
{
    _cleanup_text_ Text changes = {0};

    settings_add_changes(settings, &changes);
    log_info("%s: %s", when, changes.size ? changes.data : "all are the defaults");
}

/* All or nothing: the settings are read first, and applied when the source has taken its own file too. */
static int reload(Manager *m, char **ret_error)
{
    Settings settings;
    int r = load_settings(m, &settings, ret_error);

    if (r >= 0)
        r = collector_reload(m->collector, ret_error);
    if (r < 0)
        return r;
    apply_settings(m, &settings);
    log_settings("reloaded, settings", &settings);
    return 0;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
    Manager *m = userdata;
    _cleanup_free_ char *why = NULL;
    int r;

    if (m->ready) {
        sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_us(CLOCK_MONOTONIC));
        m->reloading = true;
    }
    m->reopened = true;
    r = reload(m, &why);
    if (r < 0) {
        log_error("reload refused, keeping what was: %s", why ? why : strerror(-r));
        end_reload(m);
    }
    return 0;
}

static int add_signals(Manager *m)
{
    sigset_t set;
    int r;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
        signal(SIGXFSZ, SIG_IGN) == SIG_ERR) /* a write then fails with EFBIG */
        return -errno;
    r = sd_event_add_signal(m->event, NULL, SIGTERM, on_stop, m);
    if (r >= 0)
        r = sd_event_add_signal(m->event, NULL, SIGINT, on_stop, m);
    if (r >= 0)
        r = sd_event_add_signal(m->event, NULL, SIGHUP, on_hangup, m);
    if (r >= 0)
        r = sd_event_set_watchdog(m->event, true);
    return MIN(r, 0);
}

static int new_source(const Options *options, Source **ret_source, char **ret_error)
{
    if (options->host)
        return sim_source_new(options->host, ret_source, ret_error);
#ifdef HAVE_XEN
    return xen_source_new(ret_source, ret_error);
#else
    *ret_error = strdup("this program is built without Xen: name a host description with --host FILE");
    return -EOPNOTSUPP;
#endif
}

static int open_collector(Manager *m, const Options *options)
{
    _cleanup_(source_free_p) Source *source = NULL;
    _cleanup_free_ char *why = NULL;
    int r = new_source(options, &source, &why);

    if (r < 0) {
        log_error("%s", why ? why : strerror(-r));
        return r;
    }
    m->source = source;
    r = collector_new(m->event, TAKE_PTR(source), &m->stats, on_collected, m, &m->collector);
    return r < 0 ? log_error_errno(r, "cannot set up the collection: %m") : 0;
}

/* Which host a ledger is of: this one, or one that is described in a file. */
static char *host_identity(const Options *options)
{
    return options->host ? realpath(options->host, NULL) : strdup("xen");
}

static int open_books(Manager *m, const Options *options)
{
    static const BooksHooks hooks = {.read_memory = on_read_memory, .publish = on_published, .ended = on_ended};
    _cleanup_free_ char *host = host_identity(options);
    Ledger *ledger = NULL;
    int r = host ? ledger_store_open(options->state, host, &m->store, &ledger) : log_error_errno(-errno, "%m");

    if (r < 0)
        return r;
    r = books_new(m->event, m->store, ledger, &hooks, m, &m->books);
    if (r >= 0)
        r = placer_new(m->event, m->books, &m->stats, &m->placer);
    return r < 0 ? log_error_errno(r, "cannot set up placement: %m") : 0;
}

static int load_first_settings(const Manager *m, Settings *ret_settings)
{
    _cleanup_free_ char *why = NULL;
    int r = load_settings(m, ret_settings, &why);

    if (r < 0)
        log_error("%s", why ? why : strerror(-r));
    return r;
}

ExitStatus manager_run(const Options *options)
{
    _cleanup_(manager_done)
        Manager m = {.options = options, .stats.since_us = (int64_t)clock_us(CLOCK_REALTIME), .reopened = true};
    Settings settings;
    int r;

    r = sd_event_new(&m.event);
    if (r >= 0)
        r = add_signals(&m);
    if (r < 0)
        return exit_status(log_error_errno(r, "cannot set up the loop: %m"));
    if (load_first_settings(&m, &settings) < 0)
        return EXIT_FAILED;
    r = open_collector(&m, options);
    if (r < 0)
        return exit_status(r);
    r = open_books(&m, options);
    if (r < 0)
        return exit_status(r);
    r = bus_new(m.event, options->bus, &m.stats, &m.bus);
    if (r < 0)
        return r == -EACCES || r == -EPERM ? EXIT_NOT_PERMITTED : EXIT_NO_BUS;
    bus_set_capture(m.bus, capture, &m);
    bus_set_placer(m.bus, m.placer, m.books);
    r = sim_publish(m.bus, m.source);
    if (r < 0)
        return EXIT_FAILED;
    apply_settings(&m, &settings);
    log_settings("settings", &settings);
    r = sd_event_loop(m.event);
    return r < 0 ? exit_status(log_error_errno(r, "the loop failed: %m")) : (ExitStatus)r;
}
