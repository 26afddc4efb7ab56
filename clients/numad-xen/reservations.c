/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"
#include "render.h"
#include "report.h"

static int take_option(int option, const char *value, void *state)
{
    *(bool *)state = true;
    return 0;
}

/* The document numad-xen-reservations/1, from the status. */
static int add_json(const StatusView *view, Text *to)
{
    _cleanup_json_ struct json_object *document = json_object_new_object();
    struct json_object *format = json_object_new_string("numad-xen-reservations/1");
    const char *text = NULL;

    if (document && format && json_object_object_add(document, "format", format) == 0) {
        format = NULL;
        if (json_object_object_add(document, "reservations", json_object_get(view->reservations)) == 0)
            text = value_text(document);
    }
    json_object_put(format);
    if (!text)
        return report_no_memory();
    text_add(to, text);
    text_add(to, "\n");
    return 0;
}

static void add_text(Feed *feed, const StatusView *view, Text *to)
{
    Screen screen = screen_get(feed->globals);

    if (value_count(view->reservations))
        render_reservations(view->reservations, true, &screen, screen_width(&screen, view->nodes.n), to);
    else
        text_add(to, "Nothing is reserved.\n");
}

static int print(Feed *feed, const char *status, bool json)
{
    _cleanup_(status_view_free_p) StatusView *view = NULL;
    _cleanup_free_ char *error = NULL;
    _cleanup_text_ Text text = {0};
    int r = status_view_new(status, NULL, &view, &error);

    if (r < 0 || !view->reservations) {
        report("reservations: %s", r == -ENOMEM ? "not enough memory"
                                   : error      ? error
                                                : "numad-xend does not tell them");
        return STATUS_FAILED;
    }
    r = 0;
    if (json)
        r = add_json(view, &text);
    else
        add_text(feed, view, &text);
    return r != 0 ? r : output_write(&text);
}

int reservations_run(const Command *command, Globals *globals, int argc, char **argv)
{
    static const struct option names[] = {{"json", no_argument, NULL, 'j'}, {0}};
    _cleanup_feed_ Feed feed = {.globals = globals};
    _cleanup_free_ char *status = NULL;
    bool json = false;
    int r = options_parse(command, globals, argc, argv, ":", names, take_option, &json);

    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    if (globals->host) {
        report("reservations: --host: on a host description nothing is reserved: ask a daemon");
        return STATUS_USAGE;
    }
    r = feed_read(&feed, &status, NULL);
    if (r != 0) {
        report("%s", feed_error(&feed));
        return r;
    }
    return print(&feed, status, json);
}
