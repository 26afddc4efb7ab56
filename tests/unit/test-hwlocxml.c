/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/hwlocxml.h"
#include "tests/unit/hwloc-facts.h"

#include <stdio.h>

#define HOST(members) "{\"format\":\"numad-xen-host/1\"," members "}"
#define GIB "1073741824"
#define NODE(cpus, distances) "{\"size\":" GIB ",\"free\":0,\"cpus\":\"" cpus "\",\"distances\":[" distances "]}"
#define MEMORY(distances) "{\"size\":" GIB ",\"free\":0,\"distances\":[" distances "]}"
#define PLAIN "{\"size\":" GIB ",\"free\":0}"
#define HOLE "{\"size\":4294967295}"
#define EMPTY "{\"size\":0,\"free\":0}"
#define CPU(cpu, core, socket, node) CPU_TEXT(cpu, core, socket, node)
#define CPU_TEXT(cpu, core, socket, node) \
    "{\"cpu\":" #cpu ",\"core\":" #core ",\"socket\":" #socket ",\"node\":" #node "}"
#define NONE 4294967295
#define OFFLINE(cpu) CPU(cpu, NONE, NONE, NONE)

typedef struct HostCase {
    const char *name, *json;
    int groups, packages, cores; /* objects that hwloc keeps */
    const char *attached;        /* what hwloc calls local to nodes, as "4:0-1 5:0-3" */
} HostCase;

static void assert_attached(hwloc_topology_t topology, const char *attached)
{
    char copy[128], *rest = copy;

    assert_true(strlen(attached) < sizeof(copy));
    strcpy(copy, attached);
    for (char *part = strsep(&rest, " "); part; part = strsep(&rest, " ")) {
        char *cpus = strchr(part, ':') + 1;
        char *got = facts_node_cpus(topology, (nodeid_t)strtoul(part, NULL, 10));

        if (strcmp(got, cpus) != 0)
            fail_msg("node %s, got %s", part, got);
        free(got);
    }
}

static void assert_counts(hwloc_topology_t topology, const HostCase *c)
{
    assert_int_equal(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE), c->packages);
    assert_int_equal(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), c->cores);
    if (c->groups >= 0)
        assert_int_equal(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_GROUP), c->groups);
}

/* What hwloc writes out again is the same host, too. */
static void assert_survives(hwloc_topology_t topology, const Snapshot *s)
{
    char *xml = NULL;
    int size = 0;
    hwloc_topology_t again;

    assert_int_equal(hwloc_topology_export_xmlbuffer(topology, &xml, &size, 0), 0);
    again = facts_load(xml);
    facts_assert(again, s);
    hwloc_topology_destroy(again);
    hwloc_free_xmlbuffer(topology, xml);
}

static void check_snapshot(const Snapshot *s, const HostCase *c)
{
    _cleanup_free_ char *xml = NULL;
    hwloc_topology_t topology;

    assert_int_equal(hwloc_xml_document(s, &xml), 0);
    topology = facts_load(xml);
    facts_assert(topology, s);
    if (c) {
        assert_counts(topology, c);
        assert_attached(topology, c->attached ? c->attached : "0:0");
    }
    assert_survives(topology, s);
    hwloc_topology_destroy(topology);
}

