/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"

#include "clients/numad-xen/display.h"
#include "clients/numad-xen/place.h"

#include <stdio.h>
#include <string.h>

/* Arguments of `place`: what is taken for what, and that each bad value is refused by its option's name. */

#define ARGUMENTS_MAX 24

/* Reads "place" and the words of `line` as arguments; what is said on stderr goes into *ret_said. */
static int read_line(const char *line, PlaceOptions *ret_options, char **ret_said)
{
    _cleanup_free_ char *words = strdup(line);
    char *argv[ARGUMENTS_MAX + 1] = {(char *)"place"};
    FILE *old = stderr;
    Globals globals = {0};
    int argc = 1, r;
    size_t size;

    for (char *word = strtok(words, " "); word && argc < ARGUMENTS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    optind = 0;
    stderr = open_memstream(ret_said, &size);
    r = place_options_read(command_find("place"), &globals, argc, argv, ret_options);
    fclose(stderr);
    stderr = old;
    return r;
}

#define LEAST "--vcpus 2 --memory 1G "

static void test_refused(void **state)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"", "place: --vcpus is missing: "},
        {"--vcpus 2", "place: --memory is missing: "},
        {"--memory 1G", "place: --vcpus is missing: "},
        {"--vcpus 0 --memory 1G", "place: --vcpus: '0': give a whole number from 1 to 8192"},
        {"--vcpus 8193 --memory 1G", "place: --vcpus: '8193': "},
        {"--vcpus -1 --memory 1G", "place: --vcpus: '-1': "},
        {"--vcpus two --memory 1G", "place: --vcpus: 'two': "},
        {"--vcpus 4294967297 --memory 1G", "place: --vcpus: '4294967297': "},
        {"--vcpus 2 --memory 0", "place: --memory: '0': a domain has from 1 byte to 65536T"},
        {"--vcpus 2 --memory 1.5G", "place: --memory: '1.5G': give a whole number of bytes, or with K, M, G or T"},
        {"--vcpus 2 --memory 65537T", "place: --memory: '65537T': "},
        {"--vcpus 2 --memory 99999999999999999999T", "place: --memory: '99999999999999999999T': "},
        {LEAST "--max-memory x", "place: --max-memory: 'x': "},
        {LEAST "--max-memory 512M", "place: --max-memory: less than --memory"},
        {LEAST "--uuid 1234", "place: --uuid: '1234': give one like "},
        {LEAST "--name \xff", "': a name is UTF-8 text of 1 to 255 bytes"},
        {LEAST "--name=", "place: --name: '': "},
        {LEAST "--type lxc", "place: --type: 'lxc': give pv, pvh or hvm"},
        {LEAST "--type=", "place: --type: '': "},
        {LEAST "--policy best", "place: --policy: 'best': give balance, pack, interleave or any"},
        {LEAST "--nodes=", "place: --nodes: '': give at least one number"},
        {LEAST "--nodes a", "place: --nodes: 'a': give numbers and ranges"},
        {LEAST "--nodes 3-1", "place: --nodes: '3-1': a range that ends before it begins"},
        {LEAST "--nodes 1024", "place: --nodes: '1024': the highest number is 1023"},
        {LEAST "--cpus 8192", "place: --cpus: '8192': the highest number is 8191"},
        {LEAST "--cpus 0-", "place: --cpus: '0-': "},
        {LEAST "--pool 4294967295", "place: --pool: '4294967295': "},
        {LEAST "--pool Pool-0", "place: --pool: 'Pool-0': give a whole number"},
        {LEAST "--near eth0", "place: --near: 'eth0': give a PCI address"},
        {LEAST "--threads 0", "place: --threads: '0': give a whole number from 1 to 16"},
        {LEAST "--threads 17", "place: --threads: '17': "},
        {LEAST "--ttl 999", "place: --ttl: '999': give a whole number from 1000 to 86400000"},
        {LEAST "--ttl 86400001", "place: --ttl: '86400001': "},
        {LEAST "--format libvirt", "place: --format: 'libvirt': give text, json or xl"},
        {LEAST "--explain --format xl", "place: --explain and --format xl: "},
        {LEAST "--host nowhere", "place: --host: nothing can be reserved on a host description: add --dry-run"},
        {LEAST "--strict=yes", "place: --strict: takes no value"},
        {LEAST "--n 1", "place: --n: may be more than one option"},
        {LEAST "--nodes", "place: --nodes: needs a value"},
        {LEAST "--json", "place: --json: no such option"},
        {LEAST "guest", "place: guest: takes no such argument"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(place_options_done) PlaceOptions options = {0};
        _cleanup_free_ char *said = NULL;
        int r = read_line(cases[i].line, &options, &said);

        if (r != STATUS_USAGE || !strstr(said, cases[i].says))
            fail_msg("'%s': status %d, no '%s' in: %s", cases[i].line, r, cases[i].says, said);
    }
}

