/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/source.h"

/*
 * The interface org.numadxen.NumadXen1.Sim on the daemon's object, as proto/org.numadxen.NumadXen1.Sim.xml has it: a
 * simulated host's domains come and go by it. A real host does not have it.
 */
typedef struct Bus Bus;

#define SIM_INTERFACE "org.numadxen.NumadXen1.Sim"

/* Before the first call can come; does nothing for a source that is not simulated. Borrows it. 0 or negative. */
int sim_publish(Bus *bus, Source *source);
