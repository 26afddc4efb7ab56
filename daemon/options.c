/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "options.h"

#include <getopt.h>
#include <stdio.h>

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
    fprintf(stderr, "numad-xend: --%s: an empty value\n", option);
    return usage_error();
}

int options_parse(int argc, char **argv, Options *ret_options)
{
    enum { OPTION_HOST = 256, OPTION_BUS, OPTION_CONFIG, OPTION_INTROSPECT, OPTION_VERSION, OPTION_HELP };
    static const struct option names[] = {
        {"host", required_argument, NULL, OPTION_HOST},
        {"bus", required_argument, NULL, OPTION_BUS},
        {"config", required_argument, NULL, OPTION_CONFIG},
        {"bus-introspect", no_argument, NULL, OPTION_INTROSPECT},
        {"version", no_argument, NULL, OPTION_VERSION},
        {"help", no_argument, NULL, OPTION_HELP},
        {0},
    };
    Options options = {0};
    int c;

    while ((c = getopt_long(argc, argv, "", names, NULL)) >= 0)
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
        case OPTION_INTROSPECT:
            options.command = COMMAND_INTROSPECT;
            break;
        case OPTION_VERSION:
            options.command = COMMAND_VERSION;
            break;
        case OPTION_HELP:
            options.command = COMMAND_HELP;
            break;
        default: /* getopt has said why */
            return usage_error();
        }
    if (optind < argc) {
        fprintf(stderr, "numad-xend: '%s': takes no arguments\n", argv[optind]);
        return usage_error();
    }
    if (check_value("host", options.host) || check_value("bus", options.bus) || check_value("config", options.config))
        return OPTIONS_E_USAGE;
    *ret_options = options;
    return 0;
}
