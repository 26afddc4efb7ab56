/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "bus.h"
#include "error.h"

#include "daemon/clock.h"
#include "daemon/turn.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

/*
 * Three things may keep a request waiting, and none may hold up the loop or grow without bound.
 *
 * Its caller: limits go by user, and the bus tells a sender's user only when asked. The first request of a sender
 * asks, later ones of the same sender wait for the same answer, and a cache remembers it.
 *
 * The answers before it: a status may have a megabyte, and a bus that is slow to take them would have us hold one
 * for each request. So only WRITES_MAX messages may be queued for writing; the rest wait as requests, which are
 * small and counted, and go on when a dispatch of the loop has shortened the queue.
 *
 * Its own answer: a status of thousands of domains is built in steps, one a dispatch. Those behind it wait too, but not
 * those that change something.
 */

#define WRITES_MAX 2u
#define READ_AHEAD_US 10000u

static void request_free(Request *request)
{
    if (request->work)
        request->work_free(request->work);
    sd_bus_message_unref(request->call);
    sd_bus_slot_unref(request->lookup);
    free(request);
}

static void remove_request(Requests *requests, size_t i)
{
    request_free(requests->items[i]);
    requests->n--;
    for (; i < requests->n; i++)
        requests->items[i] = requests->items[i + 1];
}

static bool may_write(Bus *bus)
{
    uint64_t n = 0;

    return sd_bus_get_n_queued_write(bus->bus, &n) < 0 || n < WRITES_MAX;
}

/* Answers one that is admitted. -EAGAIN: it is being built; else it is gone from the queue. */
static int answer_one(Bus *bus, size_t i)
{
    Request *request = bus->requests.items[i];
    int r = request->answer(bus, request);

    if (r == -EAGAIN)
        return r;
    if (r < 0 && r != -ENOTCONN)
        (void)sd_bus_reply_method_errno(request->call, r, NULL);
    remove_request(&bus->requests, i);
    return 0;
}

static bool is_urgent(const Request *request)
{
    return request->admission == ADMIT_PRIVILEGED;
}

/* The oldest that can be answered, of those that are urgent or of the others; requests->n: there is none. */
static size_t find_admitted(const Requests *requests, bool urgent)
{
    size_t i = 0;

    while (i < requests->n && (!requests->items[i]->admitted || is_urgent(requests->items[i]) != urgent))
        i++;
    return i;
}

/*
 * What changes something goes before what reads, and costs little here: a start of a domain does not wait for
 * documents. Those that read are answered one a turn.
 */
static void answer_admitted(Bus *bus)
{
    Requests *requests = &bus->requests;
    size_t i;

    while (may_write(bus) && (i = find_admitted(requests, true)) < requests->n)
        if (answer_one(bus, i) == -EAGAIN)
            break;
    (void)sd_event_source_set_enabled(requests->drained, requests->n > 0 ? SD_EVENT_ON : SD_EVENT_OFF);
    (void)sd_event_source_set_enabled(requests->work, find_admitted(requests, false) < requests->n && may_write(bus)
                                                          ? SD_EVENT_ON
                                                          : SD_EVENT_OFF);
}

static int on_dispatched(sd_event_source *source, void *userdata)
{
    answer_admitted(userdata);
    return 0;
}

/* Whether messages have come that nobody has looked at yet. */
static bool has_input(Bus *bus)
{
    struct pollfd socket = {.fd = sd_bus_get_fd(bus->bus), .events = POLLIN};
    uint64_t n = 0;

    return (sd_bus_get_n_queued_read(bus->bus, &n) >= 0 && n > 0) || poll(&socket, 1, 0) > 0;
}

/*
 * An answer, or a step of one that takes several. What has come is looked at first, as it may be urgent; but not for
 * longer than READ_AHEAD_US, since it may never end.
 */
static int on_work(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    Bus *bus = userdata;
    Requests *requests = &bus->requests;
    size_t i = find_admitted(requests, false);

    if (clock_us(CLOCK_MONOTONIC) - requests->worked_us < READ_AHEAD_US && has_input(bus))
        return 0;
    if (i < requests->n && may_write(bus))
        (void)answer_one(bus, i);
    requests->worked_us = clock_us(CLOCK_MONOTONIC);
    answer_admitted(bus);
    return 0;
}

static int refuse_over_limit(Bus *bus, sd_bus_message *call)
{
    return bus_reply_error(call, BUS_ERROR_LIMIT_REACHED, "more than %u requests a second", bus->limit.per_s);
}

bool request_is_privileged(const Request *request)
{
    return request->uid == 0 || request->uid == geteuid();
}

/* Whether the user may; if not, the call has been answered. */
static bool admit(Bus *bus, Request *request, uid_t uid)
{
    uint64_t now = 0;

    request->uid = uid;
    request->admitted = (request->admission == ADMIT_PRIVILEGED && request_is_privileged(request)) ||
                        sd_event_now(bus->event, CLOCK_MONOTONIC, &now) < 0 || limit_take(&bus->limit, uid, now);
    if (!request->admitted)
        (void)refuse_over_limit(bus, request->call);
    return request->admitted;
}

