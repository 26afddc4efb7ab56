/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "command.h"
#include "lib/core/remote-host.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

#define OPTION_REMOTE 'H' /* has no long form */
enum { OPTION_HOST = 1000, OPTION_BUS, OPTION_NO_COLOR, OPTION_HELP, OPTION_VERSION };

static const struct option global_options[] = {
    {"host", required_argument, NULL, OPTION_HOST},   {"bus", required_argument, NULL, OPTION_BUS},
    {"no-color", no_argument, NULL, OPTION_NO_COLOR}, {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
};

static const char global_help[] = "Options of every command, before or after it:\n"
                                  "  --host FILE    answer from a host description, or the folder of a capture,\n"
                                  "                 without a daemon\n"
                                  "  --bus ADDRESS  ask on this D-Bus bus instead of the system bus\n"
                                  "  -H [USER@]HOST ask another host's daemon, over ssh\n"
                                  "  --no-color     no colours on a terminal\n"
                                  "  --help         print this\n"
                                  "  --version      print the version\n"
                                  "\n"
                                  "Exit status: 0 done; 1 failed; 2 usage; 3 no room; 4 no daemon, no bus or no\n"
                                  "answer; 5 not permitted.\n";

static void print_help(const Command *command)
{
    if (command)
        printf("Usage: numad-xen %s %s\n\n%s.\n\n%s\n%s", command->name, command->synopsis, command->summary,
               command->help, global_help);
    else {
        printf("Usage: numad-xen COMMAND [OPTION...]\n\nWhere the memory of a Xen host's domains lies, and where it is to go.\n\n");
        for (const Command *c = commands; c->name; c++)
            printf("  %-12s %s\n", c->name, c->summary);
        printf("\nnumad-xen COMMAND --help tells a command's options.\n\n%s", global_help);
    }
}

/* Ends what a message began; `command` may be NULL. */
static int usage_error(const Command *command)
{
    fprintf(stderr, "Try 'numad-xen %s%s--help'.\n", command ? command->name : "", command ? " " : "");
    return STATUS_USAGE;
}

static int set_text(const char **to, const char *option, const char *value)
{
    if (!*value) {
        report("%s: an empty value", option);
        return STATUS_USAGE;
    }
    *to = value;
    return 0;
}

static int set_remote(const char **to, const char *value)
{
    const char *fault = remote_host_fault(value);

    if (fault) {
        report("-H: '%s': %s: give [USER@]HOST", value, fault);
        return STATUS_USAGE;
    }
    *to = value;
    return 0;
}

/* Whether `given`, "--NAME" or "--NAME=VALUE", may stand for the option. */
static bool may_be(const char *given, const struct option *option)
{
    return strncmp(given, "--", 2) == 0 && strncmp(given + 2, option->name, strcspn(given + 2, "=")) == 0;
}

/*
 * Says what getopt, which would print any byte as it is, only tells by ':' (no value) or '?'. `given` is the argument
 * that it read last; optopt is 0 for a long option that it does not know, else the option's letter or number.
 */
static int refuse_option(const Command *command, const struct option *all, int why, const char *given)
{
    const char *of = command ? command->name : "", *colon = command ? ": " : "";
    const struct option *known = NULL;
    unsigned candidates = 0;

    for (; all->name; all++) {
        candidates += may_be(given, all);
        if (optopt && all->val == optopt && may_be(given, all))
            known = all;
    }
    if (known)
        report("%s%s--%s: %s", of, colon, known->name, why == ':' ? "needs a value" : "takes no value");
    else if (optopt)
        report("%s%s-%c: %s", of, colon, optopt, why == ':' ? "needs a value" : "no such option");
    else
        report("%s%s%s: %s", of, colon, given, candidates > 1 ? "may be more than one option" : "no such option");
    return usage_error(command);
}

/* 0, OPTION_END or an exit status above 0. */
static int take_global(const Command *command, Globals *globals, int option, const char *value)
{
    switch (option) {
    case OPTION_HOST:
        return set_text(&globals->host, "--host", value);
    case OPTION_BUS:
        return set_text(&globals->bus, "--bus", value);
    case OPTION_REMOTE:
        return set_remote(&globals->remote, value);
    case OPTION_NO_COLOR:
        globals->no_color = true;
        return 0;
    case OPTION_HELP:
        print_help(command);
        return OPTION_END;
    default: /* OPTION_VERSION */
        printf("numad-xen %s\n", PACKAGE_VERSION);
        return OPTION_END;
    }
}

int options_parse_globals(Globals *globals, int argc, char **argv, int *ret_index)
{
    struct option all[ARRAY_SIZE(global_options) + 1] = {0};
    int option, r;

    memcpy(all, global_options, sizeof(global_options));
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:H:", all, NULL)) >= 0) {
        if (option == '?' || option == ':')
            return refuse_option(NULL, all, option, argv[optind - 1]);
        r = take_global(NULL, globals, option, optarg);
        if (r != 0)
            return r;
    }
    *ret_index = optind;
    optind = 0; /* getopt starts anew with the command's options */
    return 0;
}

static int check_rest(const Command *command, const Globals *globals, int argc, char **argv)
{
    if (optind < argc) {
        report("%s: %s: takes no such argument", command->name, argv[optind]);
        return usage_error(command);
    }
    if (globals->host && (globals->bus || globals->remote)) {
        report("%s: --host and %s: give one, a host description or a daemon to ask", command->name,
               globals->bus ? "--bus" : "-H");
        return usage_error(command);
    }
    if (globals->bus && globals->remote) {
        report("%s: --bus and -H: give one, a bus of this machine or another machine", command->name);
        return usage_error(command);
    }
    return 0;
}

int options_parse(const Command *command, Globals *globals, int argc, char **argv, const char *short_options,
                  const struct option *long_options, OptionHandler handler, void *state)
{
    struct option all[OPTIONS_MAX + ARRAY_SIZE(global_options) + 1] = {0};
    char letters[2 * OPTIONS_MAX + 8];
    size_t n = 0;
    int option, r;

    while (long_options[n].name && n < OPTIONS_MAX) {
        all[n] = long_options[n];
        n++;
    }
    memcpy(all + n, global_options, sizeof(global_options));
    snprintf(letters, sizeof(letters), "%sH:", short_options);
    while ((option = getopt_long(argc, argv, letters, all, NULL)) >= 0) {
        if (option == '?' || option == ':')
            return refuse_option(command, all, option, argv[optind - 1]);
        r = option >= OPTION_HOST || option == OPTION_REMOTE ? take_global(command, globals, option, optarg)
                                                             : handler(option, optarg, state);
        if (r != 0)
            return r;
    }
    return check_rest(command, globals, argc, argv);
}
