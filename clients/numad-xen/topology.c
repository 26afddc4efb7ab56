/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"
#include "render.h"
#include "report.h"

#include <string.h>

typedef struct Wanted {
    bool json, hwloc;
} Wanted;

static int take_option(int option, const char *value, void *state)
{
    Wanted *wanted = state;

    wanted->json |= option == 'j';
    wanted->hwloc |= option == 'x';
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

/* One document and nothing else. */
static void add_document(const char *document, Text *to)
{
    size_t n = strlen(document);

    text_add_bytes(to, document, n);
    if (n == 0 || document[n - 1] != '\n')
        text_add(to, "\n");
}

int topology_run(const Command *command, Globals *globals, int argc, char **argv)
{
    static const struct option names[] = {{"json", no_argument, NULL, 'j'}, {"hwloc", no_argument, NULL, 'x'}, {0}};
    _cleanup_feed_ Feed feed = {.globals = globals};
    _cleanup_free_ char *document = NULL;
    _cleanup_text_ Text text = {0};
    Wanted wanted = {0};
    int r;

    r = options_parse(command, globals, argc, argv, ":", names, take_option, &wanted);
    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    if (wanted.json && wanted.hwloc) {
        report("topology: --json and --hwloc: give one, each prints one document");
        return STATUS_USAGE;
    }
    r = wanted.hwloc ? feed_read_hwloc(&feed, &document) : feed_read(&feed, NULL, &document);
    if (r != 0) {
        report("%s", feed_error(&feed));
        return r;
    }
    if (wanted.json || wanted.hwloc)
        add_document(document, &text);
    else
        r = add_text(&feed, document, &text);
    return r != 0 ? r : output_write(&text);
}
