/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "settings.h"

#include "lib/io/file.h"

#include <stdio.h>
#include <string.h>

#define HOUR_MS (60u * 60u * 1000u)
#define SIZE_MAX_BYTES (64ull << 40)

const Setting settings_table[SETTINGS_N] = {
    {"daemon", "interval_ms", SETTING_NUMBER, "1000", 100, HOUR_MS, offsetof(Settings, interval_ms)},
    {"daemon", "adopt", SETTING_YES_NO, "no", 0, 0, offsetof(Settings, adopt)},
    {"placement", "policy", SETTING_POLICY, "balance", 0, 0, offsetof(Settings, policy)},
    {"placement", "headroom", SETTING_SIZE, "0", 0, SIZE_MAX_BYTES, offsetof(Settings, headroom)},
    {"placement", "ttl_ms", SETTING_NUMBER, "60000", 1000, 24 * HOUR_MS, offsetof(Settings, ttl_ms)},
    {"placement", "gather_ms", SETTING_NUMBER, "100", 0, 10000, offsetof(Settings, gather_ms)},
    {"placement", "gather_max_ms", SETTING_NUMBER, "1000", 0, 60000, offsetof(Settings, gather_max_ms)},
    {"limits", "reservations", SETTING_NUMBER, "1024", 1, DOMAINS_MAX, offsetof(Settings, reservations)},
    {"limits", "per_uid", SETTING_NUMBER, "64", 1, DOMAINS_MAX, offsetof(Settings, per_uid)},
    {"limits", "requests_per_s", SETTING_NUMBER, "200", 1, 100000, offsetof(Settings, requests_per_s)},
};

/* Exact: with the largest unit that divides it. */
static void add_size(uint64_t bytes, Text *to)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    size_t unit = 0;

    while (bytes && bytes % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
        bytes /= 1024;
        unit++;
    }
    text_add_u64(to, bytes);
    text_add(to, units[unit]);
}

void settings_add_allowed(const Setting *setting, Text *to)
{
    switch (setting->kind) {
    case SETTING_NUMBER:
        text_printf(to, "a whole number from %" PRIu64 " to %" PRIu64, setting->min, setting->max);
        break;
    case SETTING_SIZE:
        text_add(to, "a size from ");
        add_size(setting->min, to);
        text_add(to, " to ");
        add_size(setting->max, to);
        text_add(to, ", in bytes or with K, M, G or T");
        break;
    case SETTING_YES_NO:
        text_add(to, "yes or no");
        break;
    case SETTING_POLICY:
        text_add(to, "balance, pack, interleave or any");
        break;
    }
}

/* Reads the digits at *text and moves it behind them. */
static bool take_number(const char **text, uint64_t *ret_value)
{
    const char *p = *text;
    uint64_t value = 0;

    while (*p >= '0' && *p <= '9') {
        unsigned digit = (unsigned)(*p++ - '0');

        if (value > (UINT64_MAX - digit) / 10)
            value = UINT64_MAX; /* stays there: out of any range */
        else
            value = value * 10 + digit;
    }
    *ret_value = value;
    if (p == *text)
        return false;
    *text = p;
    return true;
}

static bool parse_number(const char *text, uint64_t *ret_value)
{
    return take_number(&text, ret_value) && !*text;
}

static bool parse_size(const char *text, uint64_t *ret_value)
{
    static const char units[] = "KMGT";
    const char *unit;
    uint64_t value;

    if (!take_number(&text, &value))
        return false;
    unit = strchr(units, *text); /* the 0 at its end for no unit */
    if (!unit || (*text && text[1]))
        return false;
    for (ptrdiff_t n = *text ? unit - units + 1 : 0; n > 0; n--)
        value = value > UINT64_MAX / 1024 ? UINT64_MAX : value * 1024;
    *ret_value = value;
    return true;
}

const char *settings_set(const Setting *setting, const char *text, Settings *settings)
{
    void *field = (char *)settings + setting->offset;
    uint64_t value = 0;

    switch (setting->kind) {
    case SETTING_YES_NO:
        *(bool *)field = strcmp(text, "yes") == 0;
        return *(bool *)field || strcmp(text, "no") == 0 ? NULL : "is not allowed";
    case SETTING_POLICY:
        return policy_from_text(text, field) ? NULL : "is not allowed";
    default:
        if (!(setting->kind == SETTING_NUMBER ? parse_number : parse_size)(text, &value))
            return setting->kind == SETTING_NUMBER ? "is no whole number" : "is no size";
        if (value < setting->min || value > setting->max)
            return value < setting->min ? "is too small" : "is too large";
        *(uint64_t *)field = value;
        return NULL;
    }
}

Settings settings_defaults(void)
{
    Settings settings = {0};

    for (size_t i = 0; i < SETTINGS_N; i++)
        (void)settings_set(&settings_table[i], settings_table[i].standard, &settings);
    return settings;
}

const Setting *settings_find(const char *section, const char *key)
{
    for (size_t i = 0; i < SETTINGS_N; i++)
        if ((!section || strcmp(settings_table[i].section, section) == 0) && strcmp(settings_table[i].key, key) == 0)
            return &settings_table[i];
    return NULL;
}

static int fail(const char *path, const char *why, int r, char **ret_error)
{
    if (asprintf(ret_error, "%s: %s", path, why) < 0)
        *ret_error = NULL;
    return r;
}

int settings_load(const char *path, bool required, Settings *ret_settings, char **ret_error)
{
    _cleanup_free_ char *text = NULL;
    size_t size = 0;
    int r = file_read_regular(path, SETTINGS_BYTES_MAX, &text, &size);

    *ret_error = NULL;
    if (r == -ENOENT && !required) {
        *ret_settings = settings_defaults();
        return 0;
    }
    if (r == FILE_E_NOT_REGULAR)
        return fail(path, "not a regular file", SETTINGS_E_REFUSED, ret_error);
    if (r == -EFBIG)
        return fail(path, "larger than 64 KiB, which no configuration is", SETTINGS_E_REFUSED, ret_error);
    if (r < 0)
        return fail(path, strerror(-r), r, ret_error);
    return settings_parse(path, text, size, ret_settings, ret_error);
}

static void add_value(const Setting *setting, const Settings *settings, Text *to)
{
    const void *field = (const char *)settings + setting->offset;

    switch (setting->kind) {
    case SETTING_YES_NO:
        text_add(to, *(const bool *)field ? "yes" : "no");
        break;
    case SETTING_POLICY:
        text_add(to, policy_to_text(*(const PlacementPolicy *)field));
        break;
    case SETTING_SIZE:
        add_size(*(const uint64_t *)field, to);
        break;
    case SETTING_NUMBER:
        text_add_u64(to, *(const uint64_t *)field);
        break;
    }
}

void settings_add_changes(const Settings *settings, Text *to)
{
    for (size_t i = 0; i < SETTINGS_N; i++) {
        const Setting *setting = &settings_table[i];
        _cleanup_text_ Text value = {0};

        add_value(setting, settings, &value);
        if (value.data && strcmp(value.data, setting->standard) != 0)
            text_printf(to, "%s%s=%s", to->size ? " " : "", setting->key, value.data);
    }
}
