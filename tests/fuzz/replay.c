/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/io/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs a fuzz target on each file of its corpus, $NX_SRCDIR/tests/fuzz/corpus/NAME for a program fuzz-NAME. TAP. */

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    const char *top = getenv("NX_SRCDIR"), *name = strstr(argv[0], "fuzz-");
    struct dirent **entries = NULL;
    char path[4096];
    int n;

    (void)argc;
    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", top ? top : ".", name ? name + 5 : "");
    n = scandir(path, &entries, is_file, alphasort);
    if (n <= 0) {
        printf("1..0\nBail out! no corpus in %s\n", path);
        return 1;
    }
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        char file[4096 + 300], *text = NULL;
        size_t size = 0;

        snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        if (file_read(file, 64 << 20, &text, &size) < 0)
            printf("not ok %d - %s cannot be read\n", i + 1, entries[i]->d_name);
        else if (LLVMFuzzerTestOneInput((const uint8_t *)text, size) == 0)
            printf("ok %d - %s\n", i + 1, entries[i]->d_name);
        fflush(stdout);
        free(text);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
