/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/host.h"

/* Host descriptions as tests write them: with ' for ", which no key or value of theirs holds. */

#define HEAD "{'format':'numad-xen-host/1',"
#define NODE "{'size':1048576,'free':4096}"
#define NODES(nodes) HEAD "'nodes':[" nodes "]}"
/* More than a smallest host: two nodes of two CPUs. */
#define MORE(more) \
    HEAD "'nodes':[{'size':1048576,'free':4096,'cpus':'0-1'},{'size':1048576,'free':4096,'cpus':'2-3'}]," more "}"
#define DOMAIN(more) MORE("'domains':[{'domid':1," more "}]")

/* The text as JSON; free with free(). */
static inline char *json_of(const char *quoted)
{
    char *json = strdup(quoted);

    assert_non_null(json);
    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    return json;
}

/* Rows of a description that must be good. */
static inline HostRows *rows_of(const char *quoted)
{
    _cleanup_free_ char *json = json_of(quoted);
    HostRows *rows = NULL;
    char *error = NULL;
    int r = hostdesc_parse(json, strlen(json), &rows, &error);

    if (r != 0)
        fail_msg("%s: refused: %s", json, error ? error : "no memory");
    return rows;
}

static inline Snapshot *snapshot_of(const char *quoted)
{
    Snapshot *snapshot = NULL;

    assert_int_equal(snapshot_seal(rows_of(quoted), 1, -1, &snapshot), 0);
    return snapshot;
}
