/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/fake-xen.h"

#include <json-c/json.h>

/* What a collection that met a fault may show: judged on whole documents, beside those of a host without one. */

/* Rows that every reader may rely on, whatever happened. */
void oracle_check_rows(const HostRows *rows);
/*
 * Collects, checks and seals: {"status": .., "topology": ..} as they are published, *ret_generation and time being
 * always the same. NULL when the collection failed with -ENOMEM; any other error fails the test.
 */
json_object *oracle_collect(Source *source, bool full);
/* The same with the sealing only. Consumes the rows. */
json_object *oracle_documents(HostRows *rows);

/*
 * Where a fault may show, by path: "status.nodes[].memory.low" and all below. Elements of arrays are told apart by
 * their domid, node, CPU and so on; one that is missing needs the array's own path with "[]". There it may be null, or
 * what it was in `old` (may be NULL). With '~' before it, it is derived, and may be anything; with '^' it may when
 * there is nothing old to go by.
 */
typedef struct OracleRules {
    const char *const *paths; /* ends with NULL */
    bool first;               /* there is nothing old */
} OracleRules;

/* Fails the test at the first difference that the rules do not allow. Warnings are not compared. */
void oracle_compare(json_object *got, json_object *wanted, json_object *old, OracleRules rules);
void oracle_equal(json_object *got, json_object *wanted);

/* Whether the documents have a warning that `without` (may be NULL) lacks, with that code, about that. */
bool oracle_has_new_warning(json_object *got, json_object *without, WarningCode code, const char *about);
/* How many there are that it lacks and that tell of a call; others may change with what is known. */
unsigned oracle_count_new_warnings(json_object *got, json_object *without);
