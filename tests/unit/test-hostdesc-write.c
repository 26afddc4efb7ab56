/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/hostdesc-write.h"
#include "lib/core/status.h"
#include "lib/core/topology.h"
#include "lib/io/file.h"
#include "tests/unit/host.h"

#include <glob.h>
#include <stdio.h>

static HostRows *parse(const char *json)
{
    HostRows *rows = NULL;
    char *error = NULL;

    if (hostdesc_parse(json, strlen(json), &rows, &error) != 0)
        fail_msg("refused: %s in %s", error, json);
    return rows;
}

/* The documents of rows, which are consumed: of the same host they are the same text. */
static void documents(HostRows *rows, char **ret_status, char **ret_topology)
{
    const Stats stats = {.last_collection_us = -1};
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;

    assert_int_equal(snapshot_seal(rows, 1, -1, &snapshot), 0);
    assert_int_equal(status_document(snapshot, &stats, ret_status), 0);
    assert_int_equal(topology_document(snapshot, ret_topology), 0);
}

static void assert_same(const char *got, const char *wanted, const char *what)
{
    size_t i = 0;

    while (got[i] && got[i] == wanted[i])
        i++;
    if (got[i] != wanted[i])
        fail_msg("%s: got ...%.80s, wanted ...%.80s", what, got + i - MIN(i, (size_t)30),
                 wanted + i - MIN(i, (size_t)30));
}

/* Writes rows, which are consumed, and reads them back: the documents are the same, and so is what is written again. */
static void assert_returns(HostRows *rows, const char *what)
{
    _cleanup_free_ char *text = NULL, *again = NULL;
    _cleanup_free_ char *status = NULL, *topology = NULL, *new_status = NULL, *new_topology = NULL;
    HostRows *read;

    assert_int_equal(hostdesc_document(rows, &text), 0);
    read = parse(text);
    read->backend = rows->backend;
    read->simulated = rows->simulated;
    assert_int_equal(hostdesc_document(read, &again), 0);
    assert_same(again, text, what);
    documents(rows, &status, &topology);
    documents(read, &new_status, &new_topology);
    assert_same(new_status, status, what);
    assert_same(new_topology, topology, what);
}

static void test_golden_hosts(void **state)
{
    _cleanup_free_ char *pattern = NULL;
    glob_t found;

    assert_true(asprintf(&pattern, "%s/tests/golden/hosts/*.json", getenv("NX_SRCDIR")) > 0);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 10);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        _cleanup_free_ char *text = NULL;

        assert_int_equal(file_read(found.gl_pathv[i], HOSTDESC_MAX_BYTES, &text, NULL), 0);
        assert_returns(parse(text), found.gl_pathv[i]);
    }
    globfree(&found);
}

static void set(Bitmap *to, const char *text)
{
    assert_int_equal(bitmap_parse(to, text, CPUS_MAX - 1), 0);
}

