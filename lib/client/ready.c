/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ready.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

uint64_t now_usec(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static bool has_bytes(sd_bus *bus)
{
    struct pollfd in = {.fd = sd_bus_get_fd(bus), .events = POLLIN};

    return in.fd >= 0 && poll(&in, 1, 0) > 0 && in.revents & POLLIN;
}

/* Until something happens. sd_bus_wait() alone does not tell whether the other side had a part in it. */
static int wait_once(sd_bus *bus, uint64_t *deadline, bool *heard)
{
    uint64_t now = now_usec();
    int r;

    if (now >= *deadline)
        return -ETIMEDOUT;
    r = sd_bus_wait(bus, *deadline - now);
    if (r < 0)
        return r == -EINTR ? 0 : r;
    if (heard && !*heard && has_bytes(bus)) {
        *heard = true;
        *deadline = now_usec() + ANSWER_USEC;
    }
    return 0;
}

int ready_wait(sd_bus *bus, uint64_t patience_usec, bool *ret_heard)
{
    uint64_t deadline = now_usec() + patience_usec;
    int ready, r = 0;

    if (ret_heard)
        *ret_heard = false;
    while ((ready = sd_bus_is_ready(bus)) == 0) {
        /* First of all: sd_bus_process() would take what has come already, and nobody would know that something had. */
        if (r == 0)
            r = wait_once(bus, &deadline, ret_heard);
        if (r >= 0)
            r = sd_bus_process(bus, NULL);
        if (r < 0)
            return r;
    }
    return ready < 0 ? ready : 0;
}
