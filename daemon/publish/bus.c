/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "bus.h"

#include "vtable.h"

#include "daemon/count.h"
#include "daemon/log.h"
#include "daemon/manager.h"

#include <sys/socket.h>

#define ANSWER_TIMEOUT_US (5u * 1000u * 1000u)
#define WRITE_MAX (1 << 20) /* bytes; the kernel doubles it for its own needs */
#define DBUS_NAME_EXISTS 3u /* the bus's answer to RequestName */

static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    Bus *bus = userdata;

    log_error("the bus has closed the connection");
    return sd_event_exit(bus->event, EXIT_NO_BUS);
}

static int connect_address(const char *address, sd_bus **ret_bus)
{
    _cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
    int r = sd_bus_new(&bus);

    if (r >= 0)
        r = sd_bus_set_address(bus, address);
    if (r >= 0)
        r = sd_bus_set_bus_client(bus, true);
    if (r >= 0)
        r = sd_bus_start(bus);
    if (r < 0)
        return r;
    *ret_bus = TAKE_PTR(bus);
    return 0;
}

static int connect_bus(const char *address, sd_bus **ret_bus)
{
    int r = address ? connect_address(address, ret_bus) : sd_bus_open_system(ret_bus);

    if (r < 0 && address)
        log_error_errno(r, "cannot connect to the bus at %s: %m", address);
    else if (r < 0)
        log_error_errno(r, "cannot connect to the system bus: %m; start dbus or name another with --bus ADDRESS");
    return r;
}

static int tell_changes(Bus *b, const Snapshot *new, const Snapshot *old)
{
    int r = 0;

    if (new->features != old->features)
        r = sd_bus_emit_properties_changed(b->bus, BUS_PATH, BUS_INTERFACE, "Features", NULL);
    if (r >= 0 && count_nodes(new) != count_nodes(old))
        r = sd_bus_emit_properties_changed(b->bus, BUS_PATH, BUS_INTERFACE, "Nodes", NULL);
    if (r >= 0 && !snapshot_same_topology(new, old))
        r = sd_bus_emit_signal(b->bus, BUS_PATH, BUS_INTERFACE, "TopologyChanged", "t", new->generation);
    return r;
}

static void show(Bus *b, Snapshot *snapshot)
{
    Snapshot *old = b->documents.snapshot ? snapshot_ref(b->documents.snapshot) : NULL;
    int r = 0;

    documents_set(&b->documents, snapshot);
    if (old)
        r = tell_changes(b, snapshot, old);
    if (r < 0 && r != -ENOTCONN) /* then on_disconnected() tells */
        log_errno(LOG_WARNING, r, "cannot tell the bus what has changed, ignoring: %m");
    snapshot_unref(old);
}

static bool is_building(const Bus *b)
{
    return documents_are_writing(&b->documents) && b->requests.n > 0;
}

/* After a dispatch of the loop, which may have completed a text. */
static int on_next_due(sd_event_source *source, void *userdata)
{
    Bus *b = userdata;
    Snapshot *next;

    if (is_building(b))
        return 0;
    next = TAKE_PTR(b->next);
    if (next)
        show(b, next);
    snapshot_unref(next);
    return sd_event_source_set_enabled(b->next_due, SD_EVENT_OFF);
}

/*
 * What the kernel takes at once it copies within one dispatch: not the 8 MiB that sd-bus allows it. The rest waits in
 * sd-bus's queue for the socket to be writable.
 */
