/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/manager.h"
#include "daemon/options.h"

#include "lib/core/base.h"

#include <stdio.h>
#include <systemd/sd-event.h>
#include <time.h>

/*
 * numad-xend with a loop that measures what CPU time each dispatch takes. The linker gives the manager this loop for
 * sd_event_loop() (-Wl,--wrap). At the end it prints, on stdout, how many dispatches there were and the longest, in us.
 */

#define LONGEST 10

static uint64_t longest_us[LONGEST]; /* longest first */
static uint64_t n_dispatches, total_us;

static uint64_t cpu_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

static void keep(uint64_t us)
{
    n_dispatches++;
    total_us += us;
    for (size_t i = 0; i < LONGEST; i++)
        if (us > longest_us[i]) {
            uint64_t shorter = longest_us[i];

            longest_us[i] = us;
            us = shorter;
        }
}

static int dispatch(sd_event *event)
{
    uint64_t start = cpu_us();
    int r = sd_event_dispatch(event);

    keep(cpu_us() - start);
    return r;
}

int __wrap_sd_event_loop(sd_event *event);
int __wrap_sd_event_loop(sd_event *event)
{
    int code = 0, r = 0;

    while (r >= 0 && sd_event_get_state(event) != SD_EVENT_FINISHED) {
        r = sd_event_prepare(event);
        if (r == 0)
            r = sd_event_wait(event, UINT64_MAX);
        if (r > 0)
            r = dispatch(event);
    }
    if (r >= 0)
        r = sd_event_get_exit_code(event, &code);
    return r < 0 ? r : code;
}

int main(int argc, char **argv)
{
    Options options;
    int status;

    if (options_parse(argc, argv, &options) != 0 || options.command != COMMAND_RUN)
        return EXIT_USAGE;
    status = manager_run(&options);
    printf("%" PRIu64 " dispatches, %" PRIu64 " us, longest:", n_dispatches, total_us);
    for (size_t i = 0; i < LONGEST; i++)
        printf(" %" PRIu64, longest_us[i]);
    printf("\n");
    return status;
}
