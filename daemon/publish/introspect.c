/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "introspect.h"

#include "bus.h"
#include "vtable.h"

#include "daemon/log.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * What the vtable says can only be learned by asking, so both ends of a socket pair are ours: one serves the object,
 * the other calls Introspect(). No bus is needed and nothing is collected.
 */

typedef struct Answer {
    bool done;
    int error;
} Answer;

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error)
{
    Answer *answer = userdata;
    const char *xml;

    answer->done = true;
    answer->error = sd_bus_message_is_method_error(reply, NULL) ? -sd_bus_message_get_errno(reply)
                                                                : sd_bus_message_read(reply, "s", &xml);
    if (answer->error >= 0)
        fputs(xml, stdout);
    return 0;
}

/* Takes fd over. */
static int open_end(int fd, bool server, sd_bus **ret_bus)
{
    _cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
    int r = sd_bus_new(&bus);

    if (r < 0) {
        close(fd);
        return r;
    }
    r = sd_bus_set_fd(bus, fd, fd);
    if (r < 0) {
        close(fd);
        return r;
    }
    if (server)
        r = sd_bus_set_server(bus, true, SD_ID128_MAKE(4e, 1d, 6a, 0c, 73, 52, 4f, 0b, 9d, 3e, 58, a1, c4, 27, 0f, 66));
    if (r >= 0)
        r = sd_bus_start(bus);
    if (r >= 0)
        *ret_bus = TAKE_PTR(bus);
    return r;
}

static int run(sd_bus *server, sd_bus *client, Answer *answer)
{
    while (!answer->done) {
        int served = sd_bus_process(server, NULL);
        int asked = sd_bus_process(client, NULL);

        if (served < 0 || asked < 0)
            return served < 0 ? served : asked;
    }
    return answer->error;
}

static int ask(void)
{
    _cleanup_(sd_bus_close_unrefp) sd_bus *server = NULL, *client = NULL;
    Bus unused = {0};
    Answer answer = {0};
    int pair[2], r;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return -errno;
    r = open_end(pair[0], true, &server);
    if (r < 0) {
        close(pair[1]);
        return r;
    }
    r = open_end(pair[1], false, &client);
    if (r >= 0)
        r = sd_bus_add_object_vtable(server, NULL, BUS_PATH, BUS_INTERFACE, bus_vtable, &unused);
    if (r >= 0)
        r = sd_bus_call_method_async(client, NULL, NULL, BUS_PATH, "org.freedesktop.DBus.Introspectable", "Introspect",
                                     on_answer, &answer, NULL);
    return r < 0 ? r : run(server, client, &answer);
}

int introspect_print(void)
{
    int r = ask();

    return r < 0 ? log_error_errno(r, "cannot introspect: %m") : 0;
}
