/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/placement.h"
#include "tests/unit/host.h"

#include <stdio.h>

/* Answers of the placement engine as one line, for tables of hosts, requests and right answers. */

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* A host description with ' for ". Free it. */
static inline char *unquoted(const char *text)
{
    char *json = strdup(text);

    assert_non_null(json);
    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    return json;
}

static inline Snapshot *quoted_host(const char *text)
{
    _cleanup_free_ char *json = unquoted(text);

    return host(json);
}

/* What a case asks for, in words that are short enough for a table. */
typedef struct Ask {
    uint32_t vcpus;
    uint64_t memory;
    DomainType type;
    PlacementPolicy policy;
    const char *nodes, *cpus, *near; /* NULL: not told */
    int pool;                        /* + 1; 0: not told */
    bool strict;
    uint32_t threads;
    uint64_t max_memory;
} Ask;

static inline void request_of(const Ask *ask, PlacementRequest *request)
{
    *request = (PlacementRequest){
        .vcpus = ask->vcpus,
        .memory = ask->memory,
        .max_memory = ask->max_memory,
        .type = ask->type,
        .has_policy = true,
        .policy = ask->policy,
        .has_nodes = ask->nodes,
        .has_cpus = ask->cpus,
        .pool = ask->pool ? (uint32_t)ask->pool - 1 : ROW_NO_POOL,
        .near = ask->near ? strdup(ask->near) : NULL,
        .strict = ask->strict,
        .threads_per_core = ask->threads,
    };
    if (ask->nodes)
        assert_int_equal(bitmap_parse(&request->nodes, ask->nodes, NODES_MAX - 1), 0);
    if (ask->cpus)
        assert_int_equal(bitmap_parse(&request->cpus, ask->cpus, CPUS_MAX - 1), 0);
}

/* Memory as "0=1024M", in KiB where it is no whole number. */
static inline void add_answer_memory(Text *text, const Placement *placement)
{
    for (size_t i = 0; i < placement->n_memory; i++) {
        uint64_t bytes = placement->memory[i].bytes;
        const char *format = bytes % MIB == 0 ? "%s%" PRIu32 "=%" PRIu64 "M" : "%s%" PRIu32 "=%" PRIu64 "K";

        text_printf(text, format, i ? " " : "", placement->memory[i].node,
                    bytes % MIB == 0 ? bytes / MIB : bytes / KIB);
    }
}

/* Sets as " 2x hard 0-7 soft 2-3", for so many vCPUs with the same. */
static inline void add_answer_vcpus(Text *text, const Placement *placement)
{
    for (size_t i = 0, n; i < placement->n_vcpus; i += n) {
        const PlacedVcpu *vcpu = &placement->vcpus[i];

        for (n = 1; i + n < placement->n_vcpus && vcpu[n].hard == vcpu->hard && vcpu[n].soft == vcpu->soft; n++)
            ;
        text_printf(text, ", %zux ", n);
        bitmap_print(&placement->sets[vcpu->hard], text);
        text_add(text, "/");
        bitmap_print(&placement->sets[vcpu->soft], text);
    }
}

/* "0=1024M, 2x 0-7/0-1", "nofit", or "invalid: nodes: there is no node 9". Free it. */
static inline char *answer_on(Snapshot *s, const Ask *ask)
{
    const PlacementOptions options = {.policy = POLICY_BALANCE};
    _cleanup_(placement_request_done) PlacementRequest request;
    _cleanup_(placement_free_p) Placement *placement = NULL;
    _cleanup_free_ char *why = NULL;
    Text text = {0};
    char *string = NULL;
    int r;

    request_of(ask, &request);
    r = placement_evaluate(s, &request, &options, &placement, &why);
    if (r == 0) {
        add_answer_memory(&text, placement);
        add_answer_vcpus(&text, placement);
    } else if (r == PLACEMENT_E_NOFIT) {
        text_add(&text, "nofit");
    } else {
        text_printf(&text, "invalid: %s", why ? why : "");
    }
    assert_int_equal(text_take(&text, &string, NULL), 0);
    return string;
}

typedef struct Case {
    Ask ask;
    const char *answer;
} Case;

static inline void check_cases(const char *json, const Case *cases, size_t n)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = quoted_host(json);

    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *answer = answer_on(s, &cases[i].ask);

        if (strcmp(answer, cases[i].answer) != 0)
            fail_msg("case %zu: \"%s\", wanted \"%s\"", i, answer, cases[i].answer);
    }
}
