/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <systemd/sd-bus.h>

/* Reads an a{sv} whose keys each have one D-Bus type. */
typedef struct SimKey {
    const char *name; /* NULL ends the table */
    char type;        /* 's', 'u' or 't' */
    bool required;
} SimKey;

typedef struct SimValue {
    bool given;
    uint64_t number;
    const char *text; /* of the message; no longer than SIM_TEXT_MAX */
} SimValue;

#define SIM_KEYS_MAX 16u
#define SIM_TEXT_MAX (64u << 10)

#define SIM_KEYS_E_INVALID 1
/* values[] as keys[]. 0; SIM_KEYS_E_INVALID, and *ret_why (owned) begins with the key; or negative. */
int sim_keys_read(sd_bus_message *call, const SimKey *keys, SimValue *values, char **ret_why);
/* Sets *ret_why to "key: ..."; returns SIM_KEYS_E_INVALID or -ENOMEM. */
int sim_keys_refuse(char **ret_why, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
