/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Prints the introspection XML of the daemon's object on stdout. 0 or negative; it has logged why. */
int introspect_print(void);
