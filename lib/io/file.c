/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/io/file.h"

#include "lib/core/text.h"

#include <fcntl.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

int file_read(const char *path, size_t max, char **ret_text, size_t *ret_size)
{
    _cleanup_(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    _cleanup_text_ Text text = {0};
    char buffer[65536];
    ssize_t n;

    if (fd < 0)
        return -errno;
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
