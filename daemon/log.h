/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <errno.h>
#include <syslog.h>

/*
 * Structured messages to the journal when stderr is the journal's, readable lines on stderr otherwise.
 * Manager, sources and publishers log; lib/ never does.
 */

/* `field` is one more journal field ("NUMAD_XEN_WARNING=slit-flat") or NULL. %m is the current errno. */
void log_write(int priority, const char *file, int line, const char *function, const char *field, const char *format,
               ...) __attribute__((format(printf, 6, 7)));

#define log_field(priority, field, ...) log_write(priority, __FILE__, __LINE__, __func__, field, __VA_ARGS__)
#define log_error(...) log_field(LOG_ERR, NULL, __VA_ARGS__)
#define log_warning(...) log_field(LOG_WARNING, NULL, __VA_ARGS__)
#define log_notice(...) log_field(LOG_NOTICE, NULL, __VA_ARGS__)
#define log_info(...) log_field(LOG_INFO, NULL, __VA_ARGS__)

/* With a negative errno for %m; the value is that errno, to be returned. */
#define log_errno(priority, error, ...)         \
    ({                                          \
        int error_ = (error);                   \
        errno = -error_;                        \
        log_field(priority, NULL, __VA_ARGS__); \
        error_;                                 \
    })
#define log_error_errno(error, ...) log_errno(LOG_ERR, error, __VA_ARGS__)
