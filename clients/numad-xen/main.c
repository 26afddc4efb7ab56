/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command.h"
#include "report.h"
#include "screen.h"

#include <signal.h>

static int run(int argc, char **argv)
{
    const Command *command;
    Globals globals = {0};
    int index, r;

    r = options_parse_globals(&globals, argc, argv, &index);
    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    if (index >= argc) {
        report("no command: see numad-xen --help");
        return STATUS_USAGE;
    }
    command = command_find(argv[index]);
    if (!command) {
        report("%s: no such command: see numad-xen --help", argv[index]);
        return STATUS_USAGE;
    }
    return command->run(command, &globals, argc - index, argv + index);
}

int main(int argc, char **argv)
{
    int status;

    output_init();
    signal(SIGPIPE, SIG_DFL); /* some parents ignore it; `numad-xen status | head` shall end quietly */
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large (ulimit -f) is an error, said and cleaned up */
    screen_init();
    status = run(argc, argv);
    return output_close() < 0 && status == STATUS_DONE ? STATUS_FAILED : status;
}
