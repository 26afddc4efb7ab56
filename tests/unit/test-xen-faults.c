/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"
#include "tests/unit/xen-host.h"
#include "tests/unit/xen-oracle.h"

#include <string.h>

/*
 * Every call of the seam fails at every place with every error, in the first collection and in later ones, once or
 * from there on. Beside each host with a fault runs a twin without: what the call does not bring has to be the twin's,
 * what it brings may be missing or old, the warning and the counter have to say so, and the collection after the fault
 * has to be the twin's again.
 */

static const int errors[] = {EPERM,  EACCES, EINVAL, ESRCH, ENOENT, ENOSYS, EOPNOTSUPP,
                             ENOMEM, EFAULT, EAGAIN, EBUSY, ERANGE, EIO};

#define GENERATIONS 3u

typedef struct Scenario {
    unsigned fault_at;      /* generation, from 0 */
    bool full[GENERATIONS]; /* the last begins without fault */
    bool changes;           /* before the generation of the fault */
} Scenario;

static const Scenario scenarios[] = {
    {0, {true, false, false}, false}, {0, {true, true, true}, false},  {1, {true, false, false}, false},
    {1, {true, false, true}, true},   {1, {true, true, false}, false}, {1, {true, true, true}, true},
};

/* What a call brings, and what is derived from it. */
typedef struct Effect {
    const char *name;      /* in the warning */
    ErrorKind kind;        /* counts it */
    const char *paths[24]; /* OracleRules */
} Effect;

#define HOST_WIDE "status.host.memory", "topology.host.memory"
/* Who is online, and with it everything that is said of CPUs; and whether affinities are to be read again. */
#define ONLINE                                                                                                \
    "~status.host.online_cpus", "~topology.host.online_cpus", "^topology.cpus", "~topology.cpus[].siblings",  \
        "^topology.pools", "^status.nodes[].cpus", "^topology.nodes[].cpus", "~status.nodes[].cores",         \
        "~topology.nodes[].cores", "~status.nodes[].kind", "~topology.nodes[].kind", "~status.nodes[].vcpus", \
        "~status.domains[].locality", "status.domains[].vcpu_affinity", "status.domains[].node_affinity"
#define NODES                                                                                       \
    "status.nodes", "topology.nodes", "~status.nodes[].memory.available", "~status.nodes[].vcpus",  \
        "topology.cpus[].node", "~topology.cpus[].siblings", "status.domains[].locality",           \
        "status.domains[].memory.nodes", "status.domains[].node_affinity", "status.devices[].node", \
        "topology.devices[].node"
/* `free` and `low` are had in other ways then. */
#define NODE_MEMORY                                                                                      \
    "status.nodes[].memory.present", "status.nodes[].memory.dirty", "status.nodes[].memory.claimed",     \
        "~status.nodes[].memory.free", "~status.nodes[].memory.low", "~status.nodes[].memory.available", \
        "status.nodes[].free_chunks"
#define DOMAIN_LEFT "status.domains[]", "~status.nodes[].vcpus"

