/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placed-sets.h"

PlacedSets *placed_sets_blank(size_t n_texts, size_t n_runs)
{
    _cleanup_(placed_sets_unref_p) PlacedSets *sets = calloc(1, sizeof(*sets) + n_runs * sizeof(sets->runs[0]));

    if (!sets)
        return NULL;
    sets->refs = 1;
    sets->texts = new_array(n_texts, sizeof(*sets->texts));
    if (!sets->texts)
        return NULL;
    sets->n_texts = n_texts;
    sets->n_runs = n_runs;
    return TAKE_PTR(sets);
}

PlacedSets *placed_sets_ref(PlacedSets *sets)
{
    sets->refs++;
    return sets;
}

PlacedSets *placed_sets_unref(PlacedSets *sets)
{
    if (!sets || --sets->refs > 0)
        return NULL;
    for (size_t i = 0; i < sets->n_texts; i++)
        free(sets->texts[i]);
    free(sets->texts);
    free(sets);
    return NULL;
}

/* Whether the vCPU, which is not the first, has the same sets as the one before. */
static bool is_alike(const Placement *placement, size_t i)
{
    const PlacedVcpu *vcpus = placement->vcpus;

    return vcpus[i].hard == vcpus[i - 1].hard && vcpus[i].soft == vcpus[i - 1].soft;
}

static size_t count_runs(const Placement *placement)
{
    size_t n = 0;

    for (size_t i = 0; i < placement->n_vcpus; i++)
        n += i == 0 || !is_alike(placement, i);
    return n;
}

/* What the placement's set is called here: numbers[] has it one higher, 0 for one that was not named yet. */
static uint32_t number_of(uint32_t set, uint32_t *numbers, size_t *n_named)
{
    if (numbers[set] == 0)
        numbers[set] = (uint32_t)++ * n_named;
    return numbers[set] - 1;
}

static size_t fill_runs(PlacedSets *sets, const Placement *placement, uint32_t *numbers)
{
    PlacedRun *run = sets->runs;
    size_t n_named = 0;

    for (size_t i = 0; i < placement->n_vcpus; i++) {
        if (i > 0 && is_alike(placement, i)) {
            run[-1].n++;
            continue;
        }
        run->n = 1;
        run->hard = number_of(placement->vcpus[i].hard, numbers, &n_named);
        run->soft = number_of(placement->vcpus[i].soft, numbers, &n_named);
        run++;
    }
    return n_named;
}

PlacedSets *placed_sets_new(const Placement *placement)
{
    _cleanup_(placed_sets_unref_p) PlacedSets *sets = placed_sets_blank(placement->n_sets, count_runs(placement));
    _cleanup_free_ char *buffer = new_array(placement->n_sets, sizeof(uint32_t));
    uint32_t *numbers = (uint32_t *)(void *)buffer;

    if (!sets || !numbers)
        return NULL;
    sets->n_texts = fill_runs(sets, placement, numbers);
    for (size_t i = 0; i < placement->n_sets; i++) {
        char *text = numbers[i] ? bitmap_to_text(&placement->sets[i]) : NULL;

        if (numbers[i] && !text)
            return NULL;
        if (text)
            sets->texts[numbers[i] - 1] = text;
    }
    return TAKE_PTR(sets);
}
