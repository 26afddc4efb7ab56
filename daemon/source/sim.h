/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/source.h"
#include "lib/core/sim-host.h"

/*
 * What can be done to a simulated host from outside: what a toolstack does on a real one, and what goes wrong there.
 * All of it is lost when the host description is read again.
 */

bool source_is_simulated(const Source *source);
const HostRows *sim_source_rows(const Source *source);

/* As sim_host_create(); a stop-build or fail-build that was injected acts on it. A stopped one is there, half built. */
#define SIM_E_FAILED 7 /* as was injected */
int sim_source_create(Source *source, const SimDomain *domain, domid_t *ret_domid);
int sim_source_destroy(Source *source, domid_t domid);
int sim_source_balloon(Source *source, domid_t domid, uint64_t bytes);

typedef enum SimFaultKind {
    SIM_FAULT_TAKE,         /* node, bytes: memory that nobody told the daemon of goes */
    SIM_FAULT_GIVE,         /* node, bytes: and comes */
    SIM_FAULT_STOP_BUILD,   /* bytes: the next build stops there */
    SIM_FAULT_RESUME_BUILD, /* domid: and goes on */
    SIM_FAULT_FAIL_BUILD,   /* bytes: the next build fails there */
    SIM_FAULT_READ,         /* memory, error, times: so many readings fail */
    SIM_FAULT_LOSE_EVENTS,  /* domains come and go unheard */
    SIM_FAULT_SLOW,         /* ms: from now on a collection takes so long, and tells how the host was when it began */
    SIM_FAULT_BUSY,         /* on: no CPU is idle, so that what is given back stays dirty */
    _SIM_FAULT_MAX
} SimFaultKind;

typedef struct SimFault {
    SimFaultKind kind;
    nodeid_t node;
    uint64_t bytes;
    domid_t domid;
    bool memory; /* of decisions; else whole collections */
    int error;   /* errno, positive */
    uint32_t times, ms;
    bool on;
} SimFault;

#define SIM_E_NOT_STOPPED 8 /* there is no build of that domain to resume */
/* 0, SIM_E_* as what it does, or negative. */
int sim_source_fault(Source *source, const SimFault *fault);