static const Effect effects[_FAKE_MAX] = {
    [FAKE_VERSION] = {"xen_version", ERROR_XEN, {"status.host.xen_version", "topology.host.xen_version"}},
    [FAKE_COMMANDLINE] = {"command line", ERROR_XEN, {"status.nodes[].memory.low", "~status.nodes[].memory.available"}},
    [FAKE_PHYSINFO] = {"physinfo",
                       ERROR_XEN,
                       {HOST_WIDE, "^status.host.max_cpu_id", "^topology.host.max_cpu_id",
                        "^status.domains[].vcpu_affinity", ONLINE}},
    [FAKE_NUMACOUNT] = {"numainfo", ERROR_XEN, {NODES}},
    [FAKE_NUMAINFO] = {"numainfo", ERROR_XEN, {NODES}},
    [FAKE_CPUTOPOINFO] = {"cputopoinfo", ERROR_XEN, {"^status.domains[].vcpu_affinity", ONLINE}},
    [FAKE_AVAILHEAP] = {"availheap", ERROR_XEN, {"status.nodes[].memory.low", "~status.nodes[].memory.available"}},
    [FAKE_DOMAINS] = {"getdomaininfolist", ERROR_XEN, {"status.domains", "~status.domains[].locality", DOMAIN_LEFT}},
    [FAKE_VCPU_INFO] = {"getvcpuinfo",
                        ERROR_XEN,
                        {"status.domains[].vcpu_affinity", "status.domains[].locality", DOMAIN_LEFT}},
    [FAKE_VCPU_AFFINITY] = {"getvcpuaffinity",
                            ERROR_XEN,
                            {"status.domains[].vcpu_affinity", "status.domains[].locality", DOMAIN_LEFT}},
    [FAKE_NODE_AFFINITY] = {"getnodeaffinity", ERROR_XEN, {"status.domains[].node_affinity", DOMAIN_LEFT}},
    [FAKE_POOL] = {"cpupool_op", ERROR_XEN, {ONLINE}},
    [FAKE_FREE_CPUS] = {"cpupool_op", ERROR_XEN, {ONLINE}},
    [FAKE_HEAP_QUERY] = {"XENMEM_numa_heap",
                         ERROR_XEN,
                         {"~status.host.features", "~topology.host.features", "status.domains[].memory.nodes",
                          "status.domains[].locality", NODE_MEMORY}},
    [FAKE_HEAP_NODES] = {"XENMEM_numa_heap",
                         ERROR_XEN,
                         {"~status.host.features", "~topology.host.features", NODE_MEMORY}},
    [FAKE_HEAP_DOMAINS] = {"XENMEM_numa_heap",
                           ERROR_XEN,
                           {"~status.host.features", "~topology.host.features", "status.domains[].memory.nodes",
                            "status.domains[].locality"}},
    [FAKE_PCI_DEVICES] = {"PCI devices", ERROR_XEN, {"status.devices", "topology.devices"}},
    [FAKE_PCI_NODES] = {"pcitopoinfo", ERROR_XEN, {"status.devices[].node", "topology.devices[].node"}},
    [FAKE_FIRMWARE] = {"/acpi/tables/", ERROR_SRAT, {"status.nodes[].pxm", "topology.nodes[].pxm"}},
    [FAKE_STORE_OPEN] = {"xenstore", ERROR_XENSTORE, {"status.domains[].name"}},
    [FAKE_STORE_NAME] = {"xenstore", ERROR_XENSTORE, {"status.domains[].name"}},
};

/* --- a host and its story --- */

typedef struct Story {
    FakeXen *fake;
    Source *source;
    const Scenario *scenario;
    json_object *documents[GENERATIONS];
    unsigned counts[GENERATIONS + 1][_FAKE_MAX]; /* of calls, before each generation and in the end */
} Story;

static void begin_story(Story *story, const Scenario *scenario, bool patched)
{
    *story = (Story){.fake = xen_host_new(patched), .scenario = scenario};
    story->source = fake_xen_source(story->fake);
}

static void tell(Story *story, unsigned generation)
{
    if (story->scenario->changes && story->scenario->fault_at == generation)
        xen_host_change(story->fake);
    memcpy(story->counts[generation], story->fake->counts, sizeof(story->fake->counts));
    story->documents[generation] = oracle_collect(story->source, story->scenario->full[generation]);
    memcpy(story->counts[generation + 1], story->fake->counts, sizeof(story->fake->counts));
    assert_non_null(story->documents[generation]);
}

static void end_story(Story *story)
{
    for (unsigned i = 0; i < GENERATIONS; i++)
        json_object_put(story->documents[i]);
    source_free(story->source);
}

/* --- what is due --- */

typedef struct Fault {
    FakeCall call;
    unsigned place; /* calls of the generation that work before */
    int error;
    unsigned times; /* 0: all from there on */
} Fault;

static bool is_heap(FakeCall call)
{
    return call >= FAKE_HEAP_QUERY && call <= FAKE_HEAP_DOMAINS;
}

/* -1: none is due, it is an ordinary thing to happen. */
static int warning_due(const Fault *fault)
{
    bool gone = fault->error == ESRCH || fault->error == ENOENT;
    bool missing = fault->error == ENOSYS || fault->error == EOPNOTSUPP;

    switch (fault->call) {
    case FAKE_VCPU_INFO:
    case FAKE_VCPU_AFFINITY:
    case FAKE_NODE_AFFINITY:
        if (gone)
            return -1; /* the domain has ended */
        break;
    case FAKE_POOL:
        if (fault->error == ENOENT)
            return fault->place ? -1 : WARNING_SOURCE_FAILED; /* the end of the list; there is always one */
        break;
    case FAKE_STORE_NAME:
        if (fault->error == ENOENT)
            return -1; /* it has no name */
        break;
    case FAKE_HEAP_DOMAINS:
        if (fault->error == ERANGE && fault->times == 1)
            return -1; /* there is more than was asked for; it is asked again */
        break;
    case FAKE_PCI_NODES:
        if (missing)
            return WARNING_SOURCE_FAILED;
        break;
    default:
        break;
    }
    if (is_heap(fault->call) && missing)
        return WARNING_PATCH_MISSING;
    if (fault->call == FAKE_FIRMWARE || fault->call == FAKE_PCI_DEVICES)
        return fault->error == EPERM || fault->error == EACCES ? WARNING_NOT_PERMITTED : WARNING_SOURCE_FAILED;
    return fault->error == EPERM || fault->error == EACCES || fault->error == ENOSYS ? WARNING_NOT_PERMITTED
                                                                                     : WARNING_SOURCE_FAILED;
}

