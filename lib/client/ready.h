/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define ANSWER_USEC (5 * 1000000ull)

uint64_t now_usec(void);

/*
 * Waits until the bus has greeted back: sd-bus greets it in the first call and gives that 90 s; nobody waits so long
 * for a bus that does not answer. With ret_heard the patience is for the first byte, which a person may have to do
 * something for; *ret_heard is whether one came, and then there are ANSWER_USEC more. 0 or a negative errno, -ETIMEDOUT
 * when the time is over.
 */
int ready_wait(sd_bus *bus, uint64_t patience_usec, bool *ret_heard);
