/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "savefile.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The file is written under another name and then linked to its own, which fails where there is one already; a rename
 * would replace it. Root may run this in a folder that others can write to.
 */

#define TEMPORARY_TRIES 100

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Without slashes at its end: a symbolic link with one behind it is followed. NULL when memory is short. */
static char *bare_path(const char *path)
{
    char *bare = strdup(path);
    size_t n = strlen(path);

    while (bare && n > 1 && bare[n - 1] == '/')
        bare[--n] = '\0';
    return bare;
}

/* The folder, made if there is none. A file descriptor or -errno. */
static int open_folder(const char *path, bool *ret_made)
{
    int fd;

    *ret_made = mkdir(path, 0700) == 0;
    if (!*ret_made && errno != EEXIST)
        return -errno;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int write_all(int fd, const char *text, size_t size)
{
    while (size) {
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

/* A new file of a name nobody else uses. A file descriptor or -errno. */
static int create_temporary(int folder, const char *name, char **ret_temporary)
{
    for (unsigned i = 0; i < TEMPORARY_TRIES; i++) {
        char *temporary;
        int fd;

        if (asprintf(&temporary, ".%s.%d.%u", name, (int)getpid(), i) < 0)
            return -ENOMEM;
        fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            *ret_temporary = temporary;
            return fd;
        }
        free(temporary);
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

/* Gives the file its name. Where a file system has no links, renaming without replacing does the same. */
static int publish(int folder, const char *temporary, const char *name)
{
    if (renameat2(folder, temporary, folder, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno == EEXIST ? SAVE_E_EXISTS : -errno;
    if (linkat(folder, temporary, folder, name, 0) < 0)
        return errno == EEXIST ? SAVE_E_EXISTS : -errno;
    (void)unlinkat(folder, temporary, 0);
    return 0;
}

static int write_file(int folder, const char *name, const char *text, size_t size)
{
    _cleanup_free_ char *temporary = NULL;
    _cleanup_(close_fd) int fd = create_temporary(folder, name, &temporary);
    int r = fd < 0 ? fd : write_all(fd, text, size);

    if (r == 0)
        r = publish(folder, temporary, name);
    if (r != 0 && temporary)
        (void)unlinkat(folder, temporary, 0);
    if (r == 0 && fsync(folder) < 0 && errno != EINVAL)
        r = -errno;
    return r;
}

static int save_in(const char *folder_path, const char *name, const char *text, size_t size, bool *ret_made,
                   int *ret_error)
{
    _cleanup_(close_fd) int folder = open_folder(folder_path, ret_made);
    struct stat st;

    if (folder < 0) {
        *ret_error = -folder;
        return SAVE_E_FOLDER;
    }
    *ret_error = EEXIST;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return SAVE_E_EXISTS;
    return write_file(folder, name, text, size);
}

int save_file(const char *folder, const char *name, const char *text, size_t size, int *ret_error)
{
    _cleanup_free_ char *bare = bare_path(folder);
    bool made = false;
    int r = bare ? save_in(bare, name, text, size, &made, ret_error) : -ENOMEM;

    if (r != 0 && made)
        (void)rmdir(bare); /* fails when there is something in it by now */
    return r;
}
