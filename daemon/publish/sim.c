/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "sim.h"

#include "bus.h"
#include "error.h"
#include "sim-domain.h"
#include "sim-fault.h"

#include "daemon/log.h"

/*
 * Who asks is the bus's own answer (request.c), as for a placement. What is done is done within the dispatch: the model
 * builds a domain of any size in less than a millisecond.
 */

#define OPEN SD_BUS_VTABLE_UNPRIVILEGED /* who may call is the bus policy's to say, and refuse_others() */

static int refuse_others(const Request *request)
{
    return sd_bus_reply_method_errorf(request->call, SD_BUS_ERROR_ACCESS_DENIED,
                                      "only root may change the simulated host");
}

static int answer_error(sd_bus_message *call, int r, uint32_t domid)
{
    switch (r) {
    case SIM_E_NO_MEMORY:
        return bus_reply_error(call, BUS_ERROR_NO_FIT, "the host has not so much memory");
    case SIM_E_CLAIM:
        return bus_reply_error(call, BUS_ERROR_NO_FIT, "the host has not so much memory that is free and not claimed");
    case SIM_E_UNKNOWN_DOMAIN:
        return bus_reply_error(call, BUS_ERROR_UNKNOWN_DOMAIN, "there is no domain %" PRIu32, domid);
    case SIM_E_UNFINISHED:
        return bus_reply_error(call, BUS_ERROR_INVALID_REQUEST, "domid: domain %" PRIu32 " is being built", domid);
    case SIM_E_LIMIT:
        return bus_reply_error(call, BUS_ERROR_INVALID_REQUEST,
                               "memory: must be from one page to the domain's maximum");
    case SIM_E_NO_NODE:
        return bus_reply_error(call, BUS_ERROR_INVALID_REQUEST, "node: there is no such node");
    case SIM_E_NOT_STOPPED:
        return bus_reply_error(call, BUS_ERROR_INVALID_REQUEST, "domid: domain %" PRIu32 " is not being built", domid);
    case SIM_E_FAILED:
        return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_FAILED, "the build has failed, as was injected");
    default:
        return r;
    }
}

static int answer_refused(sd_bus_message *call, int r, const char *why)
{
    static const BusError errors[] = {
        [SIM_START_E_INVALID] = BUS_ERROR_INVALID_REQUEST,
        [SIM_START_E_UNKNOWN_TOKEN] = BUS_ERROR_UNKNOWN_TOKEN,
        [SIM_START_E_EXPIRED] = BUS_ERROR_EXPIRED,
        [SIM_START_E_LIMIT] = BUS_ERROR_LIMIT_REACHED,
    };

    return r < 0 ? r : bus_reply_error(call, errors[r], "%s", why);
}

static int answer_nothing(sd_bus_message *call, int r, uint32_t domid)
{
    return r != 0 ? answer_error(call, r, domid) : sd_bus_reply_method_return(call, NULL);
}

/* --- the methods --- */

static int create(Bus *bus, Request *request)
{
    _cleanup_(sim_start_done) SimStart start = {0};
    _cleanup_free_ char *why = NULL;
    Snapshot *snapshot = books_snapshot(bus->place.books);
    domid_t domid = 0;
    int r;

    if (!request_is_privileged(request))
        return refuse_others(request);
    if (!snapshot)
        return -ENODATA;
    r = sim_start_read(request->call, sim_source_rows(bus->simulated), snapshot, &start, &why);
    if (r != 0)
        return answer_refused(request->call, r, why);
    r = sim_source_create(bus->simulated, &start.domain, &domid);
    return r != 0 ? answer_error(request->call, r, domid)
                  : sd_bus_reply_method_return(request->call, "u", (uint32_t)domid);
}

static int destroy(Bus *bus, Request *request)
{
    uint32_t domid = 0;
    int r;

    if (!request_is_privileged(request))
        return refuse_others(request);
    r = sd_bus_message_read(request->call, "u", &domid);
    if (r < 0)
        return r;
    if (domid == 0)
        return bus_reply_error(request->call, BUS_ERROR_INVALID_REQUEST, "domid: domain 0 cannot be destroyed");
    r = domid < DOMAINS_MAX ? sim_source_destroy(bus->simulated, (domid_t)domid) : SIM_E_UNKNOWN_DOMAIN;
    return answer_nothing(request->call, r, domid);
}

static int balloon(Bus *bus, Request *request)
{
    uint64_t bytes = 0;
    uint32_t domid = 0;
    int r;

    if (!request_is_privileged(request))
        return refuse_others(request);
    r = sd_bus_message_read(request->call, "ut", &domid, &bytes);
    if (r < 0)
        return r;
    r = domid < DOMAINS_MAX ? sim_source_balloon(bus->simulated, (domid_t)domid, bytes) : SIM_E_UNKNOWN_DOMAIN;
    return answer_nothing(request->call, r, domid);
}

static int fault(Bus *bus, Request *request)
{
    _cleanup_free_ char *why = NULL;
    SimFault what;
    int r;

    if (!request_is_privileged(request))
        return refuse_others(request);
    r = sim_fault_read(request->call, &what, &why);
    if (r != 0)
        return answer_refused(request->call, r, why);
    return answer_nothing(request->call, sim_source_fault(bus->simulated, &what), what.domid);
}

static int on_create(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, create, ADMIT_PRIVILEGED);
}

static int on_destroy(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, destroy, ADMIT_PRIVILEGED);
}

static int on_balloon(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, balloon, ADMIT_PRIVILEGED);
}

static int on_fault(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return request_add(userdata, call, fault, ADMIT_PRIVILEGED);
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("Create", SD_BUS_ARGS("a{sv}", domain), SD_BUS_RESULT("u", domid), on_create, OPEN),
    SD_BUS_METHOD_WITH_ARGS("Destroy", SD_BUS_ARGS("u", domid), SD_BUS_NO_RESULT, on_destroy, OPEN),
    SD_BUS_METHOD_WITH_ARGS("Balloon", SD_BUS_ARGS("u", domid, "t", bytes), SD_BUS_NO_RESULT, on_balloon, OPEN),
    SD_BUS_METHOD_WITH_ARGS("Fault", SD_BUS_ARGS("s", kind, "a{sv}", arguments), SD_BUS_NO_RESULT, on_fault, OPEN),
    SD_BUS_VTABLE_END,
};

int sim_publish(Bus *bus, Source *source)
{
    int r;

    if (!source_is_simulated(source))
        return 0;
    bus->simulated = source;
    r = sd_bus_add_object_vtable(bus->bus, NULL, BUS_PATH, SIM_INTERFACE, vtable, bus);
    return r < 0 ? log_error_errno(r, "cannot publish the simulated host: %m") : 0;
}