static const HostCase cases[] = {
    {"four nodes",
     HOST("\"xen_version\":\"4.17.5\",\"threads_per_core\":2,\"nodes\":[" NODE("0-3", "10,16,22,22") "," NODE(
         "4-7", "16,10,22,22") "," NODE("8-11", "22,22,10,16") "," NODE("12-15", "22,22,16,10") "]"),
     0, 4, 8, "0:0-3 1:4-7 2:8-11 3:12-15"},
    {"one node, which the package holds", HOST("\"nodes\":[{\"size\":" GIB ",\"free\":0,\"cpus\":\"0-3\"}]"), 0, 1, 4,
     "0:0-3"},
    {"one node of two packages",
     HOST("\"nodes\":[" PLAIN
          "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 1, 0, 0) "," CPU(2, 0, 1, 0) "," CPU(3, 1, 1, 0) "]"),
     0, 2, 4, "0:0-3"},
    {"holes among the nodes",
     HOST("\"nodes\":[" HOLE ",{\"size\":" GIB ",\"free\":0,\"cpus\":\"0-1\"}," HOLE "," HOLE ",{\"size\":" GIB
          ",\"free\":0,\"cpus\":\"2-3\"}]"),
     0, 2, 4, "1:0-1 4:2-3"},
    {"a node without memory",
     HOST("\"nodes\":[{\"size\":0,\"free\":0,\"cpus\":\"0-1\"},{\"size\":" GIB ",\"free\":0,\"cpus\":\"2-3\"}]"), 0, 2,
     4, "0:0-1 1:2-3"},
    {"a node without CPUs goes to the nearest",
     HOST("\"nodes\":[" NODE("0-1", "10,20,17,28") "," NODE("2-3", "20,10,28,17") "," MEMORY("17,28,10,28") "," MEMORY(
         "28,17,28,10") "]"),
     0, 2, 4, "2:0-1 3:2-3"},
    {"nearest is read from the node that has the CPUs",
     HOST("\"nodes\":[" NODE("0-1", "10,20,30") "," NODE("2-3", "20,10,17") "," MEMORY("17,30,10") "]"), 0, 2, 4,
     "2:2-3"},
    {"a node without CPUs, equally far from all",
     HOST("\"nodes\":[" NODE("0-1", "10,20,20") "," NODE("2-3", "20,10,20") "," MEMORY("20,20,10") "]"), 0, 2, 4,
     "2:0-3"},
    {"a node without CPUs, equally far from one socket's nodes",
     HOST("\"nodes\":[" MEMORY("10,20,30,20") "," MEMORY("20,10,30,20") "," MEMORY("30,30,10,30") "," MEMORY(
         "20,20,30,10") "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 1, 0, 0) "," CPU(2, 0, 0,
                                                                                       1) "," CPU(3, 1, 0,
                                                                                                  1) "," CPU(4, 0, 1,
                                                                                                             2) "]"),
     2, 2, 5, "0:0-1 1:2-3 2:4 3:0-3"},
    {"a node without CPUs that nobody reaches",
     HOST("\"nodes\":[" NODE("0-1", "10,20,255") "," NODE("2-3", "20,10,255") "," MEMORY("255,255,10") "]"), 0, 2, 4,
     "2:0-3"},
    {"nodes without anything", HOST("\"nodes\":[" EMPTY ",{\"size\":" GIB ",\"free\":0,\"cpus\":\"0\"}," EMPTY "]"), 0,
     1, 1, "0:0 1:0 2:0"},
    {"no CPU is on a node",
     HOST("\"nodes\":[" PLAIN "," PLAIN
          "],\"topology\":[" CPU(0, 0, 0, NONE) "," CPU(1, 1, 0, NONE) "," CPU(2, 0, 1, NONE) "]"),
     0, 2, 3, "0:0-2 1:0-2"},
    {"a CPU on no node, in a package with a node",
     HOST("\"nodes\":[" PLAIN "," PLAIN
          "],\"topology\":[" CPU(0, 0, 0, NONE) "," CPU(1, 1, 0, 0) "," CPU(2, 2, 0, 0) "," CPU(3, 0, 1, 1) "]"),
     1, 2, 4, "0:1-2 1:3"},
    {"a CPU on no node, in a package of a larger node",
     HOST("\"nodes\":[" PLAIN "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 1, 0, NONE) "," CPU(2, 0, 1, 0) "]"), 1, 3,
     3, "0:0,2"},
    {"CPUs without a package",
     HOST("\"nodes\":[" PLAIN "," PLAIN "],\"topology\":[" CPU(0, 0, NONE, 0) "," CPU(1, 1, NONE, 0) "," CPU(
         2, 0, NONE, 1) "," CPU(3, 1, NONE, 1) "," CPU(4, 7, NONE, NONE) "]"),
     2, 0, 5, "0:0-1 1:2-3"},
    {"one node without packages",
     HOST("\"nodes\":[" PLAIN "],\"topology\":[" CPU(0, 0, NONE, 0) "," CPU(1, 1, NONE, 0) "]"), 0, 0, 2, "0:0-1"},
    {"no cores are known",
     HOST("\"nodes\":[" PLAIN "," PLAIN
          "],\"topology\":[" CPU(0, NONE, 0, 0) "," CPU(1, NONE, 0, 0) "," CPU(2, NONE, 1, 1) "," CPU(3, NONE, 1,
                                                                                                      1) "]"),
     0, 2, 0, "0:0-1 1:2-3"},
    {"a core is known here and not there",
     HOST("\"nodes\":[" PLAIN "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, NONE, 0, 0) "," CPU(2, 0, 0, 0) "]"), 0, 1,
     1, "0:0-2"},
    {"nodes of one CPU each, in one package, no cores",
     HOST("\"nodes\":[" PLAIN "," PLAIN "],\"topology\":[" CPU(0, NONE, 0, 0) "," CPU(1, NONE, 0, 1) "]"), -1, 1, 0,
     "0:0 1:1"},
    {"a package with four nodes, twice",
     HOST(
         "\"nodes\":[" PLAIN "," PLAIN "," PLAIN "," PLAIN "," PLAIN "," PLAIN "," PLAIN "," PLAIN
         "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 1, 0, 0) "," CPU(2, 2, 0, 1) "," CPU(3, 3, 0, 1) "," CPU(4, 4, 0, 2) "," CPU(
             5, 5, 0,
             2) "," CPU(6, 6, 0,
                        3) "," CPU(7, 7, 0,
                                   3) "," CPU(8, 0, 1,
                                              4) "," CPU(9, 1, 1,
                                                         4) "," CPU(10, 2, 1,
                                                                    5) "," CPU(11, 3, 1,
                                                                               5) "," CPU(12, 4, 1,
                                                                                          6) "," CPU(13, 5, 1,
                                                                                                     6) "," CPU(14, 6,
                                                                                                                1,
                                                                                                                7) "," CPU(15,
                                                                                                                           7,
                                                                                                                           1,
                                                                                                                           7) "]"),
     8, 2, 16, "0:0-1 3:6-7 4:8-9 7:14-15"},
    {"a node with two packages, twice",
     HOST("\"nodes\":[" PLAIN "," PLAIN
          "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 1, 0, 0) "," CPU(2, 0, 1, 0) "," CPU(3, 1, 1, 0) "," CPU(
              4, 0, 2, 1) "," CPU(5, 1, 2, 1) "," CPU(6, 0, 3, 1) "," CPU(7, 1, 3, 1) "]"),
     2, 4, 8, "0:0-3 1:4-7"},
    {"packages and nodes that cross", /* package 1 is cut: half of it is on a node with package 0 */
     HOST("\"nodes\":[" PLAIN "," PLAIN "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 1, 0, 0) "," CPU(
         2, 0, 1, 0) "," CPU(3, 1, 1, 1) "," CPU(4, 2, 1, 1) "]"),
     1, 3, 5, "0:0-2 1:3-4"},
    {"every package on every node",
     HOST("\"nodes\":[" PLAIN "," PLAIN
          "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 0, 0, 1) "," CPU(2, 0, 1, 0) "," CPU(3, 0, 1, 1) "]"),
     2, 4, 4, "0:0,2 1:1,3"},
    {"CPUs of packages and cores interleave",
     HOST("\"nodes\":[" PLAIN "," PLAIN
          "],\"topology\":[" CPU(0, 0, 1, 1) "," CPU(1, 0, 0, 0) "," CPU(2, 1, 1, 1) "," CPU(3, 1, 0, 0) "," CPU(
              4, 0, 1, 1) "," CPU(5, 0, 0, 0) "," CPU(6, 1, 1, 1) "," CPU(7, 1, 0, 0) "]"),
     0, 2, 4, "0:1,3,5,7 1:0,2,4,6"},
    {"core numbers that repeat on each node of a package",
     HOST("\"nodes\":[" PLAIN "," PLAIN
          "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 1, 0, 0) "," CPU(2, 0, 0, 1) "," CPU(3, 1, 0, 1) "]"),
     2, 1, 4, "0:0-1 1:2-3"},
    {"smt=0",
     HOST("\"max_cpu_id\":7,\"nodes\":[" PLAIN "," PLAIN "],\"topology\":[" CPU(0, 0, 0, 0) "," OFFLINE(
         1) "," CPU(2, 1, 0, 0) "," OFFLINE(3) "," CPU(4, 0, 1, 1) "," OFFLINE(5) "]"),
     0, 2, 3, "0:0,2 1:4"},
    {"some distances are not known", HOST("\"nodes\":[" NODE("0", "10,255") "," NODE("1", "20,10") "]"), 0, 2, 2,
     "0:0 1:1"},
    {"flat and asymmetric distances",
     HOST("\"nodes\":[" NODE("0", "10,10,30") "," NODE("1", "10,10,4000000") "," NODE("2", "11,10,10") "]"), 0, 3, 3,
     "0:0 1:1 2:2"},
    {"present is memory, span is not",
     HOST("\"nodes\":[{\"size\":" GIB ",\"free\":0,\"cpus\":\"0\"},{\"size\":" GIB
          ",\"free\":0,\"cpus\":\"1\"}],\"node_extra\":[{\"present\":4096}]"),
     0, 2, 2, "0:0 1:1"},
    {"devices",
     HOST("\"nodes\":[{\"size\":" GIB ",\"free\":0,\"cpus\":\"0\"},{\"size\":" GIB ",\"free\":0,\"cpus\":\"1\"},{"
          "\"size\":" GIB ",\"free\":0}],\"devices\":[{\"pci\":\"0000:3b:00.0\",\"node\":0},{\"pci\":\"0000:3b:00.1\","
          "\"node\":0},{\"pci\":\"0000:3c:1f.7\",\"node\":0},{\"pci\":\"0001:3c:00.0\",\"node\":1},{\"pci\":"
          "\"0000:3b:01.0\",\"node\":1},{\"pci\":\"0000:5e:00.0\",\"node\":2},{\"pci\":\"0000:00:00.0\"},{\"pci\":"
          "\"ffff:ff:1f.0\",\"node\":9},{\"pci\":\"0001:00:00.0\"},{\"pci\":\"0000:3b:02.0\"}]"),
     0, 2, 2, "0:0 1:1 2:0-1"},
    {"devices of a node that is the whole host",
     HOST("\"nodes\":[" PLAIN
          "],\"topology\":[" CPU(0, 0, 0, 0) "," CPU(1, 0, 1,
                                                     0) "],\"devices\":[{\"pci\":"
                                                        "\"0000:3b:00.0\",\"node\":0},{\"pci\":\"0000:3c:00.0\"}]"),
     0, 2, 2, "0:0-1"},
};