/* A host of four node ids, the third of them a hole, as Xen tells it, with every sentinel. */
static HostRows *xen_host(void)
{
    static const NodeRow nodes[] = {
        {.size = 1 << 30, .free = 2u << 30, .present = 1 << 29, .low = 0, .dirty = 4096, .claimed = VALUE_UNKNOWN},
        {.size = 0, .free = 0, .present = 0, .low = 0, .dirty = 0, .claimed = 0},
        {.size = ROW_HOLE,
         .free = ROW_HOLE,
         .present = VALUE_UNKNOWN,
         .low = VALUE_UNKNOWN,
         .dirty = VALUE_UNKNOWN,
         .claimed = VALUE_UNKNOWN},
        {.size = UINT64_C(1) << 56,
         .free = 0,
         .present = VALUE_UNKNOWN,
         .low = VALUE_UNKNOWN,
         .dirty = 0,
         .claimed = 8},
    };
    static const uint32_t distances[] = {10, 255, ~0u, 20, 9, 10, ~0u, 0, ~0u, ~0u, 10, ~0u, 21, ~0u, ~0u, 11};
    static const CpuRow cpus[] = {
        {0, 0, 0},           {ROW_INVALID, ROW_INVALID, ROW_INVALID}, /* offline */
        {1, 0, ROW_INVALID},                                          /* on no node */
        {0, 1, 3},           {ROW_INVALID, ROW_INVALID, 1},           /* alone in its package */
        {7, 7, 77},                                                   /* on a node that is not there */
    };
    HostRows *rows = host_rows_new();

    rows->backend = "xen";
    rows->xen_version = strdup("4.17.5\xff");
    rows->features = FEATURE_BIT(FEATURE_NODE_PAGES) | FEATURE_BIT(FEATURE_NODE_MEMORY) |
                     FEATURE_BIT(FEATURE_FREE_CHUNKS) | FEATURE_BIT(FEATURE_CLAIMS);
    rows->max_cpu_id = ARRAY_SIZE(cpus) - 1;
    rows->n_cpus = ARRAY_SIZE(cpus);
    rows->cpus = new_array(rows->n_cpus, sizeof(*rows->cpus));
    memcpy(rows->cpus, cpus, sizeof(cpus));
    rows->n_nodes = ARRAY_SIZE(nodes);
    rows->nodes = new_array(rows->n_nodes, sizeof(*rows->nodes));
    memcpy(rows->nodes, nodes, sizeof(nodes));
    rows->nodes[0].free_chunks = new_array(3, sizeof(uint64_t));
    rows->nodes[0].free_chunks[2] = UINT64_C(1) << 40;
    rows->nodes[0].n_free_chunks = 3;
    rows->nodes[1].free_chunks = new_array(0, sizeof(uint64_t));
    rows->distances = new_array(ARRAY_SIZE(distances), sizeof(*rows->distances));
    memcpy(rows->distances, distances, sizeof(distances));
    return rows;
}

static void add_domain(HostRows *rows, DomainRow domain)
{
    DomainRow *domains = reallocarray(rows->domains, rows->n_domains + 1, sizeof(*domains));

    domains[rows->n_domains++] = domain;
    rows->domains = domains;
}

static uint64_t *pages(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t *array = new_array(4, sizeof(*array));

    array[0] = a, array[1] = b, array[2] = c, array[3] = d;
    return array;
}

static void test_everything(void **state)
{
    HostRows *rows = xen_host();
    VcpuRows *vcpus = vcpu_rows_new(3);
    DomainRow full = {.domid = 7,
                      .has_uuid = true,
                      .uuid = {1, 0xff},
                      .name = strdup("a\"b\\\n\xfe"),
                      .vcpus = vcpus,
                      .type = DOMAIN_TYPE_PVH,
                      .state = DOMAIN_BLOCKED,
                      .pool = 4,
                      .total_pages = 100,
                      .max_pages = UINT64_MAX - 1,
                      .node_pages = pages(60, 0, 0, 40),
                      .has_node_affinity = true,
                      .n_vcpus = 3};

    rows->total = UINT64_C(1) << 50;
    rows->claimed = 0;
    rows->has_dom0_view = true;
    rows->dom0_nodes = 1;
    rows->dom0_cpus = 2;
    rows->pools = new_array(2, sizeof(*rows->pools));
    rows->n_pools = 2;
    rows->pools[0].pool = 4;
    set(&rows->pools[0].cpus, "0,2-3");
    rows->pools[1].pool = 0;
    rows->devices = new_array(2, sizeof(*rows->devices));
    rows->n_devices = 2;
    rows->devices[0] = (DeviceRow){.pci = strdup("0000:00:1f.2"), .node = ROW_INVALID};
    rows->devices[1] = (DeviceRow){.pci = strdup("0000:3b:00.0"), .node = 77};
    set(&full.node_affinity, "0,2-3");
    set(&vcpus->rows[0].hard, "0-5");
    set(&vcpus->rows[0].soft, "3");
    vcpus->rows[0].online = true;
    vcpus->rows[0].cpu = 3;
    vcpus->rows[1].online = true; /* never ran */
    add_domain(rows, full);
    add_domain(rows, (DomainRow){.total_pages = 0,
                                 .max_pages = 0,
                                 .has_node_affinity = true,
                                 .node_pages = pages(0, 0, 0, 0),
                                 .type = DOMAIN_TYPE_PV,
                                 .vcpus = vcpu_rows_new(0)});
    assert_returns(rows, "everything");
}

