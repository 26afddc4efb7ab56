/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "place.h"
#include "report.h"
#include "token.h"

int release_run(const Command *command, Globals *globals, int argc, char **argv)
{
    TokenArguments arguments = {.max = 1, .usage = "TOKEN", .command = "release"};
    _cleanup_feed_ Feed feed = {.globals = globals};
    int r = token_arguments_read(command, globals, argc, argv, &arguments);

    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    r = feed_release(&feed, arguments.items[0]);
    if (r != 0)
        feed_report(&feed, r, "release");
    return r;
}
