/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "place.h"

#include "bus.h"
#include "error.h"
#include "place-reply.h"
#include "place-request.h"
#include "reply.h"
#include "shown.h"

#include "daemon/log.h"
#include "lib/core/placement-document.h"

#include <string.h>

/*
 * Who asks is the bus's own answer (request.c). From there on a call waits for the placer; a Place whose sender goes
 * away before it is answered is taken back, so that nothing stays promised to nobody. Before it is answered the bus is
 * asked once more whether the sender is there: what is then left of the race ends with the reservation's time.
 */

struct PlaceCall {
    Bus *bus;
    sd_bus_message *call;
    PlacerCall *placing;        /* NULL: the placer has told what came of it */
    bool undone_without_sender; /* a Place; a Commit or Release that was sent is done */
    sd_bus_message *reply;      /* of a Place that is decided: waits for */
    sd_bus_slot *asking;        /* whether its sender is there */
    domid_t domid;              /* of a commit */
    char token[TOKEN_SIZE];     /* of a commit, and of a Place that is decided */
    PlaceCall *next;
};

static void call_free(PlaceCall *call)
{
    sd_bus_message_unref(call->call);
    sd_bus_message_unref(call->reply);
    sd_bus_slot_unref(call->asking);
    free(call);
}

static PlaceCall *call_new(Bus *bus, sd_bus_message *message)
{
    PlaceCall *call = calloc(1, sizeof(*call));

    if (!call)
        return NULL;
    *call = (PlaceCall){.bus = bus, .call = sd_bus_message_ref(message), .next = bus->place.waiting};
    bus->place.waiting = call;
    return call;
}

static void forget(PlaceCall *call)
{
    PlaceCall **at = &call->bus->place.waiting;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    call_free(call);
}

/* A system's errno has no name on the bus: "No space left on device" is not NoFit. */
static int answer_error(sd_bus_message *call, int error, const char *why)
{
    static const BusError names[] = {
        [PLACER_E_NOFIT] = BUS_ERROR_NO_FIT,
        [PLACER_E_INVALID] = BUS_ERROR_INVALID_REQUEST,
        [PLACER_E_LIMIT] = BUS_ERROR_LIMIT_REACHED,
        [PLACER_E_UNKNOWN_DOMAIN] = BUS_ERROR_UNKNOWN_DOMAIN,
        [PLACER_E_UNKNOWN_TOKEN] = BUS_ERROR_UNKNOWN_TOKEN,
        [PLACER_E_EXPIRED] = BUS_ERROR_EXPIRED,
    };

    if (error < 0)
        return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_FAILED, "nothing was changed: %s",
                                          why ? why : strerror(-error));
    if (error == PLACER_E_DENIED)
        return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_ACCESS_DENIED, "%s", why);
    return bus_reply_error(call, names[error], "%s", why);
}

static void log_failed_answer(int r)
{
    if (r < 0 && r != -ENOTCONN)
        log_errno(LOG_WARNING, r, "cannot answer a request, ignoring: %m");
}

/* --- Place --- */

static void on_undone(const PlacerOutcome *outcome, void *userdata)
{
    (void)outcome; /* else its time runs out */
    (void)userdata;
}

/* What was promised is given back. */
static void undo(PlaceCall *call)
{
    PlacerCall *undoing;

    (void)placer_release(call->bus->place.placer, call->token, 0, on_undone, NULL, &undoing);
}

static int on_sender(sd_bus_message *answer, void *userdata, sd_bus_error *ret_error)
{
    PlaceCall *call = userdata;
    int there = 1;

    (void)sd_bus_message_read(answer, "b", &there); /* an error says nothing */
    if (there)
        log_failed_answer(sd_bus_send(call->bus->bus, call->reply, NULL));
    else
        undo(call);
    forget(call);
    return 0;
}