static void check_counters(const Fault *fault, const uint64_t before[_ERROR_KIND_MAX],
                           const uint64_t after[_ERROR_KIND_MAX])
{
    const Effect *effect = &effects[fault->call];
    int due = warning_due(fault);
    bool counted = due >= 0 && due != WARNING_PATCH_MISSING;

    for (int kind = 0; kind < _ERROR_KIND_MAX; kind++) {
        uint64_t n = after[kind] - before[kind];

        if (!counted || kind != (int)effect->kind)
            assert_int_equal(n, 0);
        else if (fault->call == FAKE_FIRMWARE)
            assert_int_equal(n, 2); /* tables */
        else if (fault->times == 1)
            assert_int_equal(n, 1);
        else
            assert_true(n >= 1);
    }
}

static void check_warnings(const Fault *fault, json_object *got, json_object *twin)
{
    int due = warning_due(fault);

    if (due < 0)
        assert_int_equal(oracle_count_new_warnings(got, twin), 0);
    else if (due == WARNING_PATCH_MISSING)
        assert_true(oracle_has_new_warning(got, twin, WARNING_PATCH_MISSING, ""));
    else
        assert_true(oracle_has_new_warning(got, twin, (WarningCode)due, effects[fault->call].name));
}

/* --- one fault --- */

static void run_fault(const Fault *fault, const Story *twin, bool patched)
{
    const Scenario *scenario = twin->scenario;
    unsigned at = scenario->fault_at;
    uint64_t before[_ERROR_KIND_MAX];
    char *error = NULL;
    Story story;

    begin_story(&story, scenario, patched);
    for (unsigned i = 0; i < at; i++)
        tell(&story, i);
    memcpy(before, story.source->errors, sizeof(before));
    fake_xen_fail(story.fake, fault->call, fault->place, -fault->error, fault->times);
    tell(&story, at);
    oracle_compare(story.documents[at], twin->documents[at], at ? twin->documents[at - 1] : NULL,
                   (OracleRules){effects[fault->call].paths, at == 0});
    check_warnings(fault, story.documents[at], twin->documents[at]);
    check_counters(fault, before, story.source->errors);
    fake_xen_heal(story.fake);
    if (fault->call == FAKE_HEAP_QUERY && warning_due(fault) == WARNING_PATCH_MISSING)
        assert_int_equal(story.source->ops->reload(story.source, &error), 0); /* else it is never asked again */
    tell(&story, at + 1);
    oracle_equal(story.documents[at + 1], twin->documents[at + 1]);
    end_story(&story);
}

static void describe(const Fault *fault, size_t scenario, bool patched)
{
    print_message("# scenario %zu, %s, call %d (%s), place %u, %s, %s\n", scenario, patched ? "patched" : "stock",
                  fault->call, effects[fault->call].name, fault->place, strerror(fault->error),
                  fault->times ? "once" : "from there on");
}

static unsigned run_call(FakeCall call, const Story *twin, bool patched)
{
    unsigned at = twin->scenario->fault_at, n = twin->counts[at + 1][call] - twin->counts[at][call], runs = 0;

    for (Fault fault = {.call = call}; fault.place < n; fault.place++)
        for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
            for (fault.times = 0; fault.times < 2; fault.times++) {
                fault.error = errors[i];
                if (getenv("NX_VERBOSE"))
                    describe(&fault, (size_t)(twin->scenario - scenarios), patched);
                run_fault(&fault, twin, patched);
                runs++;
            }
    return runs;
}

/* One test a call, so that what fails is seen. */
static void test_call(void **state)
{
    FakeCall call = (FakeCall)(uintptr_t)*state;
    unsigned runs = 0;

    for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
        for (int patched = 0; patched < 2; patched++) {
            Story twin;

            begin_story(&twin, &scenarios[i], patched);
            for (unsigned generation = 0; generation < GENERATIONS; generation++)
                tell(&twin, generation);
            runs += run_call(call, &twin, patched);
            end_story(&twin);
        }
    assert_true(runs >= 26); /* it was called at all */
}

