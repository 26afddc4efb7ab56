/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/status.h"
#include "lib/core/topology.h"
#include "tests/unit/host.h"

#include <json-c/json.h>

/* The value at a path like "nodes/1/memory/low" of a document. */
static json_object *at(json_object *document, const char *path)
{
    char copy[128], *rest = copy;

    assert_true(strlen(path) < sizeof(copy));
    strcpy(copy, path);
    for (char *part = strsep(&rest, "/"); part; part = strsep(&rest, "/")) {
        if (json_object_is_type(document, json_type_array))
            document = json_object_array_get_idx(document, strtoul(part, NULL, 10));
        else if (!json_object_object_get_ex(document, part, &document))
            fail_msg("no %s in %s", part, path);
    }
    return document;
}

typedef struct Expected {
    const char *path, *json;
} Expected;

static void assert_document(const char *text, const Expected *expected, size_t n)
{
    json_object *document = json_tokener_parse(text);

    assert_non_null(document);
    for (size_t i = 0; i < n; i++) {
        const char *got = json_object_to_json_string_ext(at(document, expected[i].path), JSON_C_TO_STRING_PLAIN);

        if (strcmp(got, expected[i].json) != 0)
            fail_msg("%s is %s, wanted %s", expected[i].path, got, expected[i].json);
    }
    json_object_put(document);
}

static const char fixture[] =
    "{\"format\":\"numad-xen-host/1\",\"xen_version\":\"4.17.5\",\"features\":[\"node-pages\",\"node-memory\"],"
    "\"threads_per_core\":2,\"max_cpu_id\":4,\"dom0\":{\"nodes\":1,\"cpus\":2},"
    "\"nodes\":[{\"size\":1048576,\"free\":8192,\"cpus\":\"0-1\",\"distances\":[10,255]},"
    "{\"size\":0,\"free\":0,\"cpus\":\"2-3\",\"distances\":[21,10]}],"
    "\"node_extra\":[{\"low\":4096,\"dirty\":0}],\"devices\":[{\"pci\":\"0000:3b:00.0\",\"node\":7}],"
    "\"domains\":[{\"domid\":0,\"name\":\"a\\\"b\",\"type\":\"pv\",\"node_pages\":[3,0],\"vcpus\":[{\"soft\":\"0\","
    "\"cpu\":1}]},"
    "{\"domid\":5}]}";

static void test_status(void **state)
{
    static const Expected expected[] = {
        {"format", "\"numad-xen-status\\/1\""},
        {"generation", "1"},
        {"time", "null"},
        {"host/backend", "\"sim\""},
        {"host/simulated", "true"},
        {"host/xen_version", "\"4.17.5\""},
        {"host/online_cpus", "4"},
        {"host/max_cpu_id", "4"},
        {"host/features", "[\"node-pages\",\"node-memory\"]"},
        {"host/memory", "{\"total\":1048576,\"free\":8192,\"claimed\":null}"},
        {"nodes/0/pxm", "null"},
        {"nodes/0/kind", "\"cpu+memory\""},
        {"nodes/1/kind", "\"cpu\""},
        {"nodes/0/memory", "{\"span\":1048576,\"present\":null,\"free\":8192,\"low\":4096,\"dirty\":0,\"claimed\":null,"
                           "\"reserved\":0,\"available\":4096}"},
        {"nodes/1/memory/dirty", "null"},
        {"nodes/0/free_chunks", "null"},
        {"nodes/0/distances", "[10,null]"},
        {"nodes/0/vcpus", "1.0"},
        {"domains/0/name", "\"a\\\"b\""},
        {"domains/0/memory", "{\"total\":12288,\"nodes\":[{\"node\":0,\"bytes\":12288}]}"},
        {"domains/0/vcpu_affinity", "[{\"vcpu\":0,\"online\":true,\"hard\":\"0-4\",\"soft\":\"0\",\"cpu\":1}]"},
        {"domains/0/locality", "1.0"},
        {"domains/0/placement", "null"},
        {"domains/1", "{\"domid\":5,\"name\":null,\"uuid\":null,\"type\":null,\"state\":\"running\",\"vcpus\":0,"
                      "\"pool\":0,\"memory\":{"
                      "\"total\":null,\"nodes\":null},\"node_affinity\":null,\"vcpu_affinity\":[],\"locality\":null,"
                      "\"placement\":null}"},
        {"devices", "[{\"pci\":\"0000:3b:00.0\",\"node\":null}]"},
        {"reservations", "[]"},
        {"stats/since", "\"1970-01-01T00:00:01Z\""},
        {"stats/last_collection", "null"},
        {"stats/collection_seconds/count", "1"},
        {"stats/collection_seconds/sum", "0.00008"},
        {"stats/collection_seconds/buckets/0", "{\"le\":0.00005,\"count\":0}"},
        {"stats/collection_seconds/buckets/12", "{\"le\":null,\"count\":1}"},
        {"stats/collection_errors", "{\"xen\":0,\"srat\":0,\"hwloc\":0,\"xenstore\":2}"},
    };
    _cleanup_(snapshot_unref_p) Snapshot *s = host(fixture);
    _cleanup_free_ char *text = NULL;
    Stats stats = {.since_us = 1000000, .last_collection_us = -1, .errors_xenstore = 2};

    histogram_add(&stats.collection, 80);
    assert_int_equal(status_document(s, &stats, &text), 0);
    assert_document(text, expected, ARRAY_SIZE(expected));
}

