/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#include <sys/types.h>

/* Which user is behind a unique bus name: a bounded cache. The bus never gives a unique name out again. */
#define CALLERS_MAX 128u

typedef struct Caller {
    char *name; /* owned */
    uid_t uid;
    uint64_t used;
} Caller;

/* A zeroed cache is empty. */
typedef struct Callers {
    size_t n;
    uint64_t clock; /* counts uses: the entry with the oldest gives way */
    Caller items[CALLERS_MAX];
} Callers;

void callers_done(Callers *callers);
bool callers_find(Callers *callers, const char *name, uid_t *ret_uid);
/* A caller that memory is too short for is not remembered. */
void callers_add(Callers *callers, const char *name, uid_t uid);
