/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/xen-oracle.h"

#include "lib/core/snapshot.h"
#include "lib/core/status.h"
#include "lib/core/topology.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* --- rows and snapshots --- */

static void check_mask(const Bitmap *mask, size_t n_bits)
{
    assert_int_equal(bitmap_next(mask, (unsigned)n_bits), UINT32_MAX);
}

static void check_domain(const HostRows *rows, const DomainRow *domain)
{
    uint64_t sum = 0;

    for (size_t i = 0; domain->node_pages && i < rows->n_nodes; i++)
        sum = add_saturating(sum, domain->node_pages[i]);
    if (domain->node_pages)
        assert_true(sum <= domain->total_pages);
    if (domain->has_node_affinity)
        check_mask(&domain->node_affinity, rows->n_nodes);
    if (!domain->vcpus)
        return;
    assert_int_equal(domain->vcpus->n, domain->n_vcpus);
    for (size_t i = 0; i < domain->vcpus->n; i++) {
        const VcpuRow *vcpu = &domain->vcpus->rows[i];

        check_mask(&vcpu->hard, rows->n_cpus);
        check_mask(&vcpu->soft, rows->n_cpus);
        assert_true(vcpu->cpu == CPU_NONE || vcpu->cpu < rows->n_cpus);
    }
}

void oracle_check_rows(const HostRows *rows)
{
    uint64_t distances = 0;

    assert_true(rows->n_cpus == 0 || rows->n_cpus == rows->max_cpu_id + 1u);
    for (size_t i = 0; rows->distances && i < rows->n_nodes * rows->n_nodes; i++)
        distances += rows->distances[i];
    assert_true(rows->n_nodes == 0 || distances > 0);
    for (size_t i = 0; i < rows->n_pools; i++) {
        check_mask(&rows->pools[i].cpus, rows->n_cpus ? rows->n_cpus : CPUS_MAX);
        assert_true(i == 0 || rows->pools[i - 1].pool < rows->pools[i].pool);
    }
    for (size_t i = 0; i < rows->n_domains; i++) {
        assert_true(i == 0 || rows->domains[i - 1].domid < rows->domains[i].domid);
        check_domain(rows, &rows->domains[i]);
    }
    for (size_t i = 0; i < rows->n_devices; i++)
        assert_int_equal(strlen(rows->devices[i].pci), PCI_ADDRESS_TEXT - 1);
}

static json_object *parse(char *text)
{
    struct json_tokener *tokener = json_tokener_new();
    json_object *object = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);

    assert_int_equal(json_tokener_get_error(tokener), json_tokener_success);
    json_tokener_free(tokener);
    free(text);
    return object;
}

json_object *oracle_documents(HostRows *rows)
{
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    _cleanup_free_ char *status = NULL, *topology = NULL;
    const Stats stats = {0};
    json_object *both;
    int r = snapshot_seal(rows, 1, 0, &snapshot);

    if (r == 0)
        r = status_document(snapshot, &stats, &status);
    if (r == 0)
        r = topology_document(snapshot, &topology);
    if (r == -ENOMEM)
        return NULL;
    assert_int_equal(r, 0);
    both = json_object_new_object();
    json_object_object_add(both, "status", parse(TAKE_PTR(status)));
    json_object_object_add(both, "topology", parse(TAKE_PTR(topology)));
    return both;
}

json_object *oracle_collect(Source *source, bool full)
{
    HostRows *rows = NULL;
    int r = source->ops->begin(source, full);

    for (unsigned steps = 0; r == 0 && (r = source->ops->step(source, &rows)) > 0; r = 0)
        assert_true(++steps < 100000);
    if (r == -ENOMEM)
        return NULL;
    assert_int_equal(r, 0);
    assert_non_null(rows);
    oracle_check_rows(rows);
    return oracle_documents(rows);
}

/* --- warnings --- */

static const char *code_of(json_object *warning)
{
    json_object *code = NULL;

    assert_true(json_object_object_get_ex(warning, "code", &code));
    return json_object_get_string(code);
}

static bool tells_of_call(json_object *warning)
{
    static const WarningCode codes[] = {WARNING_NOT_PERMITTED, WARNING_SOURCE_FAILED, WARNING_PATCH_MISSING};

    for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
        if (strcmp(code_of(warning), warning_code_to_text(codes[i])) == 0)
            return true;
    return false;
}

static json_object *warnings_of(json_object *documents)
{
    json_object *object = documents;

    if (!documents || !json_object_object_get_ex(object, "status", &object) ||
        !json_object_object_get_ex(object, "host", &object) || !json_object_object_get_ex(object, "warnings", &object))
        return NULL;
    return object;
}

static bool is_among(json_object *warning, json_object *warnings)
{
    for (size_t i = 0; warnings && i < json_object_array_length(warnings); i++)
        if (json_object_equal(json_object_array_get_idx(warnings, i), warning))
            return true;
    return false;
}

bool oracle_has_new_warning(json_object *got, json_object *without, WarningCode code, const char *about)
{
    json_object *warnings = warnings_of(got);

    for (size_t i = 0; i < json_object_array_length(warnings); i++) {
        json_object *warning = json_object_array_get_idx(warnings, i), *text;

        assert_true(json_object_object_get_ex(warning, "text", &text));
        if (strcmp(code_of(warning), warning_code_to_text(code)) == 0 && strstr(json_object_get_string(text), about) &&
            !is_among(warning, warnings_of(without)))
            return true;
    }
    return false;
}