static void test_topology(void **state)
{
    static const Expected expected[] = {
        {"format", "\"numad-xen-topology\\/1\""},
        {"nodes/1", "{\"node\":1,\"pxm\":null,\"kind\":\"cpu\",\"cpus\":\"2-3\",\"cores\":1,\"distances\":[21,10]}"},
        {"cpus/0", "{\"cpu\":0,\"core\":0,\"socket\":0,\"node\":0,\"online\":true,\"siblings\":\"0-1\"}"},
        {"cpus/3", "{\"cpu\":3,\"core\":0,\"socket\":1,\"node\":1,\"online\":true,\"siblings\":\"2-3\"}"},
        {"cpus/4", "{\"cpu\":4,\"core\":null,\"socket\":null,\"node\":null,\"online\":false,\"siblings\":\"\"}"},
        {"pools", "[{\"pool\":0,\"cpus\":\"0-3\"}]"},
        {"dom0", "{\"nodes\":1,\"cpus\":2}"},
    };
    _cleanup_(snapshot_unref_p) Snapshot *s = host(fixture);
    _cleanup_free_ char *text = NULL;

    assert_int_equal(topology_document(s, &text), 0);
    assert_document(text, expected, ARRAY_SIZE(expected));
}

static void test_time(void **state)
{
    static const Expected expected[] = {
        {"time", "\"2026-01-01T00:00:00Z\""},
        {"generation", "18446744073709551615"},
        {"stats/last_collection", "1767225600.5"},
    };
    const char *json = "{\"format\":\"numad-xen-host/1\",\"nodes\":[{\"size\":1,\"free\":1}]}";
    const Stats stats = {.last_collection_us = INT64_C(1767225600500000)};
    _cleanup_free_ char *error = NULL, *text = NULL;
    Snapshot *s = NULL;
    HostRows *rows = NULL;

    assert_int_equal(hostdesc_parse(json, strlen(json), &rows, &error), 0);
    assert_int_equal(snapshot_seal(rows, UINT64_MAX, INT64_C(1767225600500000), &s), 0);
    assert_int_equal(status_document(s, &stats, &text), 0);
    assert_document(text, expected, ARRAY_SIZE(expected));
    snapshot_unref(s);
}

/* What no reader may take for a number. */
static void test_domain_in_no_pool(void **state)
{
    static const char json[] = "{\"format\":\"numad-xen-host/1\",\"nodes\":[{\"size\":1,\"free\":0,\"cpus\":\"0\"}],"
                               "\"domains\":[{\"domid\":3,\"pool\":4294967295,\"state\":\"dying\"}]}";
    _cleanup_(snapshot_unref_p) Snapshot *s = host(json);
    const Stats stats = {0};
    _cleanup_free_ char *text = NULL;

    assert_int_equal(status_document(s, &stats, &text), 0);
    assert_non_null(strstr(text, "\"pool\":null,"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_topology),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_domain_in_no_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
