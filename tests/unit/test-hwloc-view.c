/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/hwloc.h"
#include "tests/unit/unit.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* hwloc's own switches stand for machines that this one is not. */
static void set_machine(const char *variable, const char *value)
{
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    if (variable)
        assert_int_equal(setenv(variable, value, 1), 0);
}

static void test_counts(void **state)
{
    static const struct {
        const char *machine;
        uint32_t nodes, cpus;
    } cases[] = {
        {"numa:1 core:2 pu:1", 1, 2},
        {"numa:4 pack:2 core:4 pu:2", 4, 64},
        {"pack:2 numa:2 core:1 pu:1", 4, 4},
        {"numa:64 core:64 pu:1", 64, 4096},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t nodes = 0, cpus = 0;

        set_machine("HWLOC_SYNTHETIC", cases[i].machine);
        assert_int_equal(hwloc_view(&nodes, &cpus), 0);
        assert_int_equal(nodes, cases[i].nodes);
        assert_int_equal(cpus, cases[i].cpus);
    }
    assert_int_equal(hwloc_view(NULL, NULL), 0);
}

/* This machine: CPUs that this process may not use count too, and it is not moved about while they are counted. */
static void test_here(void **state)
{
    cpu_set_t before, one, after;
    uint32_t nodes = 0, cpus = 0;

    set_machine(NULL, NULL);
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(hwloc_view(&nodes, &cpus), 0);
    assert_int_equal(cpus, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(nodes >= 1);
    assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
    assert_true(CPU_EQUAL(&one, &after));
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* What hwloc cannot read is an error, and leaves the numbers alone. */
static void test_failure(void **state)
{
    char path[] = "/tmp/numad-xen-hwloc-XXXXXX";
    int fd = mkstemp(path);
    uint32_t nodes = 7, cpus = 7;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "<topology", 9), 9);
    close(fd);
    set_machine("HWLOC_XMLFILE", path);
    assert_true(hwloc_view(&nodes, &cpus) < 0);
    assert_int_equal(nodes, 7);
    assert_int_equal(cpus, 7);
    unlink(path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_here),
        cmocka_unit_test(test_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