/* --- two faults --- */

#define ROUNDS 4000u
#define SEED 20260728u

static Fault random_fault(unsigned *seed, const Story *twin)
{
    unsigned at = twin->scenario->fault_at, n;
    Fault fault;

    do {
        fault.call = (FakeCall)(rand_r(seed) % _FAKE_MAX);
        n = twin->counts[at + 1][fault.call] - twin->counts[at][fault.call];
    } while (n == 0 || !effects[fault.call].name);
    fault.place = (unsigned)rand_r(seed) % n;
    fault.error = errors[(unsigned)rand_r(seed) % ARRAY_SIZE(errors)];
    fault.times = (unsigned)rand_r(seed) % 3;
    return fault;
}

/* What either may show, both may. */
static void join_rules(const char *paths[64], const Fault *faults)
{
    unsigned n = 0;

    for (unsigned i = 0; i < 2; i++)
        for (const char *const *path = effects[faults[i].call].paths; *path; path++)
            paths[n++] = *path;
    paths[n] = NULL;
}

static void run_two(const Fault faults[2], const Story *twin, bool patched)
{
    unsigned at = twin->scenario->fault_at;
    const char *paths[64];
    char *error = NULL;
    Story story;

    begin_story(&story, twin->scenario, patched);
    for (unsigned i = 0; i < at; i++)
        tell(&story, i);
    for (unsigned i = 0; i < 2; i++)
        fake_xen_fail(story.fake, faults[i].call, faults[i].place, -faults[i].error, faults[i].times);
    tell(&story, at);
    join_rules(paths, faults);
    oracle_compare(story.documents[at], twin->documents[at], at ? twin->documents[at - 1] : NULL,
                   (OracleRules){paths, at == 0});
    fake_xen_heal(story.fake);
    assert_int_equal(story.source->ops->reload(story.source, &error), 0);
    story.scenario = twin->scenario;
    tell(&story, at + 1);
    oracle_equal(story.documents[at + 1], twin->documents[at + 1]);
    end_story(&story);
}

static void test_two_at_once(void **state)
{
    static const Scenario full[] = {{0, {true, true, true}, false}, {1, {true, true, true}, true}};
    Story twins[ARRAY_SIZE(full)][2];
    unsigned seed = SEED;

    for (size_t i = 0; i < ARRAY_SIZE(full); i++)
        for (int patched = 0; patched < 2; patched++) {
            begin_story(&twins[i][patched], &full[i], patched);
            for (unsigned generation = 0; generation < GENERATIONS; generation++)
                tell(&twins[i][patched], generation);
        }
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool patched = round % 2;
        const Story *twin = &twins[round / 2 % 2][patched];
        const Fault faults[2] = {random_fault(&seed, twin), random_fault(&seed, twin)};

        if (getenv("NX_VERBOSE")) {
            describe(&faults[0], round / 2 % 2, patched);
            describe(&faults[1], round / 2 % 2, patched);
        }
        run_two(faults, twin, patched);
    }
    for (size_t i = 0; i < ARRAY_SIZE(full); i++)
        for (int patched = 0; patched < 2; patched++)
            end_story(&twins[i][patched]);
}

#define CALL_TEST(call)                                         \
    {                                                           \
#call, test_call, NULL, NULL, (void *)(uintptr_t)(call) \
    }

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CALL_TEST(FAKE_VERSION),       CALL_TEST(FAKE_COMMANDLINE),
        CALL_TEST(FAKE_PHYSINFO),      CALL_TEST(FAKE_NUMACOUNT),
        CALL_TEST(FAKE_NUMAINFO),      CALL_TEST(FAKE_CPUTOPOINFO),
        CALL_TEST(FAKE_AVAILHEAP),     CALL_TEST(FAKE_DOMAINS),
        CALL_TEST(FAKE_VCPU_INFO),     CALL_TEST(FAKE_VCPU_AFFINITY),
        CALL_TEST(FAKE_NODE_AFFINITY), CALL_TEST(FAKE_POOL),
        CALL_TEST(FAKE_FREE_CPUS),     CALL_TEST(FAKE_HEAP_QUERY),
        CALL_TEST(FAKE_HEAP_NODES),    CALL_TEST(FAKE_HEAP_DOMAINS),
        CALL_TEST(FAKE_PCI_DEVICES),   CALL_TEST(FAKE_PCI_NODES),
        CALL_TEST(FAKE_FIRMWARE),      CALL_TEST(FAKE_STORE_OPEN),
        CALL_TEST(FAKE_STORE_NAME),    cmocka_unit_test(test_two_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
