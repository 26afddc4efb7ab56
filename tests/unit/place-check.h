/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/place-oracle.h"

/*
 * What has to hold of any answer, whatever the host and the request. NULL, or what does not hold; the text lives until
 * the next call.
 */
const char *place_check_answer(const PlaceCase *place, const Snapshot *snapshot, int result, const Placement *placement,
                               const char *why);
/* The candidates of an answer, or of a refusal. */
const char *place_check_candidates(const PlaceCase *place, const Snapshot *snapshot, int result,
                                   const Placement *placement);

/* Everything an answer says as text, to be compared. Free with free(). */
char *place_answer_text(int result, const Placement *placement, const char *why);

/* Parts of it, by file. */
const char *place_check_vcpus(const Oracle *oracle, const Placement *placement);
const char *say(const char *format, ...) __attribute__((format(printf, 1, 2)));
