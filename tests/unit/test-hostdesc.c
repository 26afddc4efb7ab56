/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/host.h"

#define HEAD "{\"format\":\"numad-xen-host/1\","
#define NODE "{\"size\":1048576,\"free\":4096}"

static void test_refused(void **state)
{
    static const struct {
        const char *json, *error;
    } cases[] = {
        {"", "not JSON"},
        {"[]", "must be an object"},
        {HEAD "\"nodes\":[" NODE "]", "the text ends too early"},
        {HEAD "\"nodes\":[" NODE "]} x", "not JSON"},
        {"{\"nodes\":[" NODE "]}", "format: must be \"numad-xen-host/1\""},
        {"{\"format\":\"numad-xen-host/2\",\"nodes\":[" NODE "]}", "format: must be"},
        {HEAD "\"nodes\":[]}", "nodes: is empty"},
        {HEAD "\"features\":[]}", "nodes: is missing"},
        {HEAD "\"nodes\":[{\"size\":1}]}", "nodes[0]: needs both size and free"},
        {HEAD "\"nodes\":[" NODE "],\"colour\":1}", "colour: unknown key"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"x\":1}]}", "nodes[0].x: unknown key"},
        {HEAD "\"nodes\":[{\"size\":-1,\"free\":1}]}", "nodes[0].size: must be a whole number"},
        {HEAD "\"nodes\":[{\"size\":1.5,\"free\":1}]}", "nodes[0].size: must be a whole number"},
        {HEAD "\"nodes\":[{\"size\":\"1\",\"free\":1}]}", "nodes[0].size: must be a whole number"},
        {HEAD "\"nodes\":[{\"size\":72057594037927937,\"free\":1}]}", "nodes[0].size: is 72057594037927937, above"},
        {HEAD "\"nodes\":[{\"size\":18446744073709551616,\"free\":1}]}", "nodes[0].size: must be a whole number"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"distances\":[18446744073709551616]}]}",
         "nodes[0].distances[0]: must be a whole number"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"distances\":[10,20]}]}", "nodes[0].distances: has 2"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"distances\":[10,20]}," NODE "]}",
         "nodes: 1 of 2 nodes have distances"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"distances\":[-2]}]}",
         "nodes[0].distances[0]: must be a whole number"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"cpus\":\"3-1\"}]}", "nodes[0].cpus: '3-1' has a backward range"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"cpus\":\"8192\"}]}", "names a number above 8191"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"cpus\":\"0\"},{\"size\":1,\"free\":1,\"cpus\":\"0\"}]}",
         "nodes[1].cpus: CPU 0 is named twice"},
        {HEAD "\"nodes\":[{\"size\":1,\"free\":1,\"cpus\":\"0\"}],\"topology\":[{\"cpu\":1}]}",
         "nodes[0].cpus: cannot be used together with topology"},
        {HEAD "\"nodes\":[" NODE "],\"topology\":[{\"core\":1}]}", "topology[0]: needs a cpu"},
        {HEAD "\"nodes\":[" NODE "],\"topology\":[{\"cpu\":1},{\"cpu\":1}]}", "topology[1]: CPU 1 is named twice"},
        {HEAD "\"nodes\":[" NODE "],\"topology\":[{\"cpu\":5}],\"max_cpu_id\":4}", "max_cpu_id: is 4, but CPU 5"},
        {HEAD "\"nodes\":[" NODE "],\"features\":[\"magic\"]}", "features[0]: unknown feature 'magic'"},
        {HEAD "\"nodes\":[" NODE "],\"page_size\":0}", "page_size: must be a power of two"},
        {HEAD "\"nodes\":[" NODE "],\"pools\":[{\"pool\":0,\"cpus\":\"\"},{\"pool\":0,\"cpus\":\"\"}]}",
         "pools: pool 0 is named twice"},
        {HEAD "\"nodes\":[" NODE "],\"pools\":[{\"cpus\":\"0\"}]}", "pools[0]: needs a pool"},
        {HEAD "\"nodes\":[" NODE "],\"pools\":[{\"pool\":0,\"cpus\":\"0\"},{\"pool\":1,\"cpus\":\"0\"}]}",
         "pools[1].cpus: holds CPUs of another pool"},
        {HEAD "\"nodes\":[" NODE "],\"devices\":[{\"node\":0}]}", "devices[0]: needs a pci address"},
        {HEAD "\"nodes\":[" NODE "],\"devices\":[{\"pci\":\"\"}]}", "devices[0].pci: '' is not an address like"},
        {HEAD "\"nodes\":[" NODE "],\"devices\":[{\"pci\":\"0000:3B:00.0\"},{\"pci\":\"0000:3b:00.0\"}]}",
         "devices: 0000:3b:00.0 is named twice"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{}]}", "domains[0]: needs a domid"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":32752}]}", "domains[0].domid: is 32752, above 32751"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1},{\"domid\":1}]}", "domains[1]: domid 1 is named twice"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"pool\":7}]}", "domains[0].pool: there is no pool 7"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"node_pages\":[1,2]}]}", "domains[0].node_pages: has 2"},
        {HEAD "\"nodes\":[" NODE "," NODE "],\"domains\":[{\"domid\":1,\"node_pages\":[1]}]}",
         "domains[0].node_pages: has 1 entries for 2 nodes"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"uuid\":\"12\"}]}",
         "domains[0].uuid: '12' is not a UUID"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"type\":\"xen\"}]}",
         "domains[0].type: 'xen' is none of"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"state\":\"x\"}]}", "domains[0].state: 'x' is none of"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"name\":\"a\\u0000b\"}]}",
         "domains[0].name: holds a zero byte"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"vcpus\":[{\"hard\":1}]}]}",
         "domains[0].vcpus[0].hard: must be a text"},
        {HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"vcpus\":[{\"online\":1}]}]}",
         "domains[0].vcpus[0].online: must be true or false"},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested too deep"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        HostRows *rows = NULL;
        _cleanup_free_ char *error = NULL;

        assert_int_equal(hostdesc_parse(cases[i].json, strlen(cases[i].json), &rows, &error), HOSTDESC_E_REFUSED);
        assert_null(rows);
        if (!strstr(error, cases[i].error))
            fail_msg("wanted '%s' in '%s'", cases[i].error, error);
    }
}

