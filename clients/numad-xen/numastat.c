/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"
#include "render.h"
#include "report.h"

#include <stdio.h>

typedef struct NumastatOptions {
    const char *domain; /* domid or name; NULL: all */
    bool pages;
} NumastatOptions;

static int take_option(int option, const char *value, void *state)
{
    NumastatOptions *options = state;

    if (option == 'p') {
        options->pages = true;
        return 0;
    }
    if (!*value) {
        report("numastat: -d: an empty value");
        return STATUS_USAGE;
    }
    options->domain = value;
    return 0;
}

/* A domid is a domid first; a domain may still be called like a number. */
static const DomainView *find_domain(const StatusView *view, const char *wanted, size_t *ret_n)
{
    const DomainView *found = NULL;
    bool number = strspn(wanted, "0123456789") == strlen(wanted);

    *ret_n = 0;
    for (size_t i = 0; number && i < view->n_domains; i++)
        if (strlen(wanted) <= 5 && view->domains[i].domid == strtoul(wanted, NULL, 10)) {
            *ret_n = 1;
            return &view->domains[i];
        }
    for (size_t i = 0; i < view->n_domains; i++)
        if (bytes_equal(view->domains[i].name, wanted)) {
            found = &view->domains[i];
            (*ret_n)++;
        }
    return found;
}

/* Why nobody can say where memory is, in the words of the host's own warning if there is one. */
static int report_unsupported(const StatusView *view, const char *whose)
{
    static const char *const codes[] = {"patch-missing", "not-permitted", "source-failed"};

    for (size_t c = 0; c < ARRAY_SIZE(codes); c++)
        for (size_t i = 0; i < value_count(view->host.warnings); i++) {
            struct json_object *warning = value_at(view->host.warnings, i);
            Bytes text = value_bytes(warning, "text");

            if (text.data && bytes_equal(value_bytes(warning, "code"), codes[c])) {
                report("numastat: %s: not known where its memory is: %.*s", whose, (int)MIN(text.size, (size_t)4096),
                       text.data);
                return STATUS_FAILED;
            }
        }
    report("numastat: %s: not known where its memory is: numad-xen doctor says what is missing", whose);
    return STATUS_FAILED;
}

static int add_pages(const StatusView *view, const DomainView *domains, size_t n, Text *to)
{
    size_t unknown = 0;

    if (view->host.page_size == VALUE_UNKNOWN || !view->host.page_size) {
        report("numastat: --pages: the size of a page is not known");
        return STATUS_FAILED;
    }
    for (size_t i = 0; i < n; i++) {
        unknown += !domains[i].has_nodes;
        for (size_t k = 0; k < domains[i].n_nodes; k++) {
            const NodeBytes *row = &domains[i].nodes[k];

            text_printf(to, "DOM%u: NODE%u: PAGES: ", domains[i].domid, row->node);
            if (row->bytes == VALUE_UNKNOWN)
                text_add(to, "-\n");
            else
                text_printf(to, "%llu\n", (unsigned long long)(row->bytes / view->host.page_size));
        }
    }
    if (unknown && unknown == n)
        return report_unsupported(view, n == 1 ? "the domain" : "any domain");
    if (unknown)
        report("numastat: %zu of %zu domains left out: not known where their memory is", unknown, n);
    return 0;
}

static int choose_domains(const StatusView *view, const char *wanted, const DomainView **ret_domains, size_t *ret_n)
{
    *ret_domains = view->domains;
    *ret_n = view->n_domains;
    if (!wanted)
        return 0;
    *ret_domains = find_domain(view, wanted, ret_n);
    if (*ret_n == 0)
        report("numastat: %s: no such domain: numad-xen status lists them", wanted);
    else if (*ret_n > 1)
        report("numastat: %s: %zu domains have this name: give the domid", wanted, *ret_n);
    else if (!(*ret_domains)->has_nodes)
        return report_unsupported(view, wanted);
    return *ret_n == 1 ? 0 : STATUS_FAILED;
}

static int print(Feed *feed, const char *status, const NumastatOptions *options)
{
    _cleanup_(status_view_free_p) StatusView *view = NULL;
    Screen screen = screen_get(feed->globals);
    _cleanup_free_ char *error = NULL;
    _cleanup_text_ Text text = {0};
    const DomainView *domains;
    size_t n;
    int r;

    r = status_view_new(status, NULL, &view, &error);
    if (r < 0) {
        report("numastat: %s", error ? error : "not enough memory");
        return STATUS_FAILED;
    }
    r = choose_domains(view, options->domain, &domains, &n);
    if (r == 0 && options->pages)
        r = add_pages(view, domains, n, &text);
    else if (r == 0)
        render_numastat(view, domains, n, &screen, &text);
    return r != 0 ? r : output_write(&text);
}

int numastat_run(const Command *command, Globals *globals, int argc, char **argv)
{
    static const struct option names[] = {
        {"domain", required_argument, NULL, 'd'},
        {"pages", no_argument, NULL, 'p'},
        {0},
    };
    _cleanup_feed_ Feed feed = {.globals = globals};
    _cleanup_free_ char *status = NULL;
    NumastatOptions options = {0};
    int r;

    r = options_parse(command, globals, argc, argv, ":d:", names, take_option, &options);
    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    r = feed_read(&feed, &status, NULL);
    if (r != 0) {
        report("%s", feed_error(&feed));
        return r;
    }
    return print(&feed, status, &options);
}
