/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/sim.h"
#include "lib/core/hostdesc.h"
#include "lib/io/capture.h"
#include "lib/io/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/*
 * A host description, and what was done to the host since it was read: each collection returns its rows, as the
 * hypercalls would. Domains that come and go are told by an eventfd, as xenstore does.
 */

#define SLOW_STEP_US 1000u
#define SCRUB_PER_S (UINT64_C(8) << 30) /* bytes of each node that its idle CPUs scrub in a second */

/* Those injected that have not acted. */
typedef struct Armed {
    bool stop, fail;
    uint64_t stop_bytes, fail_bytes;
    uint32_t collections, memories; /* readings that fail */
    int collections_error, memories_error;
    uint32_t slow_ms;
    bool busy; /* no CPU is idle: nothing is scrubbed */
} Armed;

typedef struct SimSource {
    Source source;
    char *path;
    SimHost *host; /* what the file said last time it was good, and what came of it */
    int events;    /* -1: there are none any more */
    bool lost;
    HostRows *rows;       /* of the collection under way, as the host was when it began */
    uint64_t due_us;      /* when it is complete */
    uint64_t scrubbed_us; /* what was given back is scrubbed up to then */
    Armed armed;
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

static uint64_t now_us(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Whether a reading is to fail: then *ret_error says how. */
static bool fails(Source *source, uint32_t *times, int error, int *ret_error)
{
    if (*times == 0)
        return false;
    --*times;
    source->errors[ERROR_XEN]++;
    *ret_error = -error;
    return true;
}

/* Whoever looks at the host sees what its idle CPUs have done since. */
static void scrub(SimSource *sim)
{
    uint64_t now = now_us(), spent_us = MIN(now - sim->scrubbed_us, UINT64_C(1000000000));

    sim->scrubbed_us = now;
    if (!sim->armed.busy)
        sim_host_scrub(sim->host, SCRUB_PER_S / 1000000 * spent_us);
}

static int sim_begin(Source *source, bool full)
{
    SimSource *sim = (SimSource *)source;
    int r = 0;

    (void)full;
    sim->rows = host_rows_free(sim->rows);
    if (fails(source, &sim->armed.collections, sim->armed.collections_error, &r))
        return r;
    scrub(sim);
    sim->due_us = now_us() + sim->armed.slow_ms * UINT64_C(1000);
    return host_rows_copy(sim_host_rows(sim->host), &sim->rows);
}

static int sim_step(Source *source, HostRows **ret_rows)
{
    SimSource *sim = (SimSource *)source;

    if (now_us() < sim->due_us) {
        usleep(SLOW_STEP_US);
        return 1;
    }
    *ret_rows = TAKE_PTR(sim->rows);
    return 0;
}

static int sim_event_fd(const Source *source)
{
    return ((const SimSource *)source)->events;
}

static int sim_dispatch(Source *source)
{
    SimSource *sim = (SimSource *)source;
    uint64_t n = 0;

    if (sim->lost)
        return -ECONNRESET;
    return read(sim->events, &n, sizeof(n)) < 0 ? (errno == EAGAIN ? 0 : -errno) : 1;
}

/* Domains came or went, or nobody will hear of it any more. */
static void raise_event(const SimSource *sim)
{
    const uint64_t one = 1;

    if (write(sim->events, &one, sizeof(one)) < 0)
        return; /* it is raised already */
}

static int sim_read_memory(Source *source, HostMemory **ret_memory)
{
    SimSource *sim = (SimSource *)source;
    int r = 0;

    if (fails(source, &sim->armed.memories, sim->armed.memories_error, &r))
        return r;
    scrub(sim);
    *ret_memory = sim_host_memory(sim->host);
    return *ret_memory ? 0 : -ENOMEM;
}

static int open_host(SimSource *sim, char **ret_error)
{
    HostRows *rows = NULL;
    SimHost *host = NULL;
    int r = load(sim->path, &rows, ret_error);

    if (r == 0)
        r = sim_host_new(rows, &host);
    if (r < 0)
        return r;
    sim_host_free(sim->host);
    sim->host = host;
    return 0;
}

static int sim_reload(Source *source, char **ret_error)
{
    SimSource *sim = (SimSource *)source;
    int r = open_host(sim, ret_error);

    if (r == 0)
        sim->armed = (Armed){0};
    return r;
}

static void sim_free(Source *source)
{
    SimSource *sim = (SimSource *)source;

    sim_host_free(sim->host);
    host_rows_free(sim->rows);
    if (sim->events >= 0)
        close(sim->events);
    free(sim->path);
    free(sim);
}

static const SourceOps sim_ops = {
    .begin = sim_begin,
    .step = sim_step,
    .event_fd = sim_event_fd,
    .dispatch = sim_dispatch,
    .read_memory = sim_read_memory,
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
    sim->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sim->path = strdup(path);
    r = sim->events < 0 ? -errno : sim->path ? open_host(sim, ret_error) : -ENOMEM;
    if (r < 0) {
        sim_free(&sim->source);
        return r;
    }
    *ret_source = &sim->source;
    return 0;
}

bool source_is_simulated(const Source *source)
{
    return source->ops == &sim_ops;
}

const HostRows *sim_source_rows(const Source *source)
{
    return sim_host_rows(((const SimSource *)source)->host);
}

/* Builds as far as the faults let it. */
static int build(SimSource *sim, domid_t domid)
{
    bool fail = sim->armed.fail;
    int r = sim_host_build(sim->host, domid, fail ? sim->armed.fail_bytes : UINT64_MAX);

    sim->armed.fail = false;
    if (!fail || r == SIM_E_NO_MEMORY)
        return r;
    r = sim_host_destroy(sim->host, domid);
    return r == 0 ? SIM_E_FAILED : r;
}

int sim_source_create(Source *source, const SimDomain *domain, domid_t *ret_domid)
{
    SimSource *sim = (SimSource *)source;
    bool stop = sim->armed.stop;
    int r;

    scrub(sim);
    r = sim_host_begin(sim->host, domain, ret_domid);
    if (r != 0)
        return r;
    sim->armed.stop = false;
    if (stop)
        r = sim_host_build(sim->host, *ret_domid, sim->armed.stop_bytes);
    else
        r = build(sim, *ret_domid);
    raise_event(sim);
    return r == SIM_E_UNFINISHED ? 0 : r;
}

int sim_source_destroy(Source *source, domid_t domid)
{
    SimSource *sim = (SimSource *)source;
    int r;

    scrub(sim);
    r = sim_host_destroy(sim->host, domid);
    if (r == 0)
        raise_event(sim);
    return r;
}

int sim_source_balloon(Source *source, domid_t domid, uint64_t bytes)
{
    SimSource *sim = (SimSource *)source;

    scrub(sim);
    return sim_host_balloon(sim->host, domid, bytes);
}

static int resume(SimSource *sim, domid_t domid)
{
    bool building = sim_host_is_building(sim->host, domid);
    int r = sim_host_build(sim->host, domid, UINT64_MAX);

    if (r == 0 && !building)
        return SIM_E_NOT_STOPPED;
    if (r == SIM_E_NO_MEMORY) /* it is gone */
        raise_event(sim);
    return r;
}

static void arm_read(Armed *armed, const SimFault *fault)
{
    *(fault->memory ? &armed->memories : &armed->collections) = fault->times;
    *(fault->memory ? &armed->memories_error : &armed->collections_error) = fault->error;
}

static void lose_events(SimSource *sim)
{
    raise_event(sim);
    sim->lost = true;
}

static void arm(SimSource *sim, const SimFault *fault)
{
    Armed *armed = &sim->armed;

    if (fault->kind == SIM_FAULT_STOP_BUILD) {
        armed->stop = true;
        armed->stop_bytes = fault->bytes;
    } else if (fault->kind == SIM_FAULT_FAIL_BUILD) {
        armed->fail = true;
        armed->fail_bytes = fault->bytes;
    } else if (fault->kind == SIM_FAULT_READ)
        arm_read(armed, fault);
    else if (fault->kind == SIM_FAULT_LOSE_EVENTS)
        lose_events(sim);
    else if (fault->kind == SIM_FAULT_BUSY)
        armed->busy = fault->on;
    else
        armed->slow_ms = fault->ms;
}

int sim_source_fault(Source *source, const SimFault *fault)
{
    SimSource *sim = (SimSource *)source;

    scrub(sim);
    switch (fault->kind) {
    case SIM_FAULT_TAKE:
        return sim_host_take(sim->host, fault->node, fault->bytes);
    case SIM_FAULT_GIVE:
        return sim_host_give(sim->host, fault->node, fault->bytes);
    case SIM_FAULT_RESUME_BUILD:
        return resume(sim, fault->domid);
    default:
        arm(sim, fault);
        return 0;
    }
}