static void test_too_many_nodes(void **state)
{
    _cleanup_text_ Text text = {0};
    HostRows *rows = NULL;
    _cleanup_free_ char *error = NULL;

    text_add(&text, HEAD "\"nodes\":[");
    for (unsigned i = 0; i <= NODES_MAX; i++)
        text_add(&text, i ? "," NODE : NODE);
    text_add(&text, "]}");
    assert_int_equal(hostdesc_parse(text.data, text.size, &rows, &error), HOSTDESC_E_REFUSED);
    assert_string_equal(error, "nodes: has 1025 elements, more than 1024");
}

static void test_smallest(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = host(HEAD "\"nodes\":[" NODE "," NODE "]}");

    assert_true(s->simulated);
    assert_int_equal(s->page_size, 4096);
    assert_int_equal(s->max_cpu_id, 0);
    assert_int_equal(s->features, 0);
    assert_int_equal(s->total, 2097152);
    assert_int_equal(s->free, 8192);
    assert_true(s->claimed == VALUE_UNKNOWN);
    assert_int_equal(snapshot_distance(s, 0, 0), 10);
    assert_int_equal(snapshot_distance(s, 0, 1), 20);
    assert_int_equal(s->nodes[0].kind, NODE_MEMORY);
    assert_int_equal(s->n_pools, 1);
    assert_int_equal(s->n_domains, 0);
    assert_true(s->nodes[0].present == VALUE_UNKNOWN);
    assert_true(warning_list_has(&s->warnings, WARNING_PATCH_MISSING));
}

