/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-document.h"

#include "jsonwriter.h"

static void write_ids(JsonWriter *w, const char *key, const Bitmap *set)
{
    jsonw_begin(w, key, '[');
    BITMAP_FOREACH (id, set)
        jsonw_u64(w, NULL, id);
    jsonw_end(w, ']');
}

static void write_memory(JsonWriter *w, const Placement *placement)
{
    jsonw_begin(w, "memory", '[');
    for (size_t i = 0; i < placement->n_memory; i++) {
        jsonw_begin(w, NULL, '{');
        jsonw_u64(w, "node", placement->memory[i].node);
        jsonw_u64(w, "bytes", placement->memory[i].bytes);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_vcpus(JsonWriter *w, const Placement *placement)
{
    jsonw_begin(w, "vcpus", '[');
    for (size_t i = 0; i < placement->n_vcpus; i++) {
        jsonw_begin(w, NULL, '{');
        jsonw_u64(w, "vcpu", i);
        jsonw_set(w, "hard", &placement->sets[placement->vcpus[i].hard]);
        jsonw_set(w, "soft", &placement->sets[placement->vcpus[i].soft]);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_candidate(JsonWriter *w, const Candidate *candidate)
{
    jsonw_begin(w, NULL, '{');
    write_ids(w, "nodes", &candidate->nodes);
    jsonw_bool(w, "fits", candidate->refused_by == REFUSED_NOT);
    jsonw_string(w, "refused_by", refused_by_to_text(candidate->refused_by));
    jsonw_u64(w, "short_bytes", candidate->short_bytes);
    jsonw_id(w, "worst_distance", candidate->worst_distance);
    jsonw_ratio(w, "mean_distance", candidate->mean_distance);
    jsonw_ratio(w, "vcpus_per_core", candidate->vcpus_per_core);
    jsonw_u64(w, "left", candidate->left);
    jsonw_u64(w, "rank", candidate->rank);
    jsonw_end(w, '}');
}

static void write_candidates(JsonWriter *w, const Placement *placement)
{
    jsonw_begin(w, "candidates", '[');
    for (size_t i = 0; i < placement->n_candidates; i++)
        write_candidate(w, &placement->candidates[i]);
    jsonw_end(w, ']');
}

int placement_document(const Placement *placement, const PlacementDocument *more, char **ret_text)
{
    JsonWriter w = {0};
    int r;

    jsonw_begin(&w, NULL, '{');
    jsonw_string(&w, "format", "numad-xen-placement/1");
    jsonw_string(&w, "token", more->token);
    write_ids(&w, "nodes", &placement->nodes);
    write_memory(&w, placement);
    jsonw_u64(&w, "overhead", placement->overhead);
    write_vcpus(&w, placement);
    jsonw_id(&w, "extent_order", placement->extent_order);
    jsonw_ratio(&w, "expected_locality", placement->expected_locality);
    jsonw_string(&w, "reason", placement->reason);
    jsonw_known(&w, "expires_ms", more->expires_ms);
    if (placement->candidates)
        write_candidates(&w, placement);
    jsonw_end(&w, '}');
    r = text_take(&w.text, ret_text, NULL);
    text_done(&w.text);
    return r;
}
