/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/*
 * Reads a whole file of at most `max` bytes; a zero byte follows the text. *ret_text is owned. 0 or a negative
 * errno: -EFBIG when the file is larger, -EISDIR for a directory, else what open and read say.
 */
int file_read(const char *path, size_t max, char **ret_text, size_t *ret_size);
/* The rest of an open one. */
int file_read_fd(int fd, size_t max, char **ret_text, size_t *ret_size);

#define FILE_E_NOT_REGULAR 1
/* The same for one who may not be kept waiting: FILE_E_NOT_REGULAR for a pipe, a device, a directory, a socket. */
int file_read_regular(const char *path, size_t max, char **ret_text, size_t *ret_size);
