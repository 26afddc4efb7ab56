/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/text.h"
#include "lib/io/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of its own for each test, and what stands in it. */

static char base[64];

static inline const char *in_base(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", base, name);
    return path;
}

static inline int make_base(void **state)
{
    strcpy(base, "/tmp/numad-xen-test-XXXXXX");
    return mkdtemp(base) ? 0 : -1;
}

static inline int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    return remove(path);
}

static inline void remove_all(const char *path)
{
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int remove_base(void **state)
{
    remove_all(base);
    return 0;
}

static inline void put(const char *name, const char *text)
{
    int fd = open(in_base(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* A file that takes no room, however large. */
static inline void put_sparse(const char *name, off_t size)
{
    put(name, "");
    assert_int_equal(truncate(in_base(name), size), 0);
}

static inline bool is_there(const char *name)
{
    struct stat st;

    return lstat(in_base(name), &st) == 0;
}

#define assert_file(name, wanted)                                              \
    do {                                                                       \
        _cleanup_free_ char *has_ = NULL;                                      \
        size_t size_ = 0;                                                      \
        assert_int_equal(file_read(in_base(name), 1 << 20, &has_, &size_), 0); \
        assert_string_equal(has_, wanted);                                     \
    } while (0)
