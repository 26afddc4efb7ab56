/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Preloaded into a program, counts the calls by which it changes files and answers on D-Bus, and kills it at one of
 * them, so that what a crash leaves is tried at each of them and not where luck has it. CRASH_LOG names a file that
 * gets a line for each point, "7 fsync file", its number and what is about to be done or was just done. CRASH_AT is the
 * number of the point at which SIGKILL comes; without it the points are counted only.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define MESSAGE_RETURN 2 /* types of D-Bus messages, the second byte of each */
#define MESSAGE_ERROR 3

EXPORTED ssize_t write(int fd, const void *data, size_t size);
EXPORTED int fsync(int fd);
EXPORTED int renameat(int from_fd, const char *from, int to_fd, const char *to);
EXPORTED int unlinkat(int fd, const char *path, int flags);
EXPORTED int openat(int fd, const char *path, int flags, ...);
EXPORTED ssize_t sendmsg(int fd, const struct msghdr *message, int flags);

static int log_fd = -1;
static unsigned long count, crash_at;

static void __attribute__((constructor)) begin(void)
{
    const char *log = getenv("CRASH_LOG"), *at = getenv("CRASH_AT");

    if (log)
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    crash_at = at ? strtoul(at, NULL, 10) : 0;
}

static void point(const char *when, const char *what)
{
    char line[128];
    int n;

    if (log_fd < 0)
        return;
    n = snprintf(line, sizeof(line), "%lu %s %s\n", ++count, when, what);
    if (n < 0 || syscall(SYS_write, log_fd, line, (size_t)n) != n)
        _exit(99); /* a log that has holes proves nothing */
    if (count == crash_at)
        syscall(SYS_kill, getpid(), SIGKILL);
}

/* Whether the points of a file descriptor count: files and directories, not messages to a person. */
static const char *kind_of(int fd)
{
    struct stat st;

    if (fd <= STDERR_FILENO || fstat(fd, &st) < 0)
        return NULL;
    return S_ISREG(st.st_mode) ? "file" : S_ISDIR(st.st_mode) ? "directory" : NULL;
}

/* dlsym() gives a pointer to an object, which C would not have be one to a function. */
#define NEXT(name)                                              \
    ({                                                          \
        static __typeof__(name) *next_;                         \
        if (!next_)                                             \
            *(void **)(void *)&next_ = dlsym(RTLD_NEXT, #name); \
        next_;                                                  \
    })

#define AROUND(what, call)          \
    ({                              \
        int saved_;                 \
        point("before", what);      \
        __typeof__(call) r_ = call; \
        saved_ = errno;             \
        point("after", what);       \
        errno = saved_;             \
        r_;                         \
    })

/* Before, when half of it is written, and after. */
ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t first, rest;

    if (!kind_of(fd))
        return NEXT(write)(fd, data, size);
    point("before", "write");
    first = NEXT(write)(fd, data, size / 2);
    if (first < 0 || (size_t)first < size / 2)
        return first;
    point("amid", "write");
    rest = NEXT(write)(fd, (const char *)data + first, size - (size_t)first);
    point("after", "write");
    return rest < 0 ? first : first + rest;
}

int fsync(int fd)
{
    const char *kind = kind_of(fd);

    if (!kind)
        return NEXT(fsync)(fd);
    return strcmp(kind, "file") == 0 ? AROUND("fsync file", NEXT(fsync)(fd))
                                     : AROUND("fsync directory", NEXT(fsync)(fd));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return AROUND("rename", NEXT(renameat)(from_fd, from, to_fd, to));
}

int unlinkat(int fd, const char *path, int flags)
{
    return AROUND("unlink", NEXT(unlinkat)(fd, path, flags));
}

int openat(int fd, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (!(flags & O_CREAT))
        return NEXT(openat)(fd, path, flags);
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return AROUND("create", NEXT(openat)(fd, path, flags, mode));
}

static bool is_reply(const struct msghdr *message)
{
    const unsigned char *header = message->msg_iovlen > 0 ? message->msg_iov[0].iov_base : NULL;

    return header && message->msg_iov[0].iov_len >= 16 && (header[0] == 'l' || header[0] == 'B') &&
           (header[1] == MESSAGE_RETURN || header[1] == MESSAGE_ERROR);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return is_reply(message) ? AROUND("reply", NEXT(sendmsg)(fd, message, flags)) : NEXT(sendmsg)(fd, message, flags);
}
