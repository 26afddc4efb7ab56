/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* The interface org.numadxen.NumadXen1, as proto/org.numadxen.NumadXen1.xml has it; userdata is the Bus. */
extern const sd_bus_vtable bus_vtable[];
