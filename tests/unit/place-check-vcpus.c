/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/place-check.h"

/* What has to hold of the sets of CPUs that an answer gives its vCPUs. */

static const char *check_sets(const Oracle *o, const Placement *p)
{
    _cleanup_bitmap_ Bitmap local = {0};

    oracle_cpus(o, &p->nodes, &local);
    if (oracle_is_away(o, &p->nodes))
        MUST(bitmap_copy(&local, &o->allowed) == 0);
    for (size_t i = 0; i < p->n_vcpus; i++) {
        const Bitmap *hard, *soft;

        if (p->vcpus[i].hard >= p->n_sets || p->vcpus[i].soft >= p->n_sets)
            return say("vCPU %zu has no set", i);
        hard = &p->sets[p->vcpus[i].hard];
        soft = &p->sets[p->vcpus[i].soft];
        if (bitmap_isempty(hard) || bitmap_isempty(soft))
            return say("vCPU %zu: an empty set", i);
        if (bitmap_weight_and(hard, &o->allowed) != bitmap_weight(hard) ||
            bitmap_weight_and(soft, &o->allowed) != bitmap_weight(soft))
            return say("vCPU %zu: CPUs that it may not use", i);
        if (o->request->strict && bitmap_weight_and(hard, &local) != bitmap_weight(hard))
            return say("strict: vCPU %zu: CPUs away from its memory", i);
        if (!o->request->strict && !bitmap_equal(hard, &o->allowed))
            return say("vCPU %zu: the hard set is not what is allowed", i);
        if (bitmap_weight_and(hard, soft) != bitmap_weight(soft))
            return say("vCPU %zu: soft beyond hard", i);
    }
    if (o->request->strict && o->request->vcpus > bitmap_weight(&local))
        return say("strict: more vCPUs than CPUs");
    return p->n_vcpus == o->request->vcpus ? NULL : say("%zu vCPUs", p->n_vcpus);
}

static bool is_divided(const Oracle *o, const Placement *p)
{
    return o->request->threads_per_core > 1 || (o->request->strict && p->n_memory > 1);
}

/* The first node of the set whose memory the vCPU is local to, by its soft set. */
static nodeid_t home_of(const Oracle *o, const Placement *p, size_t vcpu)
{
    const Bitmap *soft = &p->sets[p->vcpus[vcpu].soft];

    BITMAP_FOREACH (node, &p->nodes)
        if (bitmap_weight_and(soft, &o->snapshot->nodes[node].local) == bitmap_weight(soft))
            return node;
    return NODE_NONE;
}

/* Contiguous over the nodes, every node with CPUs has some. */
static const char *check_division(const Oracle *o, const Placement *p)
{
    _cleanup_bitmap_ Bitmap homes = {0};
    nodeid_t before = NODE_NONE;

    BITMAP_FOREACH (node, &p->nodes)
        if (o->snapshot->nodes[node].tied) /* memory nodes may share CPUs, and cannot be told apart by them */
            return NULL;
    for (size_t i = 0; i < p->n_vcpus; i++) {
        nodeid_t home = home_of(o, p, i);

        if (home == NODE_NONE)
            return say("vCPU %zu is not on one node", i);
        if (home != before && bitmap_isset(&homes, home))
            return say("vCPU %zu: not contiguous", i);
        MUST(bitmap_set(&homes, home) == 0);
        before = home;
    }
    BITMAP_FOREACH (node, &p->nodes)
        if (bitmap_weight_and(&o->snapshot->nodes[node].local, &o->allowed) && !bitmap_isset(&homes, node) &&
            o->request->vcpus >= p->n_memory * MAX(o->request->threads_per_core, 1u))
            return say("node %u has CPUs and no vCPU", node);
    return NULL;
}

/* Of the guest core that begins at the vCPU: on how many host cores, one after the other. */
static unsigned count_runs(const Oracle *o, const Placement *p, size_t first)
{
    unsigned runs = 0;

    for (size_t i = first; i < p->n_vcpus && i < first + o->request->threads_per_core; i++)
        runs += i == first || !bitmap_equal(&p->sets[p->vcpus[i].soft], &p->sets[p->vcpus[i - 1].soft]);
    return runs;
}

static unsigned cores_of_home(const Oracle *o, const Placement *p, size_t vcpu)
{
    _cleanup_bitmap_ Bitmap cpus = {0};

    MUST(bitmap_copy(&cpus, &o->snapshot->nodes[home_of(o, p, vcpu)].cpus) == 0); /* its own are used first */
    MUST(bitmap_and(&cpus, &cpus, &o->allowed) == 0);
    return oracle_cores(o, &cpus, 1);
}

