/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/policy.h"
#include "lib/core/text.h"

/*
 * The configuration file, numad-xend.conf(5): what it may say, what holds when it says nothing.
 */

typedef struct Settings {
    uint64_t interval_ms;
    bool adopt;
    PlacementPolicy policy;
    uint64_t headroom; /* of each node */
    uint64_t ttl_ms, gather_ms, gather_max_ms;
    uint64_t reservations, per_uid, requests_per_s;
} Settings;

typedef enum SettingKind { SETTING_NUMBER, SETTING_SIZE, SETTING_YES_NO, SETTING_POLICY } SettingKind;

typedef struct Setting {
    const char *section, *key;
    SettingKind kind;
    const char *standard; /* as the file would say it */
    uint64_t min, max;    /* of a number or a size */
    size_t offset;        /* in Settings */
} Setting;

/* Every key there is, by section. */
#define SETTINGS_N 10
extern const Setting settings_table[SETTINGS_N];

Settings settings_defaults(void);
/* In the section, or in any when it is NULL. */
const Setting *settings_find(const char *section, const char *key);
/* What is wrong with the value ("is too large"); NULL: nothing, and it is set. */
const char *settings_set(const Setting *setting, const char *text, Settings *settings);
/* What a value may be, for a person: "a whole number from 100 to 3600000". */
void settings_add_allowed(const Setting *setting, Text *to);

#define SETTINGS_BYTES_MAX (64u << 10)
#define SETTINGS_LINE_MAX 160u /* of a line that is no comment, blanks around it not counted */

#define SETTINGS_E_REFUSED 1
/*
 * Reads a text, `file` is what it is called in errors. 0; SETTINGS_E_REFUSED, and *ret_error (owned) says
 * "FILE:LINE: section.key: why and what is allowed"; or -ENOMEM.
 */
int settings_parse(const char *file, const char *text, size_t size, Settings *ret_settings, char **ret_error);

/*
 * The same for a file. One that is not there is the defaults, unless it is required. Also a negative errno when
 * it cannot be read; *ret_error says so, NULL when memory is short.
 */
int settings_load(const char *path, bool required, Settings *ret_settings, char **ret_error);

/* "interval_ms=500 headroom=1G": the values that are not the default; nothing when all are. */
void settings_add_changes(const Settings *settings, Text *to);
