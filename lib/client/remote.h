/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The system bus of another host, over ssh.
 */

#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

/* ssh may ask a person for a password, who has this long; a host that does not answer is given up then. */
#define REMOTE_PATIENCE_USEC (60 * 1000000ull)

/*
 * Connects. On success *ret_ssh is the process that holds the connection: remote_end() it after the bus is closed.
 * On failure a negative errno of numadxen.h, and *ret_text (owned; NULL when memory is short) says why.
 */
int remote_open(const char *host, uint64_t patience_usec, sd_bus **ret_bus, pid_t *ret_ssh, char **ret_text);

/* Ends ssh and takes its status, in bounded time whatever it does. 0 is nobody. */
void remote_end(pid_t ssh);
