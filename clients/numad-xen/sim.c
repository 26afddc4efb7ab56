/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim.h"

#include "number.h"
#include "place.h"
#include "report.h"

#include <string.h>

/* Domains of a simulated host: what a toolstack does on a real one. */

static int fail(Feed *feed, int r)
{
    r = feed_fail_client(feed, r);
    report("sim: %s", feed_error(feed));
    return r;
}

static int connect_feed(Feed *feed)
{
    int r = feed_connect(feed);

    if (r != 0)
        report("sim: %s", feed_error(feed));
    return r;
}

static int check_words(const SimOptions *options, size_t n, const char *usage)
{
    if (options->n_words == n)
        return 0;
    report("sim %s: give %s", options->words[0], usage);
    return STATUS_USAGE;
}

static int read_domid(const char *text, uint32_t *ret_domid)
{
    uint64_t domid = 0;

    if (!number_from_text(text, &domid) || domid >= DOMAINS_MAX) {
        report("sim: '%s': no domid: give a number from 0 to %u", text, DOMAINS_MAX - 1);
        return STATUS_USAGE;
    }
    *ret_domid = (uint32_t)domid;
    return 0;
}

static int create(Feed *feed, SimOptions *options)
{
    _cleanup_text_ Text said = {0};
    uint32_t domid = 0;
    int r = check_words(options, 1, "options alone"), committed = 0;

    if (r == 0)
        r = connect_feed(feed);
    if (r != 0)
        return r;
    r = numadx_sim_create(feed->client, options->values, options->n_values, &domid);
    if (r < 0)
        return fail(feed, r);
    if (options->token)
        committed = feed_commit(feed, options->token, domid);
    if (committed != 0)
        report("sim: domain %u runs, but is not committed: %s", domid, feed_error(feed));
    text_printf(&said, "%u\n", domid);
    r = output_write(&said);
    return committed != 0 ? committed : r;
}

static int destroy(Feed *feed, SimOptions *options)
{
    uint32_t domid = 0;
    int r = check_words(options, 2, "DOMID");

    if (r == 0)
        r = read_domid(options->words[1], &domid);
    if (r == 0)
        r = connect_feed(feed);
    if (r != 0)
        return r;
    r = numadx_sim_destroy(feed->client, domid);
    return r < 0 ? fail(feed, r) : 0;
}

static int balloon(Feed *feed, SimOptions *options)
{
    uint64_t bytes = 0;
    uint32_t domid = 0;
    int r = check_words(options, 3, "DOMID SIZE");

    if (r == 0)
        r = read_domid(options->words[1], &domid);
    if (r == 0 && !size_from_text(options->words[2], &bytes)) {
        report("sim balloon: '%s': give " SIZE_ALLOWED, options->words[2]);
        r = STATUS_USAGE;
    }
    if (r == 0)
        r = connect_feed(feed);
    if (r != 0)
        return r;
    r = numadx_sim_balloon(feed->client, domid, bytes);
    return r < 0 ? fail(feed, r) : 0;
}

static int fault(Feed *feed, SimOptions *options)
{
    char *texts[SIM_WORDS_MAX] = {0};
    size_t n = 0;
    int r = 0;

    if (options->n_words < 2) {
        report("sim fault: give KIND [KEY=VALUE...]");
        return STATUS_USAGE;
    }
    for (; r == 0 && n + 2 < options->n_words; n++) {
        texts[n] = strdup(options->words[n + 2]);
        r = texts[n] ? sim_fault_value(texts[n], &options->values[n]) : report_no_memory();
    }
    if (r == 0)
        r = connect_feed(feed);
    if (r == 0) {
        r = numadx_sim_fault(feed->client, options->words[1], options->values, n);
        r = r < 0 ? fail(feed, r) : 0;
    }
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    return r;
}

static const struct {
    const char *name;
    int (*run)(Feed *feed, SimOptions *options);
} actions[] = {{"create", create}, {"destroy", destroy}, {"balloon", balloon}, {"fault", fault}};

int sim_run(const Command *command, Globals *globals, int argc, char **argv)
{
    _cleanup_feed_ Feed feed = {.globals = globals};
    SimOptions options;
    int r = sim_options_read(command, globals, argc, argv, &options);

    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
        if (strcmp(options.words[0], actions[i].name) == 0)
            return actions[i].run(&feed, &options);
    report("sim: '%s': give create, destroy, balloon or fault", options.words[0]);
    return STATUS_USAGE;
}