/* Answers when the sender is known to be there still. */
static int answer_placed(PlaceCall *call, const PlacerOutcome *outcome)
{
    int r = place_reply_new(call->call, outcome->reservation->token, outcome->placement, outcome->expires_ms,
                            &call->reply);

    memcpy(call->token, outcome->reservation->token, sizeof(call->token));
    if (r == -EMSGSIZE) {
        undo(call);
        return bus_reply_error(call->call, BUS_ERROR_LIMIT_REACHED,
                               "no D-Bus message could carry the answer: ask for fewer vCPUs");
    }
    if (r >= 0)
        r = sd_bus_call_method_async(call->bus->bus, &call->asking, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                     "org.freedesktop.DBus", "NameHasOwner", on_sender, call, "s",
                                     sd_bus_message_get_sender(call->call));
    if (r < 0)
        undo(call);
    return r;
}

static void on_placed(const PlacerOutcome *outcome, void *userdata)
{
    PlaceCall *call = userdata;
    int r;

    call->placing = NULL;
    if (outcome->error)
        r = answer_error(call->call, outcome->error, outcome->why);
    else if ((r = answer_placed(call, outcome)) < 0)
        r = answer_error(call->call, r, NULL);
    log_failed_answer(r);
    if (!call->asking)
        forget(call);
}

static int deny(sd_bus_message *call, const char *what)
{
    return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_ACCESS_DENIED, "only root may %s", what);
}

static int refuse_request(Bus *bus, sd_bus_message *call, const char *why)
{
    bus->stats->invalid++;
    return bus_reply_error(call, BUS_ERROR_INVALID_REQUEST, "%s", why);
}

/* The placer did not take it. */
static int refuse_call(PlaceCall *call, int r)
{
    sd_bus_message *message = sd_bus_message_ref(call->call);

    forget(call);
    r = r == PLACER_E_LIMIT
            ? bus_reply_error(message, BUS_ERROR_LIMIT_REACHED, "%u requests are waiting already", PLACER_CALLS_MAX)
            : r;
    sd_bus_message_unref(message);
    return r;
}

/* The caller's user is known. */
static int begin_place(Bus *bus, Request *request)
{
    _cleanup_(placement_request_done) PlacementRequest placement = {0};
    _cleanup_free_ char *why = NULL;
    PlaceCall *call;
    int r;

    if (!request_is_privileged(request))
        return deny(request->call, "place domains");
    r = place_request_read(request->call, &placement, &why);
    if (r == REQUEST_E_INVALID)
        return refuse_request(bus, request->call, why);
    if (r < 0)
        return r;
    call = call_new(bus, request->call);
    if (!call)
        return -ENOMEM;
    call->undone_without_sender = true;
    r = placer_place(bus->place.placer, &placement, request->uid, on_placed, call, &call->placing);
    return r == 0 ? 1 : refuse_call(call, r);
}

int place_call(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, begin_place, ADMIT_PRIVILEGED);
}

/* --- Commit and Release --- */

static void on_changed(const PlacerOutcome *outcome, void *userdata)
{
    PlaceCall *call = userdata;
    int r;

    if (outcome->error)
        r = answer_error(call->call, outcome->error, outcome->why);
    else
        r = sd_bus_reply_method_return(call->call, NULL);
    log_failed_answer(r);
    forget(call);
}

static void on_committed(const PlacerOutcome *outcome, void *userdata)
{
    PlaceCall *call = userdata;

    if (!outcome->error && outcome->changed)
        log_failed_answer(sd_bus_emit_signal(call->bus->bus, BUS_PATH, BUS_INTERFACE, "DomainPlaced", "us",
                                             (uint32_t)call->domid, call->token));
    on_changed(outcome, userdata);
}

#define TOKEN_SHOWN 40 /* bytes: a token, and what makes it none */

static int refuse_token(sd_bus_message *call, const char *token)
{
    return bus_reply_error(call, BUS_ERROR_UNKNOWN_TOKEN, "'%s' is no token", shown_some(token, TOKEN_SHOWN).text);
}

