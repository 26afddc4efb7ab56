/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/hostdesc.h"

/* What a description means: its defaults, its short form, its sentinels, and what is not known. */

static void test_smallest(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = snapshot_of(NODES(NODE "," NODE));

    assert_true(s->simulated);
    assert_string_equal(s->backend, "sim");
    assert_null(s->xen_version);
    assert_int_equal(s->page_size, 4096);
    assert_int_equal(s->max_cpu_id, 0);
    assert_int_equal(s->n_cpus, 0);
    assert_true(bitmap_isempty(&s->online));
    assert_int_equal(s->features, 0);
    assert_int_equal(s->total, 2097152);
    assert_int_equal(s->free, 8192);
    assert_true(s->claimed == VALUE_UNKNOWN);
    assert_false(s->has_dom0_view);
    assert_int_equal(snapshot_distance(s, 0, 0), 10);
    assert_int_equal(snapshot_distance(s, 0, 1), 20);
    assert_int_equal(s->nodes[0].kind, NODE_MEMORY);
    assert_true(s->nodes[0].present == VALUE_UNKNOWN);
    assert_true(s->nodes[0].low == VALUE_UNKNOWN);
    assert_null(s->nodes[0].free_chunks);
    assert_int_equal(s->n_pools, 1);
    assert_int_equal(s->pools[0].pool, 0);
    assert_int_equal(s->n_devices, 0);
    assert_int_equal(s->n_domains, 0);
    assert_int_equal(s->warnings.n, 1);
    assert_true(warning_list_has(&s->warnings, WARNING_PATCH_MISSING));
}

/* What is null is as what is left out, but where a value is made up of others. */
static void test_nulls(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows = rows_of(
        HEAD "'xen_version':null,'page_size':null,'features':null,'max_cpu_id':null,'memory':null,'dom0':null,"
             "'topology':null,'nodes':[{'size':1,'free':2,'distances':null,'cpus':null}],'node_extra':null,'srat':null,"
             "'slit':null,'devices':null,'pools':null,'domains':null,'threads_per_core':null}");

    assert_int_equal(rows->page_size, 4096);
    assert_true(rows->total == VALUE_UNKNOWN && rows->free == VALUE_UNKNOWN && rows->claimed == VALUE_UNKNOWN);
    assert_int_equal(rows->n_cpus, 0); /* not one that is offline */
    assert_null(rows->distances);
    assert_null(rows->firmware);
    assert_int_equal(rows->n_pools, 0);
}

