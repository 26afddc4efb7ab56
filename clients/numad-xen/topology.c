/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"
#include "render.h"
#include "report.h"

static int take_option(int option, const char *value, void *state)
{
    *(bool *)state = true;
    return 0;
}

static int add_text(Feed *feed, const char *topology, Text *to)
{
    _cleanup_(topology_view_free_p) TopologyView *view = NULL;
    Screen screen = screen_get(feed->globals);
    _cleanup_free_ char *error = NULL;
    int r;

    r = topology_view_new(topology, &view, &error);
    if (r < 0) {
        report("topology: %s", error ? error : "not enough memory");
        return STATUS_FAILED;
    }
    render_topology(view, &screen, to);
    return 0;
}

int topology_run(const Command *command, Globals *globals, int argc, char **argv)
{
    static const struct option names[] = {{"json", no_argument, NULL, 'j'}, {0}};
    _cleanup_feed_ Feed feed = {.globals = globals};
    _cleanup_free_ char *topology = NULL;
    _cleanup_text_ Text text = {0};
    bool json = false;
    int r;

    r = options_parse(command, globals, argc, argv, ":", names, take_option, &json);
    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    r = feed_read(&feed, NULL, &topology);
    if (r != 0) {
        report("%s", feed_error(&feed));
        return r;
    }
    if (json) {
        text_add(&text, topology);
        text_add(&text, "\n");
    } else
        r = add_text(&feed, topology, &text);
    return r != 0 ? r : output_write(&text);
}