unsigned oracle_count_new_warnings(json_object *got, json_object *without)
{
    json_object *warnings = warnings_of(got);
    unsigned n = 0;

    for (size_t i = 0; i < json_object_array_length(warnings); i++) {
        json_object *warning = json_object_array_get_idx(warnings, i);

        n += tells_of_call(warning) && !is_among(warning, warnings_of(without));
    }
    return n;
}

/* --- comparing --- */

#define PATH_MAX_TEXT 128

static void compare(json_object *got, json_object *wanted, json_object *old, const char *path, OracleRules rules);

static bool covers(const char *rule, const char *path)
{
    size_t n = strlen(rule);

    return strncmp(path, rule, n) == 0 && (path[n] == '\0' || path[n] == '.' || path[n] == '[');
}

/* 0: it may not differ; 1: it may be null or old; 2: it may be anything. */
static int allowance(const char *path, OracleRules rules)
{
    int allowed = 0;

    for (size_t i = 0; rules.paths && rules.paths[i]; i++) {
        const char *rule = rules.paths[i];
        bool derived = *rule == '~' || (*rule == '^' && rules.first);

        if (covers(rule + (*rule == '~' || *rule == '^'), path))
            allowed = MAX(allowed, derived ? 2 : 1);
    }
    return allowed;
}

static void compare_leaf(json_object *got, json_object *wanted, json_object *old, const char *path, OracleRules rules)
{
    int allowed = allowance(path, rules);

    if (allowed == 2 || (allowed == 1 && (!got || (old && json_object_equal(got, old)))))
        return;
    fail_msg("%s is %s, wanted %s, was %s", path, json_object_to_json_string(got), json_object_to_json_string(wanted),
             json_object_to_json_string(old));
}

static json_object *member(json_object *object, const char *key)
{
    json_object *value = NULL;

    return json_object_is_type(object, json_type_object) && json_object_object_get_ex(object, key, &value) ? value
                                                                                                           : NULL;
}

static void compare_objects(json_object *got, json_object *wanted, json_object *old, const char *path,
                            OracleRules rules)
{
    assert_int_equal(json_object_object_length(got), json_object_object_length(wanted));
    json_object_object_foreach (wanted, key, value) {
        char below[PATH_MAX_TEXT];

        if (strcmp(key, "warnings") == 0)
            continue;
        assert_true(json_object_object_get_ex(got, key, NULL));
        snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", key);
        compare(member(got, key), value, member(old, key), below, rules);
    }
}

/* What tells an element of an array from the others; NULL: its place. */
static json_object *identity(json_object *element)
{
    static const char *const keys[] = {"domid", "pci", "vcpu", "cpu", "pool", "node", "order", "le"};
    json_object *id = NULL;

    for (size_t i = 0; !id && i < ARRAY_SIZE(keys); i++)
        id = member(element, keys[i]);
    return id;
}

static json_object *find(json_object *array, json_object *like, size_t place)
{
    json_object *id = identity(like);

    if (!json_object_is_type(array, json_type_array))
        return NULL;
    if (!id)
        return json_object_array_get_idx(array, place);
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        json_object *element = json_object_array_get_idx(array, i);

        if (identity(element) && json_object_equal(identity(element), id))
            return element;
    }
    return NULL;
}

static void compare_arrays(json_object *got, json_object *wanted, json_object *old, const char *path, OracleRules rules)
{
    char below[PATH_MAX_TEXT];

    snprintf(below, sizeof(below), "%s[]", path);
    for (size_t i = 0; i < json_object_array_length(wanted); i++) {
        json_object *element = json_object_array_get_idx(wanted, i), *other = find(got, element, i);

        if (!other && element && !allowance(below, rules))
            fail_msg("%s lacks %s", path, json_object_to_json_string(element));
        if (other || !element)
            compare(other, element, find(old, element, i), below, rules);
    }
    for (size_t i = 0; i < json_object_array_length(got); i++) {
        json_object *element = json_object_array_get_idx(got, i);

        if (!find(wanted, element, i) && element && allowance(below, rules) != 2 &&
            !(allowance(below, rules) && find(old, element, i)))
            fail_msg("%s has %s", path, json_object_to_json_string(element));
    }
}

static void compare(json_object *got, json_object *wanted, json_object *old, const char *path, OracleRules rules)
{
    if (json_object_equal(got, wanted))
        return;
    if (json_object_is_type(got, json_type_object) && json_object_is_type(wanted, json_type_object))
        compare_objects(got, wanted, old, path, rules);
    else if (json_object_is_type(got, json_type_array) && json_object_is_type(wanted, json_type_array))
        compare_arrays(got, wanted, old, path, rules);
    else
        compare_leaf(got, wanted, old, path, rules);
}

void oracle_compare(json_object *got, json_object *wanted, json_object *old, OracleRules rules)
{
    compare(got, wanted, old, "", rules);
}

void oracle_equal(json_object *got, json_object *wanted)
{
    compare(got, wanted, NULL, "", (OracleRules){0});
    if (!json_object_equal(warnings_of(got), warnings_of(wanted)))
        fail_msg("warnings are %s, wanted %s", json_object_to_json_string(warnings_of(got)),
                 json_object_to_json_string(warnings_of(wanted)));
}
