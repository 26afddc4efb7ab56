/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "options.h"

#include "log.h"
#include "state.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "numad-xend [OPTION...]\n"
    "\n"
    "Collects where the memory of a Xen host's domains lies and answers over D-Bus\n"
    "(org.numadxen.NumadXen1). Runs in the foreground.\n"
    "\n"
    "  --host FILE        run on a simulated host from a host description, or from the folder of a\n"
    "                     capture; SIGHUP reads it again\n"
    "  --bus ADDRESS      use this bus instead of the system bus\n"
    "  --config FILE      read the settings from this file; SIGHUP reads it again\n"
    "                     (without this: " OPTIONS_CONFIG ", where there is one)\n"
    "  --state-dir DIR    keep reservations here over a restart of the daemon; made where there is\n"
    "                     none (without this: $RUNTIME_DIRECTORY, else " STATE_DIRECTORY ")\n"
    "  --bus-introspect   print the D-Bus interface as XML and exit\n"
    "  --version          print the version and exit\n"
    "  --help             print this and exit\n"
    "\n"
    "Exit status: 0 stopped by SIGTERM or SIGINT; 1 failure; 2 usage; 4 no bus, or the bus\n"
    "went away; 5 not permitted.\n";

void options_print_help(void)
{
    fputs(help, stdout);
}

static int usage_error(void)
{
    fputs("Try 'numad-xend --help'.\n", stderr);
    return OPTIONS_E_USAGE;
}

static int check_value(const char *option, const char *value)
{
    if (!value || *value)
        return 0;
    log_error("--%s: an empty value", option);
    return usage_error();
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
static int refuse_option(const struct option *all, int why, const char *given)
{
    const struct option *known = NULL;
    unsigned candidates = 0;

    for (; all->name; all++) {
        candidates += may_be(given, all);
        if (optopt && all->val == optopt)
            known = all;
    }
    if (known)
        log_error("--%s: %s", known->name, why == ':' ? "needs a value" : "takes no value");
    else if (optopt)
        log_error("-%c: no such option", optopt);
    else
        log_error("%s: %s", given, candidates > 1 ? "may be more than one option" : "no such option");
    return usage_error();
}

int options_parse(int argc, char **argv, Options *ret_options)
{
    enum { OPTION_HOST = 256, OPTION_BUS, OPTION_CONFIG, OPTION_STATE, OPTION_INTROSPECT, OPTION_VERSION, OPTION_HELP };
    static const struct option names[] = {
        {"host", required_argument, NULL, OPTION_HOST},
        {"bus", required_argument, NULL, OPTION_BUS},
        {"config", required_argument, NULL, OPTION_CONFIG},
        {"state-dir", required_argument, NULL, OPTION_STATE},
        {"bus-introspect", no_argument, NULL, OPTION_INTROSPECT},
        {"version", no_argument, NULL, OPTION_VERSION},
        {"help", no_argument, NULL, OPTION_HELP},
        {0},
    };
    Options options = {0};
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", names, NULL)) >= 0)
        switch (c) {
        case OPTION_HOST:
            options.host = optarg;
            break;
        case OPTION_BUS:
            options.bus = optarg;
            break;
        case OPTION_CONFIG:
            options.config = optarg;
            break;
        case OPTION_STATE:
            options.state = optarg;
            break;
        case OPTION_INTROSPECT:
            options.command = COMMAND_INTROSPECT;
            break;
        case OPTION_VERSION:
            options.command = COMMAND_VERSION;
            break;
        case OPTION_HELP:
            options.command = COMMAND_HELP;
            break;
        default:
            return refuse_option(names, c, argv[optind - 1]);
        }
    if (optind < argc) {
        log_error("%s: takes no arguments", argv[optind]);
        return usage_error();
    }
    if (check_value("host", options.host) || check_value("bus", options.bus) || check_value("config", options.config) ||
        check_value("state-dir", options.state))
        return OPTIONS_E_USAGE;
    *ret_options = options;
    return 0;
}
