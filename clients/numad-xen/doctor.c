/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "doctor.h"

#include "display.h"
#include "lib/core/jsonwriter.h"
#include "report.h"
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void check_list_done(CheckList *checks)
{
    for (size_t i = 0; i < checks->n; i++) {
        free(checks->items[i].text);
        free(checks->items[i].fix);
    }
    free(checks->items);
    *checks = (CheckList){0};
}

/* Takes the text over. */
static void add_check(CheckList *checks, const char *code, bool ok, const char *fix, char *text)
{
    Check check = {.code = code, .ok = ok, .fix = strdup(fix), .text = text}, *items;

    items = reallocarray(checks->items, checks->n + 1, sizeof(*items));
    if (items)
        checks->items = items;
    if (!items || !check.text || !check.fix) {
        free(check.text);
        free(check.fix);
        checks->failed = true;
        return;
    }
    items[checks->n++] = check;
}

void check_list_add(CheckList *checks, const char *code, bool ok, const char *fix, const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    int r;

    va_start(ap, format);
    r = vasprintf(&text, format, ap);
    va_end(ap);
    add_check(checks, code, ok, ok || !fix ? "" : fix, r < 0 ? NULL : text);
}

void check_list_advise(CheckList *checks, const char *code, const char *advice, const char *text)
{
    add_check(checks, code, true, advice, strdup(text));
}

bool check_list_all_ok(const CheckList *checks)
{
    for (size_t i = 0; i < checks->n; i++)
        if (!checks->items[i].ok)
            return false;
    return true;
}

static void write_json(const CheckList *checks, Text *to)
{
    JsonWriter w = {0};

    jsonw_begin(&w, NULL, '{');
    jsonw_string(&w, "format", "numad-xen-doctor/1");
    jsonw_begin(&w, "checks", '[');
    for (size_t i = 0; i < checks->n; i++) {
        jsonw_begin(&w, NULL, '{');
        jsonw_string(&w, "code", checks->items[i].code);
        jsonw_bool(&w, "ok", checks->items[i].ok);
        jsonw_string(&w, "text", checks->items[i].text);
        jsonw_string(&w, "fix", checks->items[i].fix);
        jsonw_end(&w, '}');
    }
    jsonw_end(&w, ']');
    jsonw_end(&w, '}');
    text_add(&w.text, "\n");
    *to = w.text;
}

/* One line each, and under a failed one what to do. */
static void write_text(const CheckList *checks, const Screen *screen, Text *to)
{
    unsigned width = screen_width(screen, 0), flags = screen->ascii_names ? DISPLAY_ASCII : 0;
    size_t n_failed = 0;

    for (size_t i = 0; i < checks->n; i++) {
        const Check *check = &checks->items[i];
        _cleanup_free_ char *text = display_escape(check->text, strlen(check->text), flags);

        n_failed += !check->ok;
        screen_add(screen, to, check->ok ? STYLE_GOOD : STYLE_BAD, check->ok ? "ok  " : "FAIL");
        text_printf(to, "  %-11s  ", check->code);
        display_add_wrapped(to, text ? text : "-", 19, 19, width);
        if (*check->fix) {
            text_printf(to, "\n                   %s ", check->ok ? "might help:" : "to do:");
            display_add_wrapped(to, check->fix, check->ok ? 31 : 26, 26, width);
        }
        text_add(to, "\n");
    }
    if (n_failed)
        text_printf(to, "\n%zu of %zu checks failed.\n", n_failed, checks->n);
    else
        text_printf(to, "\nAll %zu checks passed.\n", checks->n);
}

/* sd-bus reads the environment too. */
static bool on_system_bus(const Globals *globals)
{
    return !globals->host && !globals->bus && !globals->remote && !secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");
}