/* The bus says who a sender is, or that it is gone. Goes on with all requests of that sender. */
static void settle(Bus *bus, const char *sender, const sd_bus_error *error, uid_t uid)
{
    Requests *requests = &bus->requests;

    for (size_t i = 0; i < requests->n;) {
        Request *request = requests->items[i];

        if (request->admitted || strcmp(sd_bus_message_get_sender(request->call), sender) != 0)
            i++;
        else if (error) {
            (void)sd_bus_reply_method_error(request->call, error);
            remove_request(requests, i);
        } else if (admit(bus, request, uid)) {
            request->lookup = sd_bus_slot_unref(request->lookup); /* asked no longer */
            i++;
        } else
            remove_request(requests, i);
    }
}

static int on_uid(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error)
{
    Bus *bus = userdata;
    sd_bus_slot *slot = sd_bus_get_current_slot(bus->bus);
    const sd_bus_error *error = sd_bus_message_get_error(reply);
    _cleanup_free_ char *sender = NULL;
    uint32_t uid = 0;
    int r;

    for (size_t i = 0; i < bus->requests.n && !sender; i++)
        if (bus->requests.items[i]->lookup == slot)
            sender = strdup(sd_bus_message_get_sender(bus->requests.items[i]->call));
    if (!sender)
        return -ENOMEM;
    r = error ? 0 : sd_bus_message_read(reply, "u", &uid);
    if (!error && r >= 0)
        callers_add(&bus->callers, sender, uid);
    settle(bus, sender, r < 0 ? &SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_FAILED, "the bus does not say who asks") : error,
           uid);
    answer_admitted(bus);
    return 0;
}

static bool is_asked(const Requests *requests, const char *sender)
{
    for (size_t i = 0; i < requests->n; i++)
        if (requests->items[i]->lookup && strcmp(sd_bus_message_get_sender(requests->items[i]->call), sender) == 0)
            return true;
    return false;
}

/* Sets `admitted` or starts a lookup. 1: the call has been answered with an error. */
static int begin_request(Bus *bus, Request *request)
{
    const char *sender = sd_bus_message_get_sender(request->call);
    uid_t uid;

    request->admitted = request->admission == ADMIT_ALL;
    if (request->admitted)
        return 0;
    if (!sender)
        return -EINVAL;
    if (callers_find(&bus->callers, sender, &uid))
        return admit(bus, request, uid) ? 0 : 1;
    if (is_asked(&bus->requests, sender))
        return 0;
    return MIN(0, sd_bus_call_method_async(bus->bus, &request->lookup, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                           "org.freedesktop.DBus", "GetConnectionUnixUser", on_uid, bus, "s", sender));
}

/* How many wait that are urgent, or that are not: readers do not take the room of those who change something. */
static size_t count_waiting(const Requests *requests, bool urgent)
{
    size_t n = 0;

    for (size_t i = 0; i < requests->n; i++)
        n += is_urgent(requests->items[i]) == urgent;
    return n;
}

void requests_left(Bus *bus, const char *sender)
{
    Requests *requests = &bus->requests;

    for (size_t i = 0; i < requests->n;) {
        const char *from = sd_bus_message_get_sender(requests->items[i]->call);

        if (from && strcmp(from, sender) == 0)
            remove_request(requests, i);
        else
            i++;
    }
}

int request_add(Bus *bus, sd_bus_message *call, AnswerFunction answer, Admission admission)
{
    Requests *requests = &bus->requests;
    Request *request;
    int r;

    if (count_waiting(requests, admission == ADMIT_PRIVILEGED) == REQUESTS_MAX)
        return bus_reply_error(call, BUS_ERROR_LIMIT_REACHED, "%u requests are waiting already", REQUESTS_MAX);
    request = calloc(1, sizeof(*request));
    if (!request)
        return -ENOMEM;
    *request = (Request){.call = sd_bus_message_ref(call), .answer = answer, .admission = admission, .uid = (uid_t)-1};
    r = begin_request(bus, request);
    if (r != 0) {
        request_free(request);
        return r;
    }
    requests->items[requests->n++] = request;
    answer_admitted(bus);
    return 1;
}

int requests_init(Bus *bus)
{
    Requests *requests = &bus->requests;
    int r = sd_event_add_post(bus->event, &requests->drained, on_dispatched, bus);

    if (r >= 0)
        r = sd_event_source_set_enabled(requests->drained, SD_EVENT_OFF);
    if (r >= 0)
        r = turn_add(bus->event, &requests->work, on_work, bus);
    return r < 0 ? r : sd_event_source_set_enabled(requests->work, SD_EVENT_OFF);
}

void requests_done(Bus *bus)
{
    while (bus->requests.n > 0)
        remove_request(&bus->requests, bus->requests.n - 1);
    bus->requests.drained = sd_event_source_disable_unref(bus->requests.drained);
    bus->requests.work = sd_event_source_disable_unref(bus->requests.work);
}
