/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/io/file.h"

#include "lib/core/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

int file_read_fd(int fd, size_t max, char **ret_text, size_t *ret_size)
{
    _cleanup_text_ Text text = {0};
    char buffer[65536];
    ssize_t n;

    while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if ((size_t)n > max - text.size)
            return -EFBIG;
        text_add_bytes(&text, buffer, (size_t)n);
        if (text.failed)
            return -ENOMEM;
    }
    return text_take(&text, ret_text, ret_size);
}

int file_read(const char *path, size_t max, char **ret_text, size_t *ret_size)
{
    _cleanup_(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    return fd < 0 ? -errno : file_read_fd(fd, max, ret_text, ret_size);
}

int file_read_regular(const char *path, size_t max, char **ret_text, size_t *ret_size)
{
    /* Without O_NONBLOCK opening a FIFO waits for a writer; reading a regular file does not heed it. */
    _cleanup_(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;

    if (fd < 0 && errno == ENXIO) /* a socket, or a device without a driver */
        return FILE_E_NOT_REGULAR;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    return S_ISREG(st.st_mode) ? file_read_fd(fd, max, ret_text, ret_size) : FILE_E_NOT_REGULAR;
}
