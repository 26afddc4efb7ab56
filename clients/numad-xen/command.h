/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <getopt.h>

/* Exit statuses (contract, section 1). */
enum {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_NOFIT = 3,
    STATUS_NO_DAEMON = 4,
    STATUS_NOT_PERMITTED = 5,
};

/* Options that every command takes, before or after the command. */
typedef struct Globals {
    const char *host;   /* answer from this host description; NULL: ask the daemon */
    const char *bus;    /* NULL: the system bus */
    const char *remote; /* [USER@]HOST, whose system bus is asked; NULL: this machine */
    bool no_color;
} Globals;

typedef struct Command {
    const char *name;
    const char *synopsis; /* options and arguments of its own */
    const char *summary;
    const char *help; /* its options, a line each */
    /* argv[0] is the command. Returns an exit status. */
    int (*run)(const struct Command *command, Globals *globals, int argc, char **argv);
} Command;

int status_run(const Command *command, Globals *globals, int argc, char **argv);
int topology_run(const Command *command, Globals *globals, int argc, char **argv);
int numastat_run(const Command *command, Globals *globals, int argc, char **argv);
int doctor_run(const Command *command, Globals *globals, int argc, char **argv);
int gather_run(const Command *command, Globals *globals, int argc, char **argv);
int place_run(const Command *command, Globals *globals, int argc, char **argv);
int reservations_run(const Command *command, Globals *globals, int argc, char **argv);
int commit_run(const Command *command, Globals *globals, int argc, char **argv);
int release_run(const Command *command, Globals *globals, int argc, char **argv);
int sim_run(const Command *command, Globals *globals, int argc, char **argv);

/* An option of the command's own: 0, or an exit status above 0. */
typedef int (*OptionHandler)(int option, const char *value, void *state);

#define OPTION_END (-1) /* --help or --version was answered: the program is done */
/*
 * Reads the options of a command, its own (short: one letter each, as getopt wants them after a ':'; long: ended by a
 * zero entry, at most OPTIONS_MAX) and the global ones. Refuses arguments that are no options, unless the short ones
 * begin with '-': these then go to the handler as option 1. 0, an exit status above 0 (reported), or OPTION_END.
 */
#define OPTIONS_MAX 24
int options_parse(const Command *command, Globals *globals, int argc, char **argv, const char *short_options,
                  const struct option *long_options, OptionHandler handler, void *state);
/* Reads the global options in front of the command; *ret_index is the command's place in argv. */
int options_parse_globals(Globals *globals, int argc, char **argv, int *ret_index);

/* The table of commands, ended by an entry without a name. */
extern const Command commands[];
const Command *command_find(const char *name);
