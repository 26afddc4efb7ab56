/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "daemon/source/sim.h"

#include <systemd/sd-bus.h>

#define SIM_FAULT_E_INVALID 1
/* Reads the "sa{sv}" of Fault(). 0; SIM_FAULT_E_INVALID, and *ret_why (owned) says why; or negative. */
int sim_fault_read(sd_bus_message *call, SimFault *ret_fault, char **ret_why);
