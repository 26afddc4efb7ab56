/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "token.h"

#include "report.h"

#include <string.h>

static int take_argument(int option, const char *value, void *state)
{
    TokenArguments *arguments = state;

    if (arguments->n == arguments->max) {
        report("%s: '%s': one argument too many: give %s", arguments->command, value, arguments->usage);
        return STATUS_USAGE;
    }
    arguments->items[arguments->n++] = value;
    return 0;
}

/* Letters and digits: whatever a token is made of, it is one word, and bytes that are no text never leave here. */
static bool is_word(const char *text)
{
    size_t n = strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return n > 0 && !text[n];
}

int token_arguments_read(const Command *command, Globals *globals, int argc, char **argv, TokenArguments *arguments)
{
    static const struct option names[] = {{0}};
    int r = options_parse(command, globals, argc, argv, "-:", names, take_argument, arguments);

    if (r != 0)
        return r;
    if (arguments->n < arguments->max) {
        report("%s: give %s: numad-xen reservations lists them", command->name, arguments->usage);
        return STATUS_USAGE;
    }
    if (!is_word(arguments->items[0])) {
        report("%s: '%s': no token: numad-xen reservations lists them", command->name, arguments->items[0]);
        return STATUS_USAGE;
    }
    if (globals->host) {
        report("%s: --host: on a host description nothing is reserved: ask a daemon", command->name);
        return STATUS_USAGE;
    }
    return 0;
}
