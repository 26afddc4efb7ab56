/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"
#include "render.h"
#include "report.h"
#include "watch.h"

#include <time.h>

typedef struct StatusOptions {
    bool json, watch;
} StatusOptions;

static int take_option(int option, const char *value, void *state)
{
    StatusOptions *options = state;

    if (option == 'j')
        options->json = true;
    else
        options->watch = true;
    return 0;
}

int status_add_text(Feed *feed, const Screen *screen, Text *to)
{
    _cleanup_free_ char *status = NULL, *topology = NULL;
    _cleanup_(status_view_free_p) StatusView *view = NULL;
    int r;

    r = feed_read(feed, &status, &topology);
    if (r != 0)
        return r;
    free(feed->error);
    r = status_view_new(status, topology, &view, &feed->error);
    if (r < 0)
        return STATUS_FAILED;
    render_status(view, screen, (int64_t)time(NULL), to);
    return 0;
}

static int print_json(Feed *feed)
{
    _cleanup_free_ char *status = NULL;
    _cleanup_text_ Text text = {0};
    int r;

    r = feed_read(feed, &status, NULL);
    if (r != 0) {
        report("%s", feed_error(feed));
        return r;
    }
    text_add(&text, status);
    text_add(&text, "\n");
    return output_write(&text);
}

static int print_text(Feed *feed)
{
    Screen screen = screen_get(feed->globals);
    _cleanup_text_ Text text = {0};
    int r;

    r = status_add_text(feed, &screen, &text);
    if (r != 0) {
        report("%s", feed_error(feed));
        return r;
    }
    return output_write(&text);
}

int status_run(const Command *command, Globals *globals, int argc, char **argv)
{
    static const struct option names[] = {
        {"json", no_argument, NULL, 'j'},
        {"watch", no_argument, NULL, 'w'},
        {0},
    };
    _cleanup_feed_ Feed feed = {.globals = globals};
    StatusOptions options = {0};
    int r;

    r = options_parse(command, globals, argc, argv, ":", names, take_option, &options);
    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    if (options.json && options.watch) {
        report("status: --json and --watch: give one, --json prints one document");
        return STATUS_USAGE;
    }
    if (options.watch)
        return watch_run(&feed);
    return options.json ? print_json(&feed) : print_text(&feed);
}
