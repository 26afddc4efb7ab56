/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "place.h"

#include "render.h"
#include "report.h"

#include <string.h>

/*
 * What was reserved and cannot be told is given back: nobody would know of it. So the output is complete before any of
 * it is written.
 */

static int fail(Feed *feed, int status)
{
    feed_report(feed, status, "place");
    return status;
}

static int fail_view(int r, const char *error)
{
    report("place: %s", r == -ENOMEM || !error ? "not enough memory" : error);
    return STATUS_FAILED;
}

static int read_view(const char *json, PlacementView **ret_view)
{
    _cleanup_free_ char *error = NULL;
    int r = placement_view_new(json, ret_view, &error);

    return r < 0 ? fail_view(r, error) : 0;
}

static int explain(Feed *feed, const PlacementRequest *request, PlacementView **ret_view)
{
    _cleanup_free_ char *json = NULL;
    int r = feed_explain(feed, request, &json);

    return r != 0 ? fail(feed, r) : read_view(json, ret_view);
}

static int add_json(PlacementView *view, Text *to)
{
    const char *text = value_text(view->document);

    if (!text)
        return report_no_memory();
    text_add(to, text);
    text_add(to, "\n");
    return 0;
}

static int add_xl(Feed *feed, const PlacementView *view, const PlacementRequest *request, Text *to)
{
    _cleanup_(topology_view_free_p) TopologyView *topology = NULL;
    _cleanup_free_ char *json = NULL, *why = NULL;
    int r = feed_read(feed, NULL, &json);

    if (r != 0)
        return fail(feed, r);
    r = topology_view_new(json, &topology, &why);
    if (r < 0)
        return fail_view(r, why);
    r = xl_lines(view, topology, request, to, &why);
    return r != 0 ? fail_view(r, r == -EBADMSG ? "the answer makes no sense: is numad-xend of another version?" : why)
                  : 0;
}

static int add_output(Feed *feed, PlacementView *view, const PlaceOptions *options, Text *to)
{
    Screen screen;

    switch (options->format) {
    case PLACE_JSON:
        return add_json(view, to);
    case PLACE_XL:
        return add_xl(feed, view, &options->request, to);
    default:
        screen = screen_get(feed->globals);
        render_placement(view, &screen, to);
        return 0;
    }
}

static int print(Feed *feed, PlacementView *view, const PlaceOptions *options)
{
    _cleanup_text_ Text text = {0};
    int r = add_output(feed, view, options, &text);

    return r != 0 ? r : output_write(&text);
}

static int dry_run(Feed *feed, const PlaceOptions *options)
{
    _cleanup_(placement_view_free_p) PlacementView *view = NULL;
    int r = explain(feed, &options->request, &view);

    if (r != 0)
        return r;
    if (!options->explain && placement_view_set_candidates(view, NULL) < 0)
        return report_no_memory();
    return print(feed, view, options);
}

/* The candidates are those of a moment before. */
static int show_placed(Feed *feed, const char *json, const PlacementView *explained, const PlaceOptions *options)
{
    _cleanup_(placement_view_free_p) PlacementView *view = NULL;
    int r = read_view(json, &view);

    if (r != 0)
        return r;
    if (explained && placement_view_set_candidates(view, explained) < 0)
        return report_no_memory();
    return print(feed, view, options);
}

static int place(Feed *feed, const PlaceOptions *options)
{
    _cleanup_(placement_view_free_p) PlacementView *explained = NULL;
    _cleanup_free_ char *token = NULL, *json = NULL;
    int r = options->explain ? explain(feed, &options->request, &explained) : 0;

    if (r != 0)
        return r;
    r = feed_place(feed, &options->request, &token, &json);
    if (r != 0)
        return fail(feed, r);
    r = show_placed(feed, json, explained, options);
    if (r != 0 && feed_release(feed, token) != 0)
        report("place: %s is still reserved, until its time is over: %s", token, feed_error(feed));
    return r;
}

int place_run(const Command *command, Globals *globals, int argc, char **argv)
{
    _cleanup_(place_options_done) PlaceOptions options = {0};
    _cleanup_feed_ Feed feed = {.globals = globals};
    int r = place_options_read(command, globals, argc, argv, &options);

    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    return options.dry_run ? dry_run(&feed, &options) : place(&feed, &options);
}