/* What the hypervisor did not tell, and what domains say that changed while they were read. */
static void test_unknown(void **state)
{
    HostRows *rows = xen_host();

    free(rows->distances);
    rows->distances = NULL;
    free(rows->cpus);
    rows->cpus = NULL;
    rows->n_cpus = 0;
    add_domain(rows, (DomainRow){.domid = 1, .total_pages = VALUE_UNKNOWN, .max_pages = VALUE_UNKNOWN, .n_vcpus = 4});
    add_domain(rows,
               (DomainRow){.domid = 2, .total_pages = VALUE_UNKNOWN, .max_pages = 1, .node_pages = pages(1, 2, 3, 4)});
    add_domain(rows, (DomainRow){.domid = 3, .total_pages = 5, .max_pages = 1, .pool = 9, .state = DOMAIN_CRASHED});
    add_domain(rows, (DomainRow){.domid = 4, .total_pages = 0, .max_pages = 1, .pool = 9, .state = DOMAIN_SHUTDOWN});
    add_domain(rows,
               (DomainRow){.domid = 5, .total_pages = 1, .max_pages = 1, .pool = ROW_NO_POOL, .state = DOMAIN_DYING});
    add_domain(rows, (DomainRow){.domid = 6, .total_pages = 1, .max_pages = 1, .n_vcpus = VCPUS_UNKNOWN});
    assert_returns(rows, "unknown");
}

/* What is of no use in small chunks is estimated on a real host that does not count them, and a capture keeps it. */
static void test_fragments(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows = xen_host();
    _cleanup_(host_rows_free_p) HostRows *read = NULL;
    _cleanup_free_ char *text = NULL;

    add_domain(rows, (DomainRow){.domid = 1, .node_pages = pages(1, 0, 3, 4)});
    add_domain(rows, (DomainRow){.domid = 2}); /* anywhere */
    rows->simulated = false;
    rows->features = FEATURE_BIT(FEATURE_NODE_PAGES);
    for (size_t i = 0; i < rows->n_nodes; i++)
        rows->nodes[i].fragments = VALUE_UNKNOWN;
    rows->nodes[2].fragments = 5; /* told already */
    host_rows_estimate_fragments(rows);
    assert_int_equal(rows->nodes[0].fragments, 20 << 20);
    assert_int_equal(rows->nodes[1].fragments, 18 << 20);
    assert_int_equal(hostdesc_document(rows, &text), 0);
    read = parse(text);
    assert_int_equal(read->nodes[0].fragments, 20 << 20);
    assert_int_equal(read->nodes[2].fragments, 5);
    rows->nodes[0].fragments = rows->nodes[1].fragments = VALUE_UNKNOWN;
    rows->features |= FEATURE_BIT(FEATURE_FREE_CHUNKS);
    host_rows_estimate_fragments(rows);
    assert_int_equal(rows->nodes[0].fragments, 0);
    rows->features = 0;
    rows->simulated = true;
    host_rows_estimate_fragments(rows);
    assert_int_equal(rows->nodes[1].fragments, 0);
}

/* A CPU that moved from one pool to another while they were read is in both; a description has it once. */
static void test_moving_cpu(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows = xen_host();
    _cleanup_free_ char *text = NULL;
    _cleanup_(host_rows_free_p) HostRows *read = NULL;

    rows->pools = new_array(2, sizeof(*rows->pools));
    rows->n_pools = 2;
    set(&rows->pools[0].cpus, "0-2");
    rows->pools[1].pool = 1;
    set(&rows->pools[1].cpus, "2-3");
    assert_int_equal(hostdesc_document(rows, &text), 0);
    read = parse(text);
    assert_int_equal(read->n_pools, 2);
    assert_int_equal(bitmap_weight(&read->pools[0].cpus), 3);
    assert_int_equal(bitmap_weight(&read->pools[1].cpus), 1);
    assert_true(bitmap_isset(&read->pools[1].cpus, 3));
}