static void test_least(void **state)
{
    _cleanup_(place_options_done) PlaceOptions options = {0};
    _cleanup_free_ char *said = NULL;
    const PlacementRequest *request = &options.request;

    assert_int_equal(read_line(LEAST, &options, &said), 0);
    assert_string_equal(said, "");
    assert_int_equal(request->vcpus, 2);
    assert_int_equal(request->memory, 1ull << 30);
    assert_int_equal(request->pool, ROW_NO_POOL);
    assert_false(request->has_policy || request->has_nodes || request->has_cpus || request->has_uuid);
    assert_false(request->strict || options.dry_run || options.explain);
    assert_null(request->name);
    assert_null(request->near);
    assert_int_equal(request->max_memory + request->ttl_ms + request->threads_per_core, 0);
    assert_int_equal(options.format, PLACE_TEXT);
}

static void test_most(void **state)
{
    _cleanup_(place_options_done) PlaceOptions options = {0};
    _cleanup_free_ char *said = NULL, *nodes = NULL, *cpus = NULL;
    const PlacementRequest *request = &options.request;
    char uuid[UUID_TEXT_SIZE];

    assert_int_equal(
        read_line(LEAST "--name=a --name=web --type=pvh --policy=pack --nodes=1,3-4 --cpus=0-3,8 --pool=1 "
                        "--near=3B:00.1 --strict --threads=2 --ttl=5000 --uuid=ABCDEF01-0000-0000-0000-000000000000",
                  &options, &said),
        0);
    assert_string_equal(said, "");
    nodes = bitmap_to_text(&request->nodes);
    cpus = bitmap_to_text(&request->cpus);
    assert_string_equal(request->name, "web"); /* the last one counts */
    assert_int_equal(request->type, DOMAIN_TYPE_PVH);
    assert_true(request->has_policy && request->policy == POLICY_PACK);
    assert_true(request->has_nodes && request->has_cpus && request->strict);
    assert_string_equal(nodes, "1,3-4");
    assert_string_equal(cpus, "0-3,8");
    assert_int_equal(request->pool, 1);
    assert_string_equal(request->near, "0000:3b:00.1");
    assert_int_equal(request->threads_per_core, 2);
    assert_int_equal(request->ttl_ms, 5000);
    assert_string_equal(uuid_to_text(request->uuid, uuid), "abcdef01-0000-0000-0000-000000000000");
}

static void test_then(void **state)
{
    static const struct {
        const char *line;
        PlaceFormat format;
        bool dry_run, explain;
    } cases[] = {
        {LEAST "--format=text", PLACE_TEXT, false, false},
        {LEAST "--format=json --explain", PLACE_JSON, false, true},
        {LEAST "--format=xl --dry-run", PLACE_XL, true, false},
        {LEAST "--dry-run --explain --max-memory=1G", PLACE_TEXT, true, true},
        {LEAST "--dry-run --host=nowhere", PLACE_TEXT, true, false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(place_options_done) PlaceOptions options = {0};
        _cleanup_free_ char *said = NULL;

        assert_int_equal(read_line(cases[i].line, &options, &said), 0);
        assert_int_equal(options.format, cases[i].format);
        assert_int_equal(options.dry_run, cases[i].dry_run);
        assert_int_equal(options.explain, cases[i].explain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_most),
        cmocka_unit_test(test_then),
    };

    display_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
