/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "number.h"
#include "place.h"
#include "report.h"
#include "token.h"

int commit_run(const Command *command, Globals *globals, int argc, char **argv)
{
    TokenArguments arguments = {.max = 2, .usage = "TOKEN DOMID", .command = "commit"};
    _cleanup_feed_ Feed feed = {.globals = globals};
    int r = token_arguments_read(command, globals, argc, argv, &arguments);
    uint64_t domid;

    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    if (!number_from_text(arguments.items[1], &domid) || domid >= DOMAINS_MAX) {
        report("commit: '%s': no domid: give a number from 0 to %u, as xl list shows it", arguments.items[1],
               DOMAINS_MAX - 1);
        return STATUS_USAGE;
    }
    r = feed_commit(&feed, arguments.items[0], (uint32_t)domid);
    if (r != 0)
        feed_report(&feed, r, "commit");
    return r;
}
