/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

/*
 * The daemon's state directory: small files that survive its end, whatever ends it. A file is replaced as a whole, and
 * is on the disk before state_write() returns. What stands in it may have been put there by anyone who could.
 */
typedef struct State State;

#define STATE_DIRECTORY "/run/numad-xen"

/*
 * Makes the directory where there is none (0700) and locks it. *ret_why (owned) says what is wrong and what to do:
 * -EBUSY: another daemon has it; -EPERM: it is another user's, or others may write to it; else what the system says.
 */
int state_open(const char *path, State **ret_state, char **ret_why);
State *state_free(State *state); /* takes NULL, returns NULL; lets the lock go */

/*
 * -ENOENT: there is none. STATE_E_ODD: a link, no regular file, another user's, or others may write to it; -EFBIG:
 * larger than `max`.
 */
#define STATE_E_ODD 1
int state_read(State *state, const char *name, size_t max, char **ret_text, size_t *ret_size);
/*
 * All of it or nothing. Negative: the old file is still there; only when the directory itself could not be made sure
 * of, which no file system in memory has, it may be the new one.
 */
int state_write(State *state, const char *name, const char *text, size_t size);
/* Renames it, so that a person can look at it: "ledger.json" to "ledger.json.bad", in place of an older one. */
int state_set_aside(State *state, const char *name);
