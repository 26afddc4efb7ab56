/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/hostdesc.h"

#include <stdio.h>
#include <string.h>

/* A reason quotes what was wrong, which may have been the end of a line. */
static const char *one_line(char *text)
{
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    return text;
}

/* Reads a host description on each line of stdin; prints "ok", or why it is refused, for each. */
int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    while ((n = getline(&line, &room, stdin)) > 0) {
        HostRows *rows = NULL;
        char *error = NULL;
        int r = hostdesc_parse(line, (size_t)n, &rows, &error);

        puts(r == 0 ? "ok" : error ? one_line(error) : strerror(-r));
        host_rows_free(rows);
        free(error);
    }
    free(line);
    return 0;
}
