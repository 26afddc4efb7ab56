/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/settings.h"
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

/* Whether a text is taken; refusals say where and why. */
static bool parse(const char *text, size_t size, Settings *ret_settings)
{
    _cleanup_free_ char *error = NULL;
    unsigned line = 0;
    int r = settings_parse("f", text, size, ret_settings, &error);

    if (r == 0)
        return true;
    if (r != SETTINGS_E_REFUSED)
        return false; /* memory was short */
    FUZZ_HOLDS(error && sscanf(error, "f:%u: ", &line) == 1 && line > 0);
    return false;
}

/* "key=value key=value" as a file. */
static void add_file(char *changes, Text *to)
{
    char *rest = changes;

    for (char *word = strtok_r(changes, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        _cleanup_free_ char *key = strndup(word, strcspn(word, "="));
        const Setting *setting = key ? settings_find(NULL, key) : NULL;

        if (!key)
            return; /* memory is short */
        FUZZ_HOLDS(setting);
        text_printf(to, "[%s]\n%s\n", setting->section, word);
    }
}

static void write_changes(const Settings *settings, Text *to)
{
    _cleanup_text_ Text changes = {0};

    settings_add_changes(settings, &changes);
    if (changes.size)
        add_file(changes.data, to);
}

/* What was taken can be said again, and says the same. */
static void check_again(const Settings *settings)
{
    _cleanup_text_ Text first = {0}, second = {0};
    Settings again;

    write_changes(settings, &first);
    if (first.failed)
        return;
    FUZZ_HOLDS(parse(first.data ? first.data : "", first.size, &again));
    write_changes(&again, &second);
    FUZZ_HOLDS(first.size == second.size && (!first.size || memcmp(first.data, second.data, first.size) == 0));
}

/* A bad line stays one wherever it stands. */
static void check_spoilt(const char *text, size_t size)
{
    static const char bad[] = "\n[daemon]\ninterval_ms = 1\n";
    _cleanup_text_ Text spoilt = {0};
    Settings settings;

    text_add_bytes(&spoilt, text, size);
    text_add(&spoilt, bad);
    FUZZ_HOLDS(spoilt.failed || !parse(spoilt.data, spoilt.size, &settings));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Settings settings;

    if (!parse((const char *)data, size, &settings))
        return 0;
    check_again(&settings);
    check_spoilt((const char *)data, size);
    return 0;
}
