/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/place-check.h"
#include "tests/unit/unit.h"

/*
 * A property of the engine, tried on many cases, each of its own seed. NUMAD_XEN_ROUNDS=N in the environment: N times
 * as many cases; NUMAD_XEN_SEED=S: the one case of that seed (a failure prints it) in each property, as a comment.
 */
typedef struct Property {
    const char *name;
    unsigned n;
    CaseLimits limits;
    /* NULL: it holds. CASE_VOID: the case says nothing of it. Else what does not hold. */
    const char *(*holds)(Draw *draw, const PlaceCase *place);
} Property;

extern const char CASE_VOID[];

/* As cmocka's test functions; *state is the Property. Fails when it does not hold, or when most cases are void. */
void property_test(void **state);
#define PROPERTY_TEST(property)                                         \
    {                                                                   \
        (property).name, property_test, NULL, NULL, (void *)&(property) \
    }

/* For what does not hold; the text lives until the next call. */
const char *case_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
