/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-rounds.h"

#include <stdarg.h>
#include <string.h>

#define SHOWN 3u /* failures are told in full; all are counted */

/* Sanitizers take ten times as long, and look at what any tenth of the cases shows. */
#if defined(__SANITIZE_ADDRESS__)
#define SHARE 10u
#else
#define SHARE 1u
#endif

const char CASE_VOID[] = "";

const char *case_fault(const char *format, ...)
{
    static char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return text;
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void print_failure(const Property *property, uint64_t seed, const PlaceCase *place, const char *fault)
{
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = place_case_snapshot(place);
    _cleanup_(placement_free_p) Placement *placement = NULL;
    _cleanup_free_ char *why = NULL;
    int r = place_case_evaluate(place, snapshot, false, &placement, &why);

    fprintf(stderr, "# %s: seed %" PRIu64 ": %s\n", property->name, seed, fault);
    place_case_print(place, stderr);
    placement_print(r, placement, why, stderr);
}

/* 0: holds, 1: void, 2: does not hold. */
static unsigned try_case(const Property *property, uint64_t seed, bool show)
{
    Draw draw = draw_seeded(seed * 0x2545f4914f6cdd1dull);
    const char *fault;
    PlaceCase place;

    place_case_draw(&draw, &property->limits, &place);
    fault = property->holds(&draw, &place);
    if (fault && fault != CASE_VOID && show)
        print_failure(property, seed, &place, fault);
    place_case_done(&place);
    return !fault ? 0 : fault == CASE_VOID ? 1 : 2;
}

void property_test(void **state)
{
    const Property *property = *state;
    uint64_t n = property->n * number_from_environment("NUMAD_XEN_ROUNDS", 1) / SHARE, counts[3] = {0};
    uint64_t seed = number_from_environment("NUMAD_XEN_SEED", 0);

    if (seed) {
        assert_int_not_equal(try_case(property, seed, true), 2);
        return;
    }
    for (seed = 1; seed <= n; seed++)
        counts[try_case(property, seed, counts[2] < SHOWN)]++;
    fprintf(stderr, "# %s: %" PRIu64 " hold, %" PRIu64 " void, %" PRIu64 " do not\n", property->name, counts[0],
            counts[1], counts[2]);
    if (counts[2])
        fail_msg("%" PRIu64 " of %" PRIu64 " cases", counts[2], n);
    if (counts[0] * 4 < n)
        fail_msg("only %" PRIu64 " of %" PRIu64 " cases say something", counts[0], n);
}
