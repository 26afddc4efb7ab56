/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "feed.h"
#include "view.h"

/* What was looked at, and what to do where it is not as it should be. Checks that could not be made are not listed. */
typedef struct Check {
    const char *code; /* stable */
    bool ok;
    char *text; /* owned */
    char *fix;  /* owned, "" when there is nothing to do; of a check that is ok: what might make the host better */
} Check;

typedef struct CheckList {
    Check *items;
    size_t n;
    bool failed; /* memory was short */
} CheckList;

/* What to do about a bus and its daemon: of the machine's system bus, where systemd starts them, or of another one. */
typedef struct DoctorAdvice {
    const char *start_bus, *admit, *start, *restart, *log;
} DoctorAdvice;

void check_list_done(CheckList *checks);
/* `fix` is for a check that is not ok. */
void check_list_add(CheckList *checks, const char *code, bool ok, const char *fix, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* One that is ok, for the daemon copes, with what might make the host better. */
void check_list_advise(CheckList *checks, const char *code, const char *advice, const char *text);
bool check_list_all_ok(const CheckList *checks);

/* Of this machine: is it dom0, may its hypervisor be asked, is the bus policy there. */
void doctor_check_machine(CheckList *checks);
void doctor_check_policy(CheckList *checks);
/* Of a status, whoever told it. now: CLOCK_REALTIME in seconds, -1: its age says nothing. */
void doctor_check_status(CheckList *checks, const StatusView *view, int64_t now, const DoctorAdvice *advice);
/* What hypervisor and firmware say of the host's topology. */
void doctor_check_topology(CheckList *checks, const StatusView *view);
/* Texts of the warnings of one code, one after the other; NULL: there are none. */
char *doctor_warnings_of(const HostView *host, const char *code);
/* The machine's system bus, another one, or another machine's; a daemon that is not asked is as on another bus. */
const DoctorAdvice *doctor_advice(bool system_bus, bool remote);