static void test_short_form(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host(HEAD "\"threads_per_core\":2,\"nodes\":[{\"size\":1,\"free\":1,\"cpus\":\"0-3,8-9\"},"
                  "{\"size\":1,\"free\":1,\"cpus\":\"4-7\"},{\"size\":1,\"free\":1,\"cpus\":\"\"}]}");

    assert_int_equal(s->max_cpu_id, 9);
    assert_int_equal(bitmap_weight(&s->online), 10);
    assert_int_equal(s->nodes[0].cores, 3);
    assert_int_equal(s->nodes[1].cores, 2);
    assert_int_equal(s->cpus[9].core, 2);
    assert_int_equal(s->cpus[9].socket, 0);
    assert_int_equal(s->cpus[6].core, 1);
    assert_int_equal(s->cpus[6].socket, 1);
    assert_int_equal(s->nodes[2].kind, NODE_MEMORY);
}

static void test_full_domain(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host(HEAD "\"features\":[\"node-pages\"],\"nodes\":[{\"size\":1,\"free\":1,\"cpus\":\"0-1\"}],"
                  "\"domains\":[{\"domid\":3,\"name\":\"g\xff\",\"uuid\":\"00112233-4455-6677-8899-AABBccddeeff\","
                  "\"type\":\"pvh\",\"state\":\"paused\",\"node_pages\":[5],\"node_affinity\":\"0\","
                  "\"vcpus\":[{\"hard\":\"0-100\",\"soft\":\"1\",\"cpu\":1},{\"online\":false,\"cpu\":1}]},"
                  "{\"domid\":1},{\"domid\":5,\"vcpus\":null}]}");
    const Domain *domain = snapshot_find_domain(s, 3);
    _cleanup_free_ char *hard = bitmap_to_text(&domain->row.vcpus->rows[0].hard);
    char uuid[DOMAIN_UUID_TEXT];

    assert_int_equal(s->domains[0].row.domid, 1); /* sorted */
    assert_null(snapshot_find_domain(s, 2));
    assert_string_equal(domain->row.name, "g\xef\xbf\xbd");
    assert_string_equal(domain_uuid_to_text(&domain->row, uuid), "00112233-4455-6677-8899-aabbccddeeff");
    assert_int_equal(domain->row.type, DOMAIN_TYPE_PVH);
    assert_int_equal(s->warnings.n, 0);
    assert_int_equal(domain->row.state, DOMAIN_PAUSED);
    assert_int_equal(domain->row.total_pages, 5);
    assert_string_equal(hard, "0-1"); /* cut to max_cpu_id */
    assert_int_equal(domain->row.vcpus->rows[0].cpu, 1);
    assert_true(domain->row.vcpus->rows[1].cpu == CPU_NONE);
    assert_int_equal(domain->row.n_vcpus, 2);
    assert_null(s->domains[0].row.name);
    assert_int_equal(s->domains[0].row.vcpus->n, 0);    /* not in the file: none */
    assert_null(snapshot_find_domain(s, 5)->row.vcpus); /* null: not known */
    assert_true(s->domains[0].row.total_pages == VALUE_UNKNOWN);
}

/* A sum that no 64-bit number holds is unknown, not what is left of it. */
static void test_totals_do_not_wrap(void **state)
{
    _cleanup_text_ Text text = {0};
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

    text_add(&text, HEAD "\"nodes\":[");
    for (unsigned i = 0; i < 256; i++)
        text_printf(&text, "%s{\"size\":72057594037927936,\"free\":72057594037927936}", i ? "," : "");
    text_add(&text, "]}");
    s = host(text.data);
    assert_true(s->total == VALUE_UNKNOWN);
    assert_true(s->free == VALUE_UNKNOWN);
}

static void test_bytes_that_are_no_text(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host(HEAD "\"xen_version\":\"4\xff\",\"nodes\":[" NODE "]}");

    assert_string_equal(s->xen_version, "4\xef\xbf\xbd");
}

/* Without the feature, its field brings nothing, a total neither. */
static void test_pages_without_the_feature(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        host(HEAD "\"nodes\":[" NODE "],\"domains\":[{\"domid\":1,\"node_pages\":[4]}]}");

    assert_null(s->domains[0].row.node_pages);
    assert_true(s->domains[0].row.total_pages == VALUE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many_nodes),
        cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_short_form),
        cmocka_unit_test(test_full_domain),
        cmocka_unit_test(test_totals_do_not_wrap),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_pages_without_the_feature),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