/* The vCPUs of one guest core have the same host core, or the next one when that has no more threads. */
static const char *check_siblings(const Oracle *o, const Placement *p)
{
    unsigned on_core = 0;

    for (size_t i = 0; i < p->n_vcpus; i++) {
        const Bitmap *soft = &p->sets[p->vcpus[i].soft];
        const Bitmap *before = i % o->request->threads_per_core ? &p->sets[p->vcpus[i - 1].soft] : NULL;
        bool same = before && bitmap_equal(soft, before);

        if (oracle_cores(o, soft, 1) != 1)
            return say("vCPU %zu: more than one core", i);
        if (before && !same && on_core < bitmap_weight(before))
            return say("vCPU %zu: not with its sibling", i);
        if (same && on_core >= bitmap_weight(soft) && home_of(o, p, i) != NODE_NONE && cores_of_home(o, p, i) > 1)
            return say("vCPU %zu: more than its core has threads", i);
        on_core = same ? on_core + 1 : 1;
    }
    return NULL;
}

/* On each node as many host cores as there are guest cores, before one gets a second. */
static const char *check_cores(const Oracle *o, const Placement *p)
{
    BITMAP_FOREACH (node, &p->nodes) {
        _cleanup_bitmap_ Bitmap one = {0}, cpus = {0}, used = {0};
        unsigned n_guest = 0, n_host;

        MUST(bitmap_set(&one, node) == 0);
        oracle_cpus(o, &one, &cpus);
        if (o->snapshot->nodes[node].tied)
            return NULL;
        for (size_t i = 0; i < p->n_vcpus; i += o->request->threads_per_core)
            if (home_of(o, p, i) == node) {
                n_guest += count_runs(o, p, i);
                for (size_t k = i; k < p->n_vcpus && k < i + o->request->threads_per_core; k++)
                    MUST(bitmap_or(&used, &p->sets[p->vcpus[k].soft]) == 0);
            }
        n_host = oracle_cores(o, &used, 1);
        if (n_host != MIN(n_guest, oracle_cores(o, &cpus, 1)))
            return say("node %u: %u cores for %u of the guest's", node, n_host, n_guest);
    }
    return NULL;
}

static const char *check_division_of(const Oracle *o, const Placement *p)
{
    _cleanup_bitmap_ Bitmap local = {0};
    const char *fault = NULL;

    oracle_cpus(o, &p->nodes, &local);
    if (bitmap_isempty(&local) || oracle_is_away(o, &p->nodes) || place_case_policy(o->place) == POLICY_ANY)
        return NULL;
    if (!is_divided(o, p)) {
        for (size_t i = 1; i < p->n_vcpus; i++)
            if (p->vcpus[i].soft != p->vcpus[0].soft &&
                !bitmap_equal(&p->sets[p->vcpus[i].soft], &p->sets[p->vcpus[0].soft]))
                return say("vCPU %zu: not the union", i);
        return NULL;
    }
    if (o->request->threads_per_core > 1 && o->request->vcpus <= bitmap_weight(&local))
        fault = check_siblings(o, p);
    if (!fault && o->request->threads_per_core > 1 && o->request->vcpus <= bitmap_weight(&local))
        fault = check_cores(o, p);
    if (!fault && o->request->vcpus <= bitmap_weight(&local))
        fault = check_division(o, p);
    return fault;
}

/* Where CPUs suffice, vCPUs prefer CPUs that are local to the memory. */
static const char *check_near_memory(const Oracle *o, const Placement *p)
{
    _cleanup_bitmap_ Bitmap local = {0};

    oracle_cpus(o, &p->nodes, &local);
    if (place_case_policy(o->place) == POLICY_ANY || o->request->vcpus > bitmap_weight(&local) ||
        oracle_is_away(o, &p->nodes))
        return NULL;
    for (size_t i = 0; i < p->n_vcpus; i++) {
        const Bitmap *soft = &p->sets[p->vcpus[i].soft];

        if (bitmap_weight_and(soft, &local) != bitmap_weight(soft))
            return say("vCPU %zu prefers CPUs away from its memory", i);
    }
    return NULL;
}

const char *place_check_vcpus(const Oracle *o, const Placement *p)
{
    const char *fault = check_sets(o, p);

    if (!fault)
        fault = check_division_of(o, p);
    return fault ? fault : check_near_memory(o, p);
}
