/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"
#include "lib/core/hostdesc-write.h"
#include "lib/core/hostdesc.h"
#include "lib/io/capture.h"
#include "report.h"
#include "savefile.h"

#include <string.h>

/* The capture is complete before anything is written, so that a refusal leaves nothing behind. */

typedef struct GatherOptions {
    const char *folder;
    bool anonymize;
} GatherOptions;

static int take_option(int option, const char *value, void *state)
{
    GatherOptions *options = state;

    if (option == 'a') {
        options->anonymize = true;
        return 0;
    }
    if (options->folder || !*value) {
        report("gather: '%s': %s", value, *value ? "one folder is enough" : "an empty name");
        return STATUS_USAGE;
    }
    options->folder = value;
    return 0;
}

/* Whatever the capture came from, --host reads it again. */
static int check(const char *text, bool anonymize, char **ret_text)
{
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;
    _cleanup_free_ char *error = NULL;
    int r = hostdesc_parse(text, strlen(text), &rows, &error);

    if (r == HOSTDESC_E_REFUSED) {
        report("gather: the capture cannot be read again: %s: is numad-xend of another version?", error);
        return STATUS_FAILED;
    }
    if (r == 0 && anonymize)
        r = hostdesc_anonymize(rows);
    if (r == 0 && anonymize)
        r = hostdesc_document(rows, ret_text);
    return r < 0 ? report_no_memory() : 0;
}

static int fail_save(const char *folder, int r, int error)
{
    if (r == SAVE_E_EXISTS)
        report("%s/%s: is there already: remove it, or give another folder", folder, CAPTURE_FILE);
    else if (r < 0)
        report("%s/%s: %s", folder, CAPTURE_FILE, strerror(-r));
    else if (error == ELOOP || error == ENOTDIR)
        report("%s: not a folder, or a link to one: give the folder itself", folder);
    else
        report("%s: %s", folder, strerror(error));
    return STATUS_FAILED;
}

static int save(const char *folder, const char *capture)
{
    _cleanup_text_ Text text = {0}, said = {0};
    int r, error = 0;

    text_add(&text, capture);
    text_add(&text, "\n");
    if (text.failed)
        return report_no_memory();
    r = save_file(folder, CAPTURE_FILE, text.data, text.size, &error);
    if (r != 0)
        return fail_save(folder, r, error);
    text_printf(&said, "%s/%s\n", folder, CAPTURE_FILE);
    return output_write(&said);
}

int gather_run(const Command *command, Globals *globals, int argc, char **argv)
{
    static const struct option names[] = {{"anonymize", no_argument, NULL, 'a'}, {0}};
    _cleanup_feed_ Feed feed = {.globals = globals};
    _cleanup_free_ char *capture = NULL, *anonymous = NULL;
    GatherOptions options = {0};
    int r;

    r = options_parse(command, globals, argc, argv, "-:", names, take_option, &options);
    if (r != 0)
        return r == OPTION_END ? STATUS_DONE : r;
    if (!options.folder) {
        report("gather: no folder: give one, like 'numad-xen gather myhost'");
        return STATUS_USAGE;
    }
    r = feed_read_capture(&feed, &capture);
    if (r != 0) {
        report("%s", feed_error(&feed));
        return r;
    }
    r = check(capture, options.anonymize, &anonymous);
    return r != 0 ? r : save(options.folder, anonymous ? anonymous : capture);
}
