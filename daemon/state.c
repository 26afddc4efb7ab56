/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "state.h"

#include "lib/core/text.h"
#include "lib/io/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A file is written beside the old one, as NAME.new, and takes its place by rename. So at any instant there is a whole
 * file of that name or none, and what an interrupted write leaves has a name that nobody reads; the next start removes
 * it. All names are looked up under the directory that was opened and judged at the start: what its path leads to later
 * is of no interest.
 */

#define NEW ".new"
#define BAD ".bad"
#define NAME_SIZE 64

struct State {
    int directory, lock;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static int explain(int error, char **ret_why, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int explain(int error, char **ret_why, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(ret_why, format, arguments) < 0)
        *ret_why = NULL;
    va_end(arguments);
    return error;
}

static bool others_write(const struct stat *st)
{
    return st->st_mode & (S_IWGRP | S_IWOTH);
}

/* --- the directory --- */

static int open_directory(const char *path, int *ret_fd, char **ret_why)
{
    _cleanup_(close_fd) int fd = -1;
    struct stat st;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return explain(-errno, ret_why, "%s: cannot make it: %s", path, strerror(errno));
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return explain(-ENOTDIR, ret_why, "%s: must be a directory, not a link or a file", path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return explain(-errno, ret_why, "%s: %s", path, strerror(errno));
    if (st.st_uid != geteuid())
        return explain(
            -EPERM, ret_why,
            "%s: belongs to user %u, and numad-xend runs as user %u: chown it to that one, or name another directory",
            path, (unsigned)st.st_uid, (unsigned)geteuid());
    if (others_write(&st))
        return explain(-EPERM, ret_why, "%s: others may write to it: chmod go-w it, when you know what is in it", path);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* The lock file stays: whoever removed it could lock one that another has open and nobody sees. */
static int lock_directory(const char *path, int directory, int *ret_fd, char **ret_why)
{
    _cleanup_(close_fd) int fd =
        openat(directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    struct stat st;
    int r;

    if (fd < 0 && errno != ELOOP)
        return explain(-errno, ret_why, "%s/lock: %s", path, strerror(errno));
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return explain(-EPERM, ret_why, "%s/lock: is no file, or another user's: remove it", path);
    r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
    if (r == -EWOULDBLOCK)
        return explain(-EBUSY, ret_why, "%s: another numad-xend has it: stop that one, or name another directory",
                       path);
    if (r < 0)
        return explain(r, ret_why, "%s/lock: cannot lock it: %s", path, strerror(-r));
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* Whatever has that name. 0 or negative; that there was nothing is no failure. */
static int clear(int directory, const char *name)
{
    if (unlinkat(directory, name, 0) == 0 || errno == ENOENT)
        return 0;
    return errno == EISDIR && unlinkat(directory, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), n_end = strlen(end);

    return n > n_end && strcmp(name + n - n_end, end) == 0;
}

/* What cannot be removed is only in the way of a later write, which will say so. */
static void remove_leftovers(int directory)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!entries) {
        close_fd(&fd);
        return;
    }
    while ((entry = readdir(entries)))
        if (ends_in(entry->d_name, NEW))
            (void)clear(directory, entry->d_name);
    closedir(entries);
}

static int open_all(const char *path, State *state, char **ret_why)
{
    int r = open_directory(path, &state->directory, ret_why);

    if (r == 0)
        r = lock_directory(path, state->directory, &state->lock, ret_why);
    if (r == 0)
        remove_leftovers(state->directory);
    return r;
}

int state_open(const char *path, State **ret_state, char **ret_why)
{
    _cleanup_free_ char *bare = strdup(path);
    State *state = malloc(sizeof(*state));
    int r;

    *ret_why = NULL;
    if (!bare || !state) {
        free(state);
        return -ENOMEM;
    }
    for (size_t n = strlen(bare); n > 1 && bare[n - 1] == '/'; n--)
        bare[n - 1] = '\0'; /* behind a slash a link would be followed */
    *state = (State){.directory = -1, .lock = -1};
    r = open_all(bare, state, ret_why);
    if (r < 0)
        state_free(state);
    else
        *ret_state = state;
    return r;
}

State *state_free(State *state)
{
    if (!state)
        return NULL;
    close_fd(&state->lock);
    close_fd(&state->directory);
    free(state);
    return NULL;
}

/* --- files in it --- */

int state_read(State *state, const char *name, size_t max, char **ret_text, size_t *ret_size)
{
    _cleanup_(close_fd) int fd =
        openat(state->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && (errno == ELOOP || errno == ENXIO || errno == ENODEV)) /* a link, a socket, a device of no driver */
        return STATE_E_ODD;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || others_write(&st))
        return STATE_E_ODD;
    if ((uintmax_t)st.st_size > max)
        return -EFBIG;
    return file_read_fd(fd, max, ret_text, ret_size);
}

static int write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        text += n;
        size -= (size_t)n;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

/* The whole text on the disk under a name of its own. */
static int write_new(int directory, const char *name, const char *text, size_t size)
{
    _cleanup_(close_fd) int fd = -1;
    int r = clear(directory, name);

    if (r < 0)
        return r;
    fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    r = write_all(fd, text, size);
    if (r < 0)
        (void)unlinkat(directory, name, 0);
    return r;
}

static int add_suffix(const char *name, const char *suffix, char to[NAME_SIZE])
{
    int n = snprintf(to, NAME_SIZE, "%s%s", name, suffix);

    return n < NAME_SIZE ? 0 : -ENAMETOOLONG;
}

/* Renames under the directory, and is sure of it. */
static int move(int directory, const char *from, const char *to)
{
    if (renameat(directory, from, directory, to) < 0)
        return -errno;
    return fsync(directory) < 0 ? -errno : 0;
}

int state_write(State *state, const char *name, const char *text, size_t size)
{
    char new[NAME_SIZE];
    int r = add_suffix(name, NEW, new);

    if (r == 0)
        r = write_new(state->directory, new, text, size);
    if (r < 0)
        return r;
    r = move(state->directory, new, name);
    if (r < 0)
        (void)unlinkat(state->directory, new, 0);
    return r;
}

int state_set_aside(State *state, const char *name)
{
    char bad[NAME_SIZE];
    int r = add_suffix(name, BAD, bad);

    if (r < 0)
        return r;
    (void)clear(state->directory, bad); /* an older one of another kind would be in the way */
    return move(state->directory, name, bad);
}
