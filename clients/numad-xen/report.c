/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include "command.h"
#include "display.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool output_failed; /* and was reported */

void report(const char *format, ...)
{
    _cleanup_free_ char *message = NULL, *shown = NULL;
    va_list ap;
    int r;

    va_start(ap, format);
    r = vasprintf(&message, format, ap);
    va_end(ap);
    if (r < 0)
        message = NULL;
    else
        shown = display_escape(message, (size_t)r, 0);
    fflush(stdout);
    fprintf(stderr, "numad-xen: %s\n", shown ? shown : "not enough memory");
}

int report_no_memory(void)
{
    report("not enough memory");
    return STATUS_FAILED;
}

void output_init(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int fail_output(int error)
{
    if (!output_failed && error != EPIPE)
        report("stdout: %s", strerror(error));
    output_failed = true;
    return -error;
}

int output_write(Text *text)
{
    _cleanup_free_ char *string = NULL;
    size_t size;

    if (text_take(text, &string, &size) < 0)
        return report_no_memory();
    if (fwrite(string, 1, size, stdout) == size && fflush(stdout) == 0)
        return STATUS_DONE;
    fail_output(errno);
    return STATUS_FAILED;
}

int output_close(void)
{
    bool failed = ferror(stdout);
    int r;

    errno = 0;
    r = fclose(stdout);
    if (output_failed)
        return -EIO;
    if (r == 0 && !failed)
        return 0;
    return fail_output(errno ? errno : EIO);
}
