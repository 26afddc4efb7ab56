/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/core/slit.h"

/* Any bytes: distances that can be asked for, or a reason why there are none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Slit slit;

    if (slit_parse(data, size, &slit) < 0)
        return 0;
    FUZZ_HOLDS(slit.n <= NODES_MAX && (slit.n > 0) == (slit.distances != NULL));
    FUZZ_HOLDS(slit.n > 0 || (slit.fault && *slit.fault));
    for (unsigned from = 0; from <= slit.n; from++)
        for (unsigned to = 0; to <= slit.n; to++) {
            uint32_t distance = slit_distance(&slit, from, to);

            FUZZ_HOLDS(distance == DISTANCE_NONE || (distance >= 10 && distance <= 254));
        }
    slit_done(&slit);
    return 0;
}
