/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "options.h"

/* The exit statuses are those of the command-line tool where they mean the same. */
typedef enum ExitStatus {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NO_BUS = 4,
    EXIT_NOT_PERMITTED = 5,
} ExitStatus;

/* Runs until a signal stops it or it cannot go on. It has logged why. */
ExitStatus manager_run(const Options *options);
