/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "tests/unit/place-check.h"

/* Any bytes make a host and a request (place-case.h); what holds of any answer must hold of this one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const CaseLimits limits = {.min_nodes = 1, .max_nodes = 40, .max_cpus = 16};
    const uint8_t none = 0;
    Draw draw = {.bytes = data ? data : &none, .size = size};
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    _cleanup_(placement_free_p) Placement *placement = NULL;
    _cleanup_free_ char *why = NULL;
    const char *fault;
    PlaceCase place;
    int r;

    place_case_draw(&draw, &limits, &place);
    snapshot = place_case_snapshot(&place);
    r = place_case_evaluate(&place, snapshot, true, &placement, &why);
    fault = place_check_answer(&place, snapshot, r, placement, why);
    if (!fault)
        fault = place_check_candidates(&place, snapshot, r, placement);
    if (fault) {
        fprintf(stderr, "# %s\n", fault);
        place_case_print(&place, stderr);
        placement_print(r, placement, why, stderr);
    }
    FUZZ_HOLDS(!fault);
    place_case_done(&place);
    return 0;
}
