/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "turn.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * Of what is pending sd-event dispatches the oldest first. Its defer sources, made for this, are pending from their
 * making on and never anew, so that one that is enabled keeps everything else of its priority waiting until it is done.
 * A descriptor that is always readable is pending anew each time, behind what has waited longer.
 */
int turn_add(sd_event *event, sd_event_source **ret_source, sd_event_io_handler_t handler, void *userdata)
{
    int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = fd < 0 ? -errno : sd_event_add_io(event, ret_source, fd, EPOLLIN, handler, userdata);

    if (r < 0) {
        if (fd >= 0)
            close(fd);
        return r;
    }
    r = sd_event_source_set_io_fd_own(*ret_source, 1);
    return r < 0 ? r : sd_event_source_set_enabled(*ret_source, SD_EVENT_OFF);
}
