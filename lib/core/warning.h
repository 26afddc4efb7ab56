/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

/* What a person should know about this host. The codes are stable (contract); the texts are for people. */
typedef enum WarningCode {
    WARNING_SLIT_INVALID,
    WARNING_SLIT_ASYMMETRIC,
    WARNING_SLIT_FLAT,
    WARNING_SLIT_MISMATCH, /* the firmware's table says other distances than the hypervisor */
    WARNING_SRAT_INVALID,
    WARNING_SRAT_MISMATCH, /* the firmware's table says other nodes than the hypervisor */
    WARNING_DISTANCE_UNREACHABLE,
    WARNING_NODE_OFFLINE, /* a hole among the node ids */
    WARNING_DOM0_VIEW_DIFFERS,
    WARNING_CPU_NODE_CONFLICT,
    WARNING_PATCH_MISSING,
    WARNING_NOT_PERMITTED,
    WARNING_FREE_ABOVE_SIZE,
    WARNING_SOURCE_FAILED, /* a read failed for another reason: what it brings is null or old */
    WARNING_LEDGER_LOST,   /* what was promised before this start is not known */
    _WARNING_MAX,
} WarningCode;

const char *warning_code_to_text(WarningCode code); /* "slit-invalid"; never NULL for a valid code */

typedef struct Warning {
    WarningCode code;
    char *text; /* owned */
} Warning;

/* A zeroed list is empty. */
typedef struct WarningList {
    Warning *items;
    size_t n;
} WarningList;

void warning_list_done(WarningList *list);
/* Adds one; a warning with the same code and text is not added twice. 0 or -ENOMEM. */
int warning_list_add(WarningList *list, WarningCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool warning_list_has_item(const WarningList *list, WarningCode code, const char *text);
bool warning_list_has(const WarningList *list, WarningCode code);

/* Adds all of the other list. 0 or -ENOMEM. */
int warning_list_add_all(WarningList *list, const WarningList *from);

/* That the hypervisor lacks what tells domains' memory by node; the same words for a real host and its capture. */
int warning_patch_missing(WarningList *list);