static int begin_commit(Bus *bus, Request *request)
{
    const char *token;
    uint32_t domid;
    PlaceCall *call;
    int r = sd_bus_message_read(request->call, "su", &token, &domid);

    if (r < 0)
        return r;
    if (!request_is_privileged(request))
        return deny(request->call, "commit placements");
    if (!token_is_valid(token))
        return refuse_token(request->call, token);
    if (domid >= DOMAINS_MAX)
        return bus_reply_error(request->call, BUS_ERROR_UNKNOWN_DOMAIN, "there is no domain %" PRIu32, domid);
    call = call_new(bus, request->call);
    if (!call)
        return -ENOMEM;
    call->domid = (domid_t)domid;
    memcpy(call->token, token, sizeof(call->token));
    r = placer_commit(bus->place.placer, token, call->domid, request->uid, on_committed, call, &call->placing);
    return r == 0 ? 1 : refuse_call(call, r);
}

int place_commit(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, begin_commit, ADMIT_PRIVILEGED);
}

static int begin_release(Bus *bus, Request *request)
{
    const char *token;
    PlaceCall *call;
    int r = sd_bus_message_read(request->call, "s", &token);

    if (r < 0)
        return r;
    if (!request_is_privileged(request))
        return deny(request->call, "release placements");
    if (!token_is_valid(token))
        return refuse_token(request->call, token);
    call = call_new(bus, request->call);
    if (!call)
        return -ENOMEM;
    r = placer_release(bus->place.placer, token, request->uid, on_changed, call, &call->placing);
    return r == 0 ? 1 : refuse_call(call, r);
}

int place_release(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, begin_release, ADMIT_PRIVILEGED);
}

/* --- Explain --- */

static void search_free(void *search)
{
    placement_search_free(search);
}

/* 0, or as the answer function when the call is answered. */
static int begin_search(Bus *bus, Request *request)
{
    PlacementOptions options = placer_options(bus->place.placer);
    _cleanup_(placement_request_done) PlacementRequest placement = {0};
    _cleanup_free_ char *why = NULL;
    PlacementSearch *search = NULL;
    int r = place_request_read(request->call, &placement, &why);

    if (r == REQUEST_E_INVALID)
        return bus_reply_error(request->call, BUS_ERROR_INVALID_REQUEST, "%s", why);
    options.explain = true;
    if (r >= 0)
        r = placement_search_new(books_snapshot(bus->place.books), &placement, &options, &search);
    if (r < 0)
        return r;
    request->work = search;
    request->work_free = search_free;
    return 0;
}

static int answer_explain(Bus *bus, Request *request)
{
    _cleanup_(placement_free_p) Placement *placement = NULL;
    _cleanup_free_ char *why = NULL, *text = NULL;
    int r = request->work ? 0 : begin_search(bus, request);

    if (r != 0)
        return r;
    r = placement_search_step(request->work, &placement, &why);
    if (r == PLACEMENT_E_NOFIT)
        return bus_reply_error(request->call, BUS_ERROR_NO_FIT, "%s", why);
    if (r == PLACEMENT_E_INVALID)
        return bus_reply_error(request->call, BUS_ERROR_INVALID_REQUEST, "%s", why);
    if (r == 0)
        r = placement_document(placement, &(PlacementDocument){.expires_ms = VALUE_UNKNOWN}, &text);
    return r < 0 ? r : reply_text(request->call, text, strlen(text));
}

int place_explain(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, answer_explain, ADMIT_LIMITED);
}

void place_left(Bus *bus, const char *sender)
{
    PlaceCall *next;

    for (PlaceCall *call = bus->place.waiting; call; call = next) {
        const char *from = sd_bus_message_get_sender(call->call);

        next = call->next;
        if (!call->undone_without_sender || !from || strcmp(from, sender) != 0)
            continue;
        if (call->placing)
            placer_cancel(bus->place.placer, call->placing);
        else
            undo(call);
        forget(call);
    }
}

void place_done(Bus *bus)
{
    while (bus->place.waiting)
        forget(bus->place.waiting);
}
