/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

char *capture_find(const char *path)
{
    struct stat status;
    char *inside = NULL;

    if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
        return strdup(path);
    return asprintf(&inside, "%s/%s", path, CAPTURE_FILE) < 0 ? NULL : inside;
}
