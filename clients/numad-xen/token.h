/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "command.h"

/* Arguments of the commands that are about a reservation. */
typedef struct TokenArguments {
    const char *items[2];
    size_t n, max;
    const char *usage; /* "TOKEN DOMID" */
    const char *command;
} TokenArguments;

/* Reads exactly `max` arguments, the first of which is a token, and refuses --host. As options_parse(). */
int token_arguments_read(const Command *command, Globals *globals, int argc, char **argv, TokenArguments *arguments);