/* Tables of any bytes come back as they are, also those of no byte; one that is not there does not. */
static void test_firmware(void **state)
{
    static const uint8_t srat[] = {'S', 'R', 'A', 'T', 0, 255, 1, 2};
    static const struct {
        const uint8_t *srat, *slit;
        size_t srat_size, slit_size;
    } cases[] = {{srat, NULL, sizeof(srat), 0}, {NULL, srat, 0, 5}, {srat, srat, 0, 1}, {srat, srat + 2, 4, 2}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        HostRows *rows = xen_host();
        _cleanup_free_ char *text = NULL;
        _cleanup_(host_rows_free_p) HostRows *read = NULL;

        assert_int_equal(firmware_new(cases[i].srat, cases[i].srat_size, cases[i].slit, cases[i].slit_size,
                                      &rows->firmware),
                         0);
        assert_int_equal(hostdesc_document(rows, &text), 0);
        read = parse(text);
        assert_int_equal(read->firmware->srat_size, cases[i].srat_size);
        assert_int_equal(read->firmware->slit_size, cases[i].slit_size);
        assert_int_equal(read->firmware->srat_bytes == NULL, cases[i].srat == NULL);
        assert_int_equal(read->firmware->slit_bytes == NULL, cases[i].slit == NULL);
        if (cases[i].srat)
            assert_memory_equal(read->firmware->srat_bytes, cases[i].srat, cases[i].srat_size);
        if (cases[i].slit)
            assert_memory_equal(read->firmware->slit_bytes, cases[i].slit, cases[i].slit_size);
        assert_returns(rows, "firmware");
    }
}

static void test_no_nodes(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows = host_rows_new();
    char *text = NULL;

    assert_int_equal(hostdesc_document(rows, &text), -ENODATA);
    assert_null(text);
}

static void assert_row(const DomainRow *domain, const char *name, const char *uuid)
{
    char text[UUID_TEXT_SIZE];

    if (name)
        assert_string_equal(domain->name, name);
    else
        assert_null(domain->name);
    if (uuid)
        assert_string_equal(domain_uuid_to_text(domain, text), uuid);
    else
        assert_null(domain_uuid_to_text(domain, text));
}

static void test_anonymize(void **state)
{
    _cleanup_(host_rows_free_p) HostRows *rows = xen_host(), *other = xen_host();
    _cleanup_free_ char *text = NULL;
    static const uint8_t srat[60] = "SRAT\x32\0\0\0\3\7SECRETSECRETSECRETSECRET--SECRETSECRET\7\2SECRET";
    static const uint8_t slit[20] = "SECRETSECRET", zeros[60];

    assert_int_equal(firmware_new(srat, sizeof(srat), slit, sizeof(slit), &rows->firmware), 0);
    other->firmware = firmware_ref(rows->firmware);
    add_domain(rows, (DomainRow){.domid = 0, .name = strdup("SECRET")});
    add_domain(rows, (DomainRow){.domid = 1000, .name = strdup("SECRET"), .has_uuid = true, .uuid = {1, 2, 3}});
    add_domain(rows, (DomainRow){.domid = 3, .has_uuid = true, .uuid = {1, 2, 3}});
    assert_int_equal(hostdesc_anonymize(rows), 0);
    assert_row(&rows->domains[0], "Domain-0", NULL);
    assert_row(&rows->domains[1], "domain-1000", "00000000-0000-4000-8000-0000000003e8");
    assert_row(&rows->domains[2], NULL, "00000000-0000-4000-8000-000000000003");
    assert_int_equal(rows->firmware->srat_size, 50); /* as it says it is */
    assert_memory_equal(rows->firmware->srat_bytes, srat, 9);
    assert_memory_equal(rows->firmware->srat_bytes + 10, zeros, 38);
    assert_memory_equal(rows->firmware->srat_bytes + 48, srat + 48, 2);
    assert_int_equal(rows->firmware->slit_size, sizeof(slit));
    assert_memory_equal(rows->firmware->slit_bytes, zeros, sizeof(slit));
    assert_memory_equal(other->firmware->srat_bytes, srat, sizeof(srat)); /* what others hold */
    assert_int_equal(hostdesc_document(rows, &text), 0);
    assert_null(strstr(text, "SECRET"));
    assert_int_equal(hostdesc_anonymize(rows), 0); /* again: nothing changes */
    free(text);
    assert_int_equal(hostdesc_document(rows, &text), 0);
    assert_non_null(strstr(text, "\"domain-1000\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_hosts), cmocka_unit_test(test_everything), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_moving_cpu),   cmocka_unit_test(test_firmware),   cmocka_unit_test(test_no_nodes),
        cmocka_unit_test(test_anonymize),    cmocka_unit_test(test_fragments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