static void test_case(void **state)
{
    const HostCase *c = *state;
    _cleanup_(snapshot_unref_p) Snapshot *s = host(c->json);

    check_snapshot(s, c);
}

/* --- sizes --- */

/* A host of n_nodes with `cpus` CPUs each, two threads a core, numbered round the nodes. */
static Snapshot *large_host(unsigned n_nodes, unsigned cpus)
{
    _cleanup_text_ Text text = {0};
    _cleanup_free_ char *json = NULL;

    text_add(&text, "{\"format\":\"numad-xen-host/1\",\"threads_per_core\":2,\"nodes\":[");
    for (unsigned node = 0; node < n_nodes; node++) {
        text_printf(&text, "%s{\"size\":1099511627776,\"free\":0,\"cpus\":\"", node ? "," : "");
        for (unsigned i = 0; i < cpus; i++)
            text_printf(&text, "%s%u", i ? "," : "", i * n_nodes + node);
        text_add(&text, "\"}");
    }
    text_add(&text, "]}");
    assert_int_equal(text_take(&text, &json, NULL), 0);
    return host(json);
}

static void test_large(void **state)
{
    static const struct {
        unsigned nodes, cpus;
    } sizes[] = {{64, 64}, {1023, 8}, {1024, 8}, {1, 8192}, {31, 2}, {32, 2}, {33, 2}};

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        _cleanup_(snapshot_unref_p) Snapshot *s = large_host(sizes[i].nodes, sizes[i].cpus);

        check_snapshot(s, NULL);
    }
}