static void bound_write(sd_bus *bus)
{
    int fd = sd_bus_get_fd(bus), size = WRITE_MAX;

    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* A name has no owner any more: a caller has gone, if it is a unique one. */
static int on_left(sd_bus_message *signal, void *userdata, sd_bus_error *ret_error)
{
    Bus *b = userdata;
    const char *name;

    if (sd_bus_message_read(signal, "s", &name) < 0)
        return 0;
    requests_left(b, name);
    place_left(b, name);
    return 0;
}

static int serve(Bus *b)
{
    int r = sd_bus_set_method_call_timeout(b->bus, ANSWER_TIMEOUT_US);

    bound_write(b->bus);

    if (r >= 0) /* it would flush first, and wait for a bus that does not read */
        r = sd_bus_set_close_on_exit(b->bus, false);
    if (r >= 0)
        r = sd_bus_add_object_vtable(b->bus, NULL, BUS_PATH, BUS_INTERFACE, bus_vtable, b);
    if (r >= 0) /* made up by sd-bus itself: no match rule reaches the bus */
        r = sd_bus_match_signal(b->bus, NULL, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local",
                                "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, b);
    if (r >= 0)
        r = requests_init(b);
    if (r >= 0) /* one match for all: one for each sender would come too late for who leaves at once */
        r = sd_bus_add_match_async(b->bus, NULL,
                                   "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                                   "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
                                   on_left, NULL, b);
    if (r >= 0)
        r = sd_event_add_post(b->event, &b->next_due, on_next_due, b);
    if (r >= 0)
        r = sd_event_source_set_enabled(b->next_due, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_bus_attach_event(b->bus, b->event, SD_EVENT_PRIORITY_NORMAL);
    return r < 0 ? log_error_errno(r, "cannot set up the bus connection: %m") : 0;
}

int bus_new(sd_event *event, const char *address, Stats *stats, Bus **ret_bus)
{
    Bus *b = calloc(1, sizeof(*b));
    int r;

    if (!b)
        return log_error_errno(-ENOMEM, "cannot set up the bus connection: %m");
    b->event = event;
    b->limit.per_s = LIMIT_REQUESTS_PER_S;
    b->documents.stats = b->stats = stats;
    r = connect_bus(address, &b->bus);
    if (r >= 0)
        r = serve(b);
    if (r < 0) {
        bus_free(b);
        return r;
    }
    *ret_bus = b;
    return 0;
}

Bus *bus_free(Bus *b)
{
    if (!b)
        return NULL;
    requests_done(b);
    gather_done(&b->gather);
    place_done(b);
    sd_event_source_disable_unref(b->patience);
    sd_bus_close_unref(b->bus); /* without a flush, which a stuck bus would hold up */
    documents_set(&b->documents, NULL);
    snapshot_unref(b->next);
    sd_event_source_disable_unref(b->next_due);
    callers_done(&b->callers);
    free(b);
    return NULL;
}

static pid_t owner_pid(Bus *b)
{
    _cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
    pid_t pid = 0;

    if (sd_bus_get_name_creds(b->bus, BUS_NAME, SD_BUS_CREDS_PID, &creds) < 0 || sd_bus_creds_get_pid(creds, &pid) < 0)
        return 0;
    return pid;
}

static int on_name_answer(sd_bus_message *answer, void *userdata, sd_bus_error *ret_error)
{
    Bus *b = userdata;
    int r = -sd_bus_message_get_errno(answer); /* 0: no error */
    uint32_t outcome = 0;

    b->patience = sd_event_source_disable_unref(b->patience);
    if (r == 0)
        r = sd_bus_message_read(answer, "u", &outcome);
    if (r >= 0 && outcome == DBUS_NAME_EXISTS)
        r = -EEXIST;
    if (r == -EEXIST)
        log_error("the bus name " BUS_NAME " is taken by process %d: is numad-xend running already?",
                  (int)owner_pid(b));
    else if (r == -EACCES || r == -EPERM)
        log_error("the bus does not let us own the name " BUS_NAME
                  ": run as root, with numad-xen's bus policy installed");
    else if (r < 0)
        log_error_errno(r, "cannot own the bus name " BUS_NAME ": %m");
    b->owned(MIN(r, 0), b->userdata);
    return 0;
}

static int on_patience_over(sd_event_source *source, uint64_t time, void *userdata)
{
    Bus *b = userdata;

    log_error("the bus does not answer");
    return sd_event_exit(b->event, EXIT_NO_BUS);
}

int bus_own_name(Bus *b, OwnedFunction owned, void *userdata)
{
    int r;

    b->owned = owned;
    b->userdata = userdata;
    r = sd_event_add_time_relative(b->event, &b->patience, CLOCK_MONOTONIC, BUS_PATIENCE_US, 0, on_patience_over, b);
    if (r >= 0)
        r = sd_bus_request_name_async(b->bus, NULL, BUS_NAME, 0, on_name_answer, b);
    return r < 0 ? log_error_errno(r, "cannot ask for the bus name " BUS_NAME ": %m") : 0;
}

void bus_set_snapshot(Bus *b, Snapshot *snapshot)
{
    b->next = snapshot_unref(b->next);
    if (is_building(b) && sd_event_source_set_enabled(b->next_due, SD_EVENT_ON) >= 0)
        b->next = snapshot_ref(snapshot);
    else
        show(b, snapshot);
}

void bus_set_capture(Bus *b, CaptureFunction capture, void *userdata)
{
    b->gather.capture = capture;
    b->gather.userdata = userdata;
}

void bus_captured(Bus *b, int error, const char *text, size_t size)
{
    gather_answer(&b->gather, error, text, size);
}

void bus_set_placer(Bus *b, Placer *placer, const Books *books)
{
    b->place.placer = placer;
    b->place.books = books;
}

void bus_reservation_ended(Bus *b, const char *token)
{
    int r = sd_bus_emit_signal(b->bus, BUS_PATH, BUS_INTERFACE, "ReservationExpired", "s", token);

    if (r < 0 && r != -ENOTCONN)
        log_errno(LOG_WARNING, r, "cannot tell the bus that a reservation has ended, ignoring: %m");
}
