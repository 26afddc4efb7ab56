/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "manager.h"
#include "options.h"
#include "publish/introspect.h"

#include <stdio.h>

/* Output that did not arrive (a full disk, a closed pipe) is a failure. */
static int printed(void)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    Options options;

    if (options_parse(argc, argv, &options) != 0)
        return EXIT_USAGE;
    switch (options.command) {
    case COMMAND_HELP:
        options_print_help();
        return printed();
    case COMMAND_VERSION:
        printf("numad-xend %s\n", PACKAGE_VERSION);
        return printed();
    case COMMAND_INTROSPECT:
        if (introspect_print() < 0)
            return EXIT_FAILED;
        return printed();
    case COMMAND_RUN:
        return manager_run(&options);
    }
    return EXIT_FAILED;
}
