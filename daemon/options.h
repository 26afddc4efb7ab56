/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Read when no other file is named; need not be there. */
#define OPTIONS_CONFIG SYSCONFDIR "/numad-xen/numad-xend.conf"

/* What the daemon was asked on its command line. */
typedef enum Command { COMMAND_RUN, COMMAND_HELP, COMMAND_VERSION, COMMAND_INTROSPECT } Command;

typedef struct Options {
    Command command;
    const char *host;   /* a host description; NULL: this Xen host */
    const char *bus;    /* address; NULL: the system bus */
    const char *state;  /* directory of the ledger; NULL: $RUNTIME_DIRECTORY, else STATE_DIRECTORY */
    const char *config; /* a configuration file that must be there; NULL: OPTIONS_CONFIG */
} Options;

#define OPTIONS_E_USAGE 1 /* said why on stderr */
/* 0 or OPTIONS_E_USAGE. The texts belong to argv. */
int options_parse(int argc, char **argv, Options *ret_options);
void options_print_help(void);
