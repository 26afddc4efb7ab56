/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "log.h"

#include "lib/core/utf8.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#define FIELDS_MAX 7

/* systemd tells in JOURNAL_STREAM which file stderr was; it may have been redirected since. */
static bool stderr_is_journal(void)
{
    static int known = -1;
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat st;

    if (known < 0)
        known = stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
                st.st_dev == device && st.st_ino == inode;
    return known;
}

static void add_field(struct iovec *fields, int *n, char *text)
{
    if (text)
        fields[(*n)++] = (struct iovec){text, strlen(text)};
}

static int send_to_journal(int priority, const char *file, int line, const char *function, const char *field,
                           const char *message)
{
    char *texts[5] = {0};
    struct iovec fields[FIELDS_MAX];
    int n = 0, r;

    if (asprintf(&texts[0], "MESSAGE=%s", message) < 0)
        texts[0] = NULL;
    if (asprintf(&texts[1], "PRIORITY=%d", priority) < 0)
        texts[1] = NULL;
    if (asprintf(&texts[2], "CODE_FILE=%s", file) < 0)
        texts[2] = NULL;
    if (asprintf(&texts[3], "CODE_LINE=%d", line) < 0)
        texts[3] = NULL;
    if (asprintf(&texts[4], "CODE_FUNC=%s", function) < 0)
        texts[4] = NULL;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        add_field(fields, &n, texts[i]);
    add_field(fields, &n, (char *)field);
    r = texts[0] ? sd_journal_sendv(fields, n) : -ENOMEM;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free(texts[i]);
    return r;
}

/* Bytes at p to be shown as they are; 0: the first is part of a control character or of no valid UTF-8. */
static size_t shown_length(const unsigned char *p)
{
    bool control = *p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0); /* U+0080 to U+009F */

    return control ? 0 : utf8_length(p);
}

#define ESCAPED_MAX 4 /* bytes for one */

/* Texts come from files and guests: none may begin a line of its own or speak to the terminal. */
static void escape(const char *message, char *to)
{
    const unsigned char *p = (const unsigned char *)message;

    while (*p) {
        size_t n = shown_length(p);

        if (n == 0)
            to += sprintf(to, "\\x%02x", *p++);
        for (; n > 0; n--)
            *to++ = (char)*p++;
    }
    *to = '\0';
}

void log_write(int priority, const char *file, int line, const char *function, const char *field, const char *format,
               ...)
{
    int saved = errno;
    char message[2048]; /* a longer message is cut: it is for a person */
    char shown[sizeof(message) * ESCAPED_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    escape(message, shown);
    if (!stderr_is_journal() || send_to_journal(priority, file, line, function, field, shown) < 0)
        fprintf(stderr, "numad-xend: %s\n", shown);
    errno = saved;
}