static void test_totals(void **state)
{
    static const struct {
        const char *memory;
        uint64_t total, free;
    } cases[] = {
        {"{}", 2097152, 8192},
        {"{'total':7}", 7, 8192},
        {"{'total':null}", VALUE_UNKNOWN, 8192},
        {"{'free':null}", 2097152, VALUE_UNKNOWN},
        {"{'total':0,'free':0}", 0, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text text = {0};
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        text_printf(&text, HEAD "'nodes':[" NODE ",{'size':4294967295,'free':1}," NODE "],'memory':%s}",
                    cases[i].memory);
        rows = rows_of(text.data);
        assert_true(rows->total == cases[i].total);
        assert_true(rows->free == cases[i].free);
    }
}

/* A sum that no 64-bit number holds is unknown, not what is left of it. */
static void test_totals_do_not_wrap(void **state)
{
    _cleanup_text_ Text text = {0};
    _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

    text_add(&text, HEAD "'nodes':[");
    for (unsigned i = 0; i < 256; i++)
        text_printf(&text, "%s{'size':72057594037927936,'free':72057594037927936}", i ? "," : "");
    text_add(&text, "]}");
    s = snapshot_of(text.data);
    assert_true(s->total == VALUE_UNKNOWN);
    assert_true(s->free == VALUE_UNKNOWN);
}

static void test_short_form(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        snapshot_of(HEAD "'threads_per_core':2,'nodes':[{'size':1,'free':1,'cpus':'0-3,8-9'},"
                         "{'size':1,'free':1,'cpus':'4-7'},{'size':1,'free':1,'cpus':''}]}");

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

static void test_max_cpu_id(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows =
        rows_of(HEAD "'nodes':[" NODE "],'max_cpu_id':6,'topology':[{'cpu':4,'core':1,'socket':0,'node':0}]}");

    assert_int_equal(rows->max_cpu_id, 6);
    assert_int_equal(rows->n_cpus, 7);
    assert_int_equal(rows->cpus[4].core, 1);
    for (cpuid_t cpu = 0; cpu < 7; cpu++) /* those that are not named are offline */
        assert_int_equal(rows->cpus[cpu].node, cpu == 4 ? 0 : ROW_INVALID);
}

/* A CPU is there when it is named or when there is a highest one. */
static void test_no_cpus(void **state)
{
    static const struct {
        const char *more;
        size_t n_cpus;
    } cases[] = {{"'topology':[]", 0},
                 {"'topology':null", 0},
                 {"'max_cpu_id':null", 0},
                 {"'max_cpu_id':0", 1},
                 {"'topology':[],'max_cpu_id':2", 3},
                 {"'topology':[{'cpu':0}]", 1}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text text = {0};
        _cleanup_(host_rows_free_p) HostRows *rows = NULL;

        text_printf(&text, HEAD "'nodes':[" NODE "],%s}", cases[i].more);
        rows = rows_of(text.data);
        assert_int_equal(rows->n_cpus, cases[i].n_cpus);
        assert_int_equal(rows->max_cpu_id, cases[i].n_cpus ? cases[i].n_cpus - 1 : 0);
    }
}

static void test_cpu_sentinels(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        snapshot_of(HEAD "'nodes':[" NODE "],'topology':[{'cpu':0,'core':0,'socket':0,'node':0},"
                         "{'cpu':1,'core':4294967295,'socket':4294967295,'node':4294967295},"
                         "{'cpu':2,'core':5,'socket':0,'node':4294967295},{'cpu':3},{'cpu':4,'core':1,'node':9}]}");
    _cleanup_free_ char *online = bitmap_to_text(&s->online), *cpus = bitmap_to_text(&s->nodes[0].cpus);

    assert_string_equal(online, "0,2,4");
    assert_string_equal(cpus, "0");
    assert_int_equal(s->cpus[4].node, ROW_INVALID);
    assert_true(warning_list_has(&s->warnings, WARNING_CPU_NODE_CONFLICT));
}

static void test_distance_sentinels(void **state)
{
    static const char *const none[] = {"-1", "255", "4294967295", "18446744073709551615"};
    static const struct {
        const char *distance;
        uint32_t read;
        WarningCode code;
    } cases[] = {{"9", DISTANCE_NONE, WARNING_SLIT_INVALID},
                 {"0", DISTANCE_NONE, WARNING_SLIT_INVALID},
                 {"10", 10, WARNING_SLIT_FLAT},
                 {"254", 254, WARNING_PATCH_MISSING},
                 {"256", 256, WARNING_PATCH_MISSING},
                 {"4294967294", 4294967294, WARNING_PATCH_MISSING}};

    for (size_t i = 0; i < ARRAY_SIZE(none) + ARRAY_SIZE(cases); i++) {
        bool valid = i >= ARRAY_SIZE(none);
        const char *distance = valid ? cases[i - ARRAY_SIZE(none)].distance : none[i];
        WarningCode code = valid ? cases[i - ARRAY_SIZE(none)].code : WARNING_DISTANCE_UNREACHABLE;
        _cleanup_text_ Text text = {0};
        _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

        text_printf(&text, NODES("{'size':1,'free':1,'distances':[99,%s]},{'size':1,'free':1,'distances':[%s,0]}"),
                    distance, distance);
        s = snapshot_of(text.data);
        assert_int_equal(snapshot_distance(s, 0, 0), 10); /* whatever is said */
        assert_int_equal(snapshot_distance(s, 1, 1), 10);
        assert_int_equal(snapshot_distance(s, 0, 1), valid ? cases[i - ARRAY_SIZE(none)].read : DISTANCE_NONE);
        assert_true(warning_list_has(&s->warnings, code));
        assert_int_equal(s->warnings.n, code == WARNING_PATCH_MISSING ? 1 : 2);
    }
}

/* Sentinels are those of distances alone: elsewhere the numbers are what they are. */
static void test_hole(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        snapshot_of(NODES("{'size':1,'free':255,'distances':[10,5,20]},{'size':4294967295,'distances':[5,5,5]},"
                          "{'size':0,'free':0,'distances':[20,5,10]}"));

    assert_true(s->nodes[0].exists);
    assert_false(s->nodes[1].exists);
    assert_true(s->nodes[2].exists);
    assert_int_equal(s->nodes[2].kind, NODE_EMPTY);
    assert_int_equal(s->nodes[0].free, 255);
    assert_int_equal(s->total, 1);
    assert_int_equal(s->free, 255);
    assert_int_equal(snapshot_distance(s, 0, 1), DISTANCE_NONE);
    assert_int_equal(snapshot_distance(s, 2, 0), 20);
    assert_true(warning_list_has(&s->warnings, WARNING_FREE_ABOVE_SIZE));
    assert_false(warning_list_has(&s->warnings, WARNING_SLIT_INVALID)); /* the hole's row is ignored */
}

/* Of a hole anything is ignored: its row may be left out, or as long as it likes, and any number is in its column. */
static void test_hole_is_ignored(void **state)
{
    static const char *const holes[] = {"",
                                        ",'distances':null",
                                        ",'distances':[]",
                                        ",'distances':[-7,1.5]",
                                        ",'distances':[null,'x',{},[1],true,6]",
                                        ",'free':-1",
                                        ",'free':1.5e300",
                                        ",'free':18446744073709551615,'distances':[1,2,3]",
                                        ",'free':null"};
    static const char *const columns[] = {"10", "-1", "-2", "0.5", "4294967296", "18446744073709551614", "-1e300"};

    for (size_t i = 0; i < ARRAY_SIZE(holes) * ARRAY_SIZE(columns); i++) {
        const char *hole = holes[i % ARRAY_SIZE(holes)], *column = columns[i / ARRAY_SIZE(holes)];
        _cleanup_text_ Text text = {0};
        _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

        text_printf(&text,
                    NODES("{'size':4294967295%s},{'size':1,'free':1,'distances':[%s,10,30]},"
                          "{'size':1,'free':1,'distances':[%s,40,10]}"),
                    hole, column, column);
        s = snapshot_of(text.data);
        assert_false(s->nodes[0].exists);
        assert_int_equal(snapshot_distance(s, 0, 0), DISTANCE_NONE);
        assert_int_equal(snapshot_distance(s, 1, 0), DISTANCE_NONE);
        assert_int_equal(snapshot_distance(s, 1, 2), 30);
        assert_int_equal(snapshot_distance(s, 2, 1), 40);
        assert_int_equal(s->warnings.n, 3);
        assert_true(warning_list_has(&s->warnings, WARNING_SLIT_ASYMMETRIC));
        assert_true(warning_list_has(&s->warnings, WARNING_NODE_OFFLINE));
    }
}

/* All distances are known or none, of the nodes that exist: no row, or null in place of one, is none. */
static void test_no_distances(void **state)
{
    static const char *const unknown[] = {NODES("{'size':1,'free':1,'distances':null}," NODE),
                                          NODES(NODE ",{'size':4294967295,'distances':[5]},"
                                                     "{'size':1,'free':1,'distances':null}"),
                                          NODES("{'size':4294967295,'distances':null}")};
    static const char *const assumed[] = {NODES(NODE "," NODE ",{'size':4294967295,'distances':null}"),
                                          NODES(NODE "," NODE ",{'size':4294967295,'distances':[1,2,3]}")};

    for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
        _cleanup_(host_rows_free_p) HostRows *rows = rows_of(unknown[i]);

        assert_null(rows->distances);
    }
    for (size_t i = 0; i < ARRAY_SIZE(assumed); i++) {
        _cleanup_(snapshot_unref_p) Snapshot *s = snapshot_of(assumed[i]);

        assert_int_equal(snapshot_distance(s, 0, 1), 20);
        assert_int_equal(snapshot_distance(s, 0, 2), DISTANCE_NONE);
    }
}

static void test_features(void **state)
{
    static const char host[] = HEAD "'features':[%s],'nodes':[" NODE "],'node_extra':[{'present':5,'low':6,'dirty':7,"
                                    "'claimed':8,'free_chunks':[9]}],'domains':[{'domid':1,'node_pages':[4]}]}";
    static const char *const features[] = {"'node-pages'", "'node-memory'", "'free-chunks'", "'claims'"};

    for (size_t i = 0; i <= ARRAY_SIZE(features); i++) { /* each alone, and none */
        _cleanup_text_ Text text = {0};
        _cleanup_(snapshot_unref_p) Snapshot *s = NULL;

        text_printf(&text, host, i < ARRAY_SIZE(features) ? features[i] : "");
        s = snapshot_of(text.data);
        assert_int_equal(s->nodes[0].present, 5);
        assert_int_equal(s->nodes[0].low, 6);
        assert_int_equal(s->domains[0].row.node_pages != NULL, i == FEATURE_NODE_PAGES);
        assert_true(s->domains[0].row.total_pages == (i == FEATURE_NODE_PAGES ? 4 : VALUE_UNKNOWN));
        assert_true(s->nodes[0].dirty == (i == FEATURE_NODE_MEMORY ? 7 : VALUE_UNKNOWN));
        assert_int_equal(s->nodes[0].free_chunks != NULL, i == FEATURE_FREE_CHUNKS);
        assert_true(s->nodes[0].claimed == (i == FEATURE_CLAIMS ? 8 : VALUE_UNKNOWN));
        assert_int_equal(warning_list_has(&s->warnings, WARNING_PATCH_MISSING), i != FEATURE_NODE_PAGES);
    }
}

static void test_firmware(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows = rows_of(MORE("'srat':'U1JBVA=='"));
    _cleanup_(host_rows_free_p) HostRows *other = rows_of(MORE("'slit':'','srat':null"));
    _cleanup_(snapshot_unref_p) Snapshot *s = snapshot_of(MORE("'srat':'U1JBVA==','slit':'U0xJVA=='"));

    assert_int_equal(rows->firmware->srat_size, 4);
    assert_memory_equal(rows->firmware->srat_bytes, "SRAT", 4);
    assert_null(rows->firmware->slit_bytes);
    assert_null(other->firmware->srat_bytes);
    assert_non_null(other->firmware->slit_bytes); /* a table of nothing */
    assert_int_equal(other->firmware->slit_size, 0);
    assert_true(warning_list_has(&s->warnings, WARNING_SRAT_INVALID)); /* broken tables are no bad file */
    assert_true(warning_list_has(&s->warnings, WARNING_SLIT_INVALID));
}

static void test_devices(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = snapshot_of(
        MORE("'devices':[{'pci':'ABCD:EF:1F.7','node':1},{'pci':'0000:00:00.0'},{'pci':'0000:00:00.1','node':7},"
             "{'pci':'0000:00:00.2','node':4294967295}]"));

    assert_int_equal(s->n_devices, 4);
    assert_string_equal(s->devices[3].pci, "abcd:ef:1f.7");
    assert_int_equal(s->devices[3].node, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(s->devices[i].node, ROW_INVALID);
}

static void test_pools(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows =
        rows_of(MORE("'pools':[{'pool':5,'cpus':null},{'pool':4294967294,'cpus':'1-2'},{'pool':3,'cpus':''},"
                     "{'pool':6,'cpus':null}],'domains':[{'domid':1,'pool':5},{'domid':2,'pool':3},"
                     "{'domid':3,'pool':4294967295}]"));

    assert_int_equal(rows->n_pools, 2); /* pools whose CPUs are not known are there for their domains alone */
    assert_int_equal(rows->pools[0].pool, 4294967294);
    assert_int_equal(bitmap_weight(&rows->pools[0].cpus), 2);
    assert_int_equal(rows->pools[1].pool, 3);
    assert_int_equal(rows->domains[0].pool, 5);
    assert_int_equal(rows->domains[2].pool, ROW_NO_POOL);
}

static void test_full_domain(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s =
        snapshot_of(HEAD "'features':['node-pages'],'nodes':[{'size':1,'free':1,'cpus':'0-1'}],"
                         "'domains':[{'domid':3,'name':'g\xff','uuid':'00112233-4455-6677-8899-AABBccddeeff',"
                         "'type':'pvh','state':'paused','node_pages':[5],'max_pages':18446744073709551614,"
                         "'node_affinity':'0','vcpus':[{'hard':'0-100','soft':'1','cpu':1},"
                         "{'online':false,'cpu':1}]},{'domid':1},{'domid':5,'vcpus':null}]}");
    const Domain *domain = snapshot_find_domain(s, 3);
    _cleanup_free_ char *hard = bitmap_to_text(&domain->row.vcpus->rows[0].hard);
    char uuid[UUID_TEXT_SIZE];

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
    assert_true(snapshot_find_domain(s, 5)->row.n_vcpus == VCPUS_UNKNOWN);
    assert_int_equal(s->domains[0].row.n_vcpus, 0);
    assert_true(s->domains[0].row.total_pages == VALUE_UNKNOWN);
}

static void test_domain_defaults(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows = rows_of(
        MORE("'features':['node-pages'],'domains':[{'domid':0,'uuid':'00000000-0000-0000-0000-000000000000',"
             "'name':'','node_pages':[0,0],'node_affinity':'','vcpus':[{}]},{'domid':1,'name':null,'uuid':null,"
             "'type':null,'state':null,'total_pages':null,'max_pages':null,'node_pages':[1,2],'pool':null,"
             "'node_affinity':null,'vcpus':[null,null]},{'domid':2,'node_pages':[9000000000000,9000000000000]}]"));
    const DomainRow *d = rows->domains;

    assert_false(d[0].has_uuid); /* dom0's, as the hypervisor tells it */
    assert_string_equal(d[0].name, "");
    assert_int_equal(d[0].total_pages, 0);
    assert_true(d[0].max_pages == VALUE_UNKNOWN);
    assert_true(d[0].has_node_affinity && bitmap_isempty(&d[0].node_affinity));
    assert_int_equal(bitmap_weight(&d[0].vcpus->rows[0].hard), 4);
    assert_int_equal(bitmap_weight(&d[0].vcpus->rows[0].soft), 4);
    assert_true(d[0].vcpus->rows[0].online && d[0].vcpus->rows[0].cpu == CPU_NONE);
    assert_null(d[1].name);
    assert_false(d[1].has_uuid);
    assert_int_equal(d[1].type, DOMAIN_TYPE_UNKNOWN);
    assert_int_equal(d[1].state, DOMAIN_RUNNING);
    assert_int_equal(d[1].pool, 0);
    assert_true(d[1].total_pages == VALUE_UNKNOWN); /* said to be unknown: no sum */
    assert_false(d[1].has_node_affinity);
    assert_null(d[1].vcpus);
    assert_int_equal(d[1].n_vcpus, 2);
    assert_true(d[2].total_pages == VALUE_UNKNOWN); /* more than there can be */
}

/* As Xen's own masks may, an affinity may hold the id of a hole. */
static void test_affinity_to_a_hole(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows =
        rows_of(HEAD "'nodes':[" NODE ",{'size':4294967295}," NODE "],'domains':[{'domid':1,'node_affinity':'0-2'}]}");

    assert_int_equal(bitmap_weight(&rows->domains[0].node_affinity), 3);
}

static void test_bytes_that_are_no_text(void **state)
{
    _cleanup_(snapshot_unref_p) Snapshot *s = snapshot_of(MORE("'xen_version':'4\xff'"));

    assert_string_equal(s->xen_version, "4\xef\xbf\xbd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_nulls),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_totals_do_not_wrap),
        cmocka_unit_test(test_short_form),
        cmocka_unit_test(test_max_cpu_id),
        cmocka_unit_test(test_no_cpus),
        cmocka_unit_test(test_cpu_sentinels),
        cmocka_unit_test(test_distance_sentinels),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_hole_is_ignored),
        cmocka_unit_test(test_no_distances),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_firmware),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_full_domain),
        cmocka_unit_test(test_domain_defaults),
        cmocka_unit_test(test_affinity_to_a_hole),
        cmocka_unit_test(test_bytes_that_are_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