/* Zeroes are not written: a CPU of number 8191 costs a comma for each word below. */
static void test_compact(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host(HOST("\"nodes\":[{\"size\":0,\"free\":0,\"cpus\":\"31,8191\"}]"));
    _cleanup_free_ char *xml = NULL;
    char wanted[400] = "cpuset=\"0x80000000,";

    memset(wanted + strlen(wanted), ',', 254);
    strcat(wanted, "0x80000000\"");
    assert_int_equal(hwloc_xml_document(s, &xml), 0);
    assert_non_null(strstr(xml, wanted));
    assert_non_null(strstr(xml, "nodeset=\"0x00000001\""));
    assert_true(strlen(xml) < 10000);
}

/* --- any shape --- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

/* A number below `limit`, or now and then unknown. */
static uint32_t random_id(uint32_t *state, uint32_t limit)
{
    return next_random(state) % 8 == 0 ? ROW_INVALID : next_random(state) % limit;
}

/* A host that makes no sense but is one: sockets, nodes and cores are drawn for each CPU. */
static Snapshot *random_host(uint32_t seed)
{
    HostRows *rows = host_rows_new();
    Snapshot *s = NULL;
    uint32_t sockets = 1 + next_random(&seed) % 4, cores = 1 + next_random(&seed) % 3;

    assert_non_null(rows);
    rows->n_nodes = 1 + next_random(&seed) % 6;
    rows->n_cpus = 1 + next_random(&seed) % 70;
    rows->max_cpu_id = (uint32_t)rows->n_cpus - 1;
    rows->nodes = new_array(rows->n_nodes, sizeof(*rows->nodes));
    rows->cpus = new_array(rows->n_cpus, sizeof(*rows->cpus));
    rows->distances = new_array(rows->n_nodes * rows->n_nodes, sizeof(*rows->distances));
    assert_true(rows->nodes && rows->cpus && rows->distances);
    for (size_t i = 0; i < rows->n_nodes; i++) {
        node_row_init(&rows->nodes[i]);
        rows->nodes[i].size = i > 0 && next_random(&seed) % 5 == 0 ? ROW_HOLE : next_random(&seed);
        rows->nodes[i].free = 0;
    }
    for (size_t i = 0; i < rows->n_nodes * rows->n_nodes; i++)
        rows->distances[i] = 10 + next_random(&seed) % 3;
    for (size_t i = 0; i < rows->n_cpus; i++)
        rows->cpus[i] =
            (CpuRow){random_id(&seed, cores), random_id(&seed, sockets), random_id(&seed, (uint32_t)rows->n_nodes)};
    rows->cpus[rows->n_cpus - 1].core = 0; /* hwloc knows no host without CPUs */
    assert_int_equal(snapshot_seal(rows, 1, -1, &s), 0);
    return s;
}