static void check_version(CheckList *checks, Feed *feed, const DoctorAdvice *advice)
{
    _cleanup_free_ char *version = NULL;

    if (feed_read_version(feed, &version) != 0)
        check_list_add(checks, "version", false, "use the same version of numad-xend and numad-xen",
                       "the daemon does not tell its version: %s", feed_error(feed));
    else
        check_list_add(checks, "version", strcmp(version, PACKAGE_VERSION) == 0, advice->restart,
                       "numad-xend is version %s, numad-xen is %s", version, PACKAGE_VERSION);
}

static void check_document(CheckList *checks, Feed *feed, const char *status, bool live)
{
    bool system_bus = on_system_bus(feed->globals), remote = feed->globals->remote;
    _cleanup_(status_view_free_p) StatusView *view = NULL;
    _cleanup_free_ char *error = NULL;

    if (status_view_new(status, NULL, &view, &error) < 0) {
        check_list_add(checks, "status", false, "use the same version of numad-xend and numad-xen", "%s",
                       error ? error : "not enough memory");
        return;
    }
    if (live && !view->host.simulated && !remote) { /* what this machine has says nothing of another */
        if (system_bus)
            doctor_check_policy(checks);
        doctor_check_machine(checks);
    }
    doctor_check_status(checks, view, live ? (int64_t)time(NULL) : -1, doctor_advice(system_bus, remote));
}

static const char *fix_of_daemon(const Feed *feed, const DoctorAdvice *advice)
{
    switch (feed->cause) {
    case -EACCES:
    case -EPERM:
        return advice->admit;
    case -ENOTCONN:
        return advice->start;
    case -EBUSY:
        return "ask again in a second";
    default: /* it runs */
        return advice->restart;
    }
}

/* Without the daemon what this machine tells is all there is, and likely why there is none. */
static void check_daemon(CheckList *checks, Feed *feed)
{
    const DoctorAdvice *advice = doctor_advice(on_system_bus(feed->globals), feed->globals->remote);
    _cleanup_free_ char *status = NULL;
    int r;

    r = feed_connect(feed);
    check_list_add(checks, "bus", r == 0, advice->start_bus, "%s",
                   r == 0 ? "the bus can be reached" : feed_error(feed));
    if (r == 0) {
        r = feed_read(feed, &status, NULL);
        check_list_add(checks, "daemon", r == 0, fix_of_daemon(feed, advice), "%s",
                       r == 0 ? "numad-xend answers" : feed_error(feed));
    }
    if (r == 0) {
        check_version(checks, feed, advice);
        check_document(checks, feed, status, true);
    } else if (!feed->globals->remote) {
        if (on_system_bus(feed->globals))
            doctor_check_policy(checks);
        doctor_check_machine(checks);
    }
}

static int check_host(CheckList *checks, Feed *feed)
{
    _cleanup_free_ char *status = NULL;
    int r;

    r = feed_read(feed, &status, NULL);
    if (r != 0)
        report("%s", feed_error(feed));
    else
        check_document(checks, feed, status, false);
    return r;
}

static int take_option(int option, const char *value, void *state)
{
    *(bool *)state = true;
    return 0;
}

int doctor_run(const Command *command, Globals *globals, int argc, char **argv)
{
    static const struct option names[] = {{"json", no_argument, NULL, 'j'}, {0}};
    _cleanup_(check_list_done) CheckList checks = {0};
    _cleanup_feed_ Feed feed = {.globals = globals};
    _cleanup_text_ Text text = {0};
    bool json = false;
    Screen screen;
    int r;

    r = options_parse(command, globals, argc, argv, ":", names, take_option, &json);
    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    if (globals->host)
        r = check_host(&checks, &feed);
    else
        check_daemon(&checks, &feed);
    if (r != 0)
        return r;
    if (checks.failed)
        return report_no_memory();
    screen = screen_get(globals);
    if (json)
        write_json(&checks, &text);
    else
        write_text(&checks, &screen, &text);
    r = output_write(&text);
    return r == STATUS_DONE && !check_list_all_ok(&checks) ? STATUS_FAILED : r;
}
