/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/text.h"

/* Prints "numad-xen: what: why" on stderr, control characters escaped. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
int report_no_memory(void); /* reports it and returns STATUS_FAILED */

/*
 * Fills up what is closed of stdin, stdout and stderr with what cannot be written to: nothing that is opened later
 * takes their place, and what is printed to no stdout fails. Call first.
 */
void output_init(void);
/* Writes a text to stdout and empties it. Returns an exit status; a failure is reported, but for a closed pipe. */
int output_write(Text *text);
/* Flushes and closes stdout at the end of the program. 0, or a reported negative errno. */
int output_close(void);