static void test_any_shape(void **state)
{
    for (uint32_t seed = 1; seed <= 500; seed++) {
        _cleanup_(snapshot_unref_p) Snapshot *s = random_host(seed * 2654435761u);

        check_snapshot(s, NULL);
    }
}

/* --- texts --- */

typedef struct TextCase {
    const char *bytes, *understood;
} TextCase;

/* What comes from outside as bytes is what hwloc reads, as far as XML can say it. */
static void test_texts(void **state)
{
    static const TextCase texts[] = {
        {"4.17.5", "4.17.5"},
        {"", ""},
        {"<a href=\"x\">&amp;'</a>", "<a href=\"x\">&amp;'</a>"},
        {"]]>--><?xml?>", "]]>--><?xml?>"},
        {"tab\tline\nreturn\r", "tab\tline\nreturn\r"},
        {"\x01\x1f\x7f", "\xef\xbf\xbd\xef\xbf\xbd\x7f"},
        {"\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0\x9f\x90\xbc\xc3\xbc", "\xf0\x9f\x90\xbc\xc3\xbc"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        _cleanup_(snapshot_unref_p) Snapshot *s = NULL;
        _cleanup_free_ char *xml = NULL;
        static const char json[] = HOST("\"nodes\":[" NODE("0", "10") "]");
        HostRows *rows = NULL;
        char *error = NULL;
        hwloc_topology_t topology;

        assert_int_equal(hostdesc_parse(json, strlen(json), &rows, &error), 0);
        rows->xen_version = strdup(texts[i].bytes);
        assert_int_equal(snapshot_seal(rows, 1, -1, &s), 0);
        assert_int_equal(hwloc_xml_document(s, &xml), 0);
        topology = facts_load(xml);
        assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "XenVersion"),
                            texts[i].understood);
        hwloc_topology_destroy(topology);
    }
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(cases) + 4];
    size_t n = 0;

    for (; n < ARRAY_SIZE(cases); n++)
        tests[n] = (struct CMUnitTest){cases[n].name, test_case, NULL, NULL, (void *)(uintptr_t)&cases[n]};
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_any_shape);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_large);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_compact);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_texts);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
