/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/source.h"
#include "lib/core/hostdesc.h"
#include "lib/io/capture.h"
#include "lib/io/file.h"

#include <stdio.h>
#include <string.h>

/* A host description replayed: each collection returns its rows, as the hypercalls would. */
typedef struct SimSource {
    Source source;
    char *path;
    HostRows *rows; /* what the file said last time it was good */
} SimSource;

static int load(const char *name, HostRows **ret_rows, char **ret_error)
{
    _cleanup_free_ char *path = capture_find(name), *text = NULL, *reason = NULL;
    size_t size = 0;
    int r;

    if (!path)
        return -ENOMEM;
    r = file_read_regular(path, HOSTDESC_MAX_BYTES, &text, &size);

    if (r == FILE_E_NOT_REGULAR) { /* the loop cannot wait for whoever writes to a pipe */
        if (asprintf(ret_error, "%s: not a regular file", path) < 0)
            *ret_error = NULL;
        return -EINVAL;
    }
    if (r == -EFBIG) {
        if (asprintf(ret_error, "%s: larger than %u MiB", path, HOSTDESC_MAX_BYTES >> 20) < 0)
            *ret_error = NULL;
        return r;
    }
    if (r < 0) {
        if (asprintf(ret_error, "%s: %s", path, strerror(-r)) < 0)
            *ret_error = NULL;
        return r;
    }
    r = hostdesc_parse(text, size, ret_rows, &reason);
    if (r == HOSTDESC_E_REFUSED) {
        if (asprintf(ret_error, "%s: %s", path, reason) < 0)
            *ret_error = NULL;
        return -EINVAL;
    }
    return r;
}

static int sim_begin(Source *source, bool full)
{
    (void)source;
    (void)full;
    return 0;
}

static int sim_step(Source *source, HostRows **ret_rows)
{
    return host_rows_copy(((SimSource *)source)->rows, ret_rows);
}

static int sim_event_fd(const Source *source)
{
    (void)source;
    return -1;
}

static int sim_dispatch(Source *source)
{
    (void)source;
    return 0;
}

static int sim_reload(Source *source, char **ret_error)
{
    SimSource *sim = (SimSource *)source;
    HostRows *rows = NULL;
    int r = load(sim->path, &rows, ret_error);

    if (r < 0)
        return r;
    host_rows_free(sim->rows);
    sim->rows = rows;
    return 0;
}

static void sim_free(Source *source)
{
    SimSource *sim = (SimSource *)source;

    host_rows_free(sim->rows);
    free(sim->path);
    free(sim);
}

static const SourceOps sim_ops = {
    .begin = sim_begin,
    .step = sim_step,
    .event_fd = sim_event_fd,
    .dispatch = sim_dispatch,
    .reload = sim_reload,
    .free = sim_free,
};

int sim_source_new(const char *path, Source **ret_source, char **ret_error)
{
    SimSource *sim = calloc(1, sizeof(*sim));
    int r;

    if (!sim)
        return -ENOMEM;
    sim->source.ops = &sim_ops;
    sim->path = strdup(path);
    r = sim->path ? load(path, &sim->rows, ret_error) : -ENOMEM;
    if (r < 0) {
        sim_free(&sim->source);
        return r;
    }
    *ret_source = &sim->source;
    return 0;
}
