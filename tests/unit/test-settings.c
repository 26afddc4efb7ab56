/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/settings.h"
#include "lib/io/file.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Settings parse_good(const char *text)
{
    Settings settings;
    char *error = NULL;

    if (settings_parse("f", text, strlen(text), &settings, &error) != 0)
        fail_msg("refused: %s", error);
    return settings;
}

static void test_defaults(void **state)
{
    static const char *const empty[] = {
        "", "\n", "# nothing\n; nor here\n", "[daemon]\n[placement]\n[limits]", " \t\r\n", "[daemon]",
    };

    for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
        Settings s = parse_good(empty[i]);

        assert_int_equal(s.interval_ms, 1000);
        assert_false(s.adopt);
        assert_int_equal(s.policy, POLICY_BALANCE);
        assert_int_equal(s.headroom, 0);
        assert_int_equal(s.ttl_ms, 60000);
        assert_int_equal(s.gather_ms, 100);
        assert_int_equal(s.gather_max_ms, 1000);
        assert_int_equal(s.reservations, 1024);
        assert_int_equal(s.per_uid, 64);
        assert_int_equal(s.requests_per_s, 200);
    }
}

static void test_every_key(void **state)
{
    Settings s = parse_good("[daemon]\ninterval_ms = 500\nadopt=yes\n"
                            "[placement]\npolicy = pack\nheadroom = 512M\nttl_ms = 1000\ngather_ms = 0\n"
                            "gather_max_ms = 0\n"
                            "[limits]\nreservations = 1\nper_uid = 2\nrequests_per_s = 100000");

    assert_int_equal(s.interval_ms, 500);
    assert_true(s.adopt);
    assert_int_equal(s.policy, POLICY_PACK);
    assert_int_equal(s.headroom, 512u << 20);
    assert_int_equal(s.ttl_ms, 1000);
    assert_int_equal(s.gather_ms, 0);
    assert_int_equal(s.gather_max_ms, 0);
    assert_int_equal(s.reservations, 1);
    assert_int_equal(s.per_uid, 2);
    assert_int_equal(s.requests_per_s, 100000);
}

/* Forms of a file that people write. */
static void test_forms(void **state)
{
    static const char *const texts[] = {
        "[daemon]\ninterval_ms=500\n",
        "[daemon]\r\ninterval_ms = 500\r\n",
        "[daemon]\n\tinterval_ms\t=\t500\t\n",
        "  [daemon]  # mine\n  adopt = no\n  interval_ms = 500\n", /* an indented line is a line */
        "[daemon] ; mine\ninterval_ms = 500 ; twice a second\n",
        "[limits]\nper_uid=64\n[daemon]\nadopt=no\n[limits]\nreservations=1024\n[daemon]\ninterval_ms=500\n",
        "[daemon]\ninterval_ms = 0500\n",
        "[daemon]\ninterval_ms = 500 ; : none\n",
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_int_equal(parse_good(texts[i]).interval_ms, 500);
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"1", 1},
        {"4096", 4096},
        {"1K", 1024},
        {"3M", 3u << 20},
        {"1G", 1u << 30},
        {"64T", 64ull << 40},
        {"65536G", 64ull << 40},
        {"70368744177664", 64ull << 40},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[64];

        snprintf(text, sizeof(text), "[placement]\nheadroom=%s", cases[i].text);
        assert_int_equal(parse_good(text).headroom, cases[i].bytes);
    }
}

#define HUNDRED "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
#define INTERVAL "give a whole number from 100 to 3600000"
#define HEADROOM "give a size from 0 to 64T, in bytes or with K, M, G or T"
#define MARK "\xef\xbb\xbf"
#define MARKED "a byte order mark, which some editors write: save the file as UTF-8 without one"
#define SECTIONS "there are [daemon], [placement], [limits]"

static const struct {
    const char *text, *error;
} refusals[] = {
    /* values */
    {"[daemon]\ninterval_ms=", "f:2: daemon.interval_ms: has no value: " INTERVAL},
    {"[daemon]\ninterval_ms= ; none", "f:2: daemon.interval_ms: has no value: " INTERVAL},
    {"[daemon]\ninterval_ms=99", "f:2: daemon.interval_ms: '99' is too small: " INTERVAL},
    {"[daemon]\ninterval_ms=3600001", "f:2: daemon.interval_ms: '3600001' is too large: " INTERVAL},
    {"[daemon]\ninterval_ms=18446744073709551616",
     "f:2: daemon.interval_ms: '18446744073709551616' is too large: " INTERVAL},
    {"[daemon]\ninterval_ms=18446744073709552616000000",
     "f:2: daemon.interval_ms: '18446744073709552616000000' is too large: " INTERVAL},
    {"[daemon]\ninterval_ms=-500", "f:2: daemon.interval_ms: '-500' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=+500", "f:2: daemon.interval_ms: '+500' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=500.0", "f:2: daemon.interval_ms: '500.0' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=5e2", "f:2: daemon.interval_ms: '5e2' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=0x200", "f:2: daemon.interval_ms: '0x200' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=1K", "f:2: daemon.interval_ms: '1K' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=500 600", "f:2: daemon.interval_ms: '500 600' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=500 # fast", "f:2: daemon.interval_ms: '500 # fast' is no whole number: " INTERVAL},
    {"[daemon]\ninterval_ms=\"500\"", "f:2: daemon.interval_ms: '\"500\"' is no whole number: " INTERVAL},
    {"[daemon]\nadopt=true", "f:2: daemon.adopt: 'true' is not allowed: give yes or no"},
    {"[daemon]\nadopt=Yes", "f:2: daemon.adopt: 'Yes' is not allowed: give yes or no"},
    {"[daemon]\nadopt=", "f:2: daemon.adopt: has no value: give yes or no"},
    {"[placement]\npolicy=balanced",
     "f:2: placement.policy: 'balanced' is not allowed: give balance, pack, interleave or any"},
    {"[placement]\npolicy=", "f:2: placement.policy: has no value: give balance, pack, interleave or any"},
    {"[placement]\nheadroom=65T", "f:2: placement.headroom: '65T' is too large: " HEADROOM},
    {"[placement]\nheadroom=70368744177665", "f:2: placement.headroom: '70368744177665' is too large: " HEADROOM},
    {"[placement]\nheadroom=18446744073709551615T",
     "f:2: placement.headroom: '18446744073709551615T' is too large: " HEADROOM},
    {"[placement]\nheadroom=16777216T", "f:2: placement.headroom: '16777216T' is too large: " HEADROOM},
    {"[placement]\nheadroom=G", "f:2: placement.headroom: 'G' is no size: " HEADROOM},
    {"[placement]\nheadroom=1g", "f:2: placement.headroom: '1g' is no size: " HEADROOM},
    {"[placement]\nheadroom=1GB", "f:2: placement.headroom: '1GB' is no size: " HEADROOM},
    {"[placement]\nheadroom=1 G", "f:2: placement.headroom: '1 G' is no size: " HEADROOM},
    {"[placement]\nheadroom=1.5G", "f:2: placement.headroom: '1.5G' is no size: " HEADROOM},
    {"[placement]\nttl_ms=999", "f:2: placement.ttl_ms: '999' is too small: give a whole number from 1000 to 86400000"},
    {"[placement]\ngather_ms=10001",
     "f:2: placement.gather_ms: '10001' is too large: give a whole number from 0 to 10000"},
    {"[placement]\ngather_max_ms=60001",
     "f:2: placement.gather_max_ms: '60001' is too large: give a whole number from 0 to 60000"},
    {"[limits]\nreservations=0", "f:2: limits.reservations: '0' is too small: give a whole number from 1 to 32752"},
    {"[limits]\nper_uid=32753", "f:2: limits.per_uid: '32753' is too large: give a whole number from 1 to 32752"},
    {"[limits]\nrequests_per_s=0",
     "f:2: limits.requests_per_s: '0' is too small: give a whole number from 1 to 100000"},
    {"[limits]\nrequests_per_s=100001",
     "f:2: limits.requests_per_s: '100001' is too large: give a whole number from 1 to 100000"},
    /* values that do not go together */
    {"[placement]\ngather_ms=1001\n\n",
     "f:2: placement.gather_max_ms: 1000 is less than gather_ms, 1001: give at least as much"},
    {"[placement]\ngather_ms=200\ngather_max_ms=199",
     "f:3: placement.gather_max_ms: 199 is less than gather_ms, 200: give at least as much"},
    /* keys and sections */
    {"[daemon]\n\n# a comment\ninterval=5", "f:4: daemon.interval: no such key: [daemon] has interval_ms, adopt"},
    {"[daemon]\nInterval_ms=500", "f:2: daemon.Interval_ms: no such key: [daemon] has interval_ms, adopt"},
    {"[daemon]\n=5", "f:2: daemon.: no such key: [daemon] has interval_ms, adopt"},
    {"[daemon]\nheadroom=0", "f:2: daemon.headroom: stands in the wrong place: it belongs to [placement]"},
    {"interval_ms=500", "f:1: interval_ms: stands in the wrong place: it belongs to [daemon]"},
    {"speed=500", "f:1: speed: no such key, and no section before it: " SECTIONS},
    {"[daemon]\ninterval_ms=500\nadopt=no\ninterval_ms=500",
     "f:4: daemon.interval_ms: given a second time, after line 2: give it once"},
    {"[daemon]\nadopt=no\n[limits]\n[daemon]\nadopt=yes",
     "f:5: daemon.adopt: given a second time, after line 2: give it once"},
    {"[general]", "f:1: [general]: no such section: " SECTIONS}, /* also without keys */
    {"[Daemon]\nadopt=no", "f:1: [Daemon]: no such section: " SECTIONS},
    {"[ daemon ]", "f:1: [ daemon ]: no such section: " SECTIONS},
    {"[]", "f:1: []: no such section: " SECTIONS},
    {"[daemon", "f:1: [daemon: no ']': a section's line is [NAME]"},
    {"[", "f:1: [: no ']': a section's line is [NAME]"},
    {"[daemons]", "f:1: [daemons]: no such section: " SECTIONS},
    {"[daemo]", "f:1: [daemo]: no such section: " SECTIONS},
    {"[daemon] adopt=yes", "f:1: [daemon]: nothing may stand behind a section's name"},
    {"[daemon]]", "f:1: [daemon]: nothing may stand behind a section's name"},
    /* what inih would take */
    {"[daemon]\ninterval_ms : 500", "f:2: interval_ms: ':' stands for '=': write interval_ms = 500"},
    {"[daemon]\n\tinterval_ms:500 ; fast", "f:2: interval_ms: ':' stands for '=': write interval_ms = 500 ; fast"},
    {"[daemon]\ninterval_ms:=500", "f:2: interval_ms: ':' stands for '=': write interval_ms = =500"},
    {"[daemon]\nadopt = no:yes", "f:2: daemon.adopt: 'no:yes' is not allowed: give yes or no"},
    {MARK, "f:1: " MARKED},
    {MARK "[daemon]\ninterval_ms=500", "f:1: " MARKED},
    {"\n" MARK "[daemon]", "f:2: no '=': a setting is KEY = VALUE, a comment begins with #"},
    /* lines */
    {"[daemon]\nadopt", "f:2: no '=': a setting is KEY = VALUE, a comment begins with #"},
    {"[daemon]\nadopt ; = yes", "f:2: no '=': a setting is KEY = VALUE, a comment begins with #"},
    {"[daemon]\nadopt\ninterval_ms=1", "f:2: no '=': a setting is KEY = VALUE, a comment begins with #"},
    {"[daemon]\ninterval_ms=1\nadopt", "f:2: daemon.interval_ms: '1' is too small: " INTERVAL}, /* the first one */
    {"[daemon]\nadopt = " HUNDRED HUNDRED "\n", "f:2: adopt = 01234567...: longer than 160 bytes, which no setting is"},
    /* as long as inih takes, whose end would be a line of its own: no setting hides there */
    {"[daemon]\nadopt = yes ; " HUNDRED HUNDRED "\ninterval_ms = 100",
     "f:2: adopt = yes ; 01...: longer than 160 bytes, which no setting is"},
    {"[" HUNDRED HUNDRED "]", "f:1: [012345678901234...: longer than 160 bytes, which no setting is"},
};

static void test_refusals(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        Settings settings = {.interval_ms = 77};
        _cleanup_free_ char *error = NULL;
        int r = settings_parse("f", refusals[i].text, strlen(refusals[i].text), &settings, &error);

        if (r != SETTINGS_E_REFUSED)
            fail_msg("taken: %s", refusals[i].text);
        assert_string_equal(error, refusals[i].error);
        assert_int_equal(settings.interval_ms, 77); /* nothing of it */
    }
}

static void test_zero_bytes(void **state)
{
    static const char end[] = "[daemon]\nadopt=no\n\0", comment[] = "#\0\n", middle[] = "\n\n[daemon]\nadopt=\0yes";
    static const struct {
        const char *text;
        size_t size;
        const char *error;
    } cases[] = {
        {end, sizeof(end) - 1, "f:3: a zero byte: this is no text file"},
        {comment, sizeof(comment) - 1, "f:1: a zero byte: this is no text file"},
        {middle, sizeof(middle) - 1, "f:4: a zero byte: this is no text file"},
        {"", 1, "f:1: a zero byte: this is no text file"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ char *error = NULL;
        Settings settings;

        assert_int_equal(settings_parse("f", cases[i].text, cases[i].size, &settings, &error), SETTINGS_E_REFUSED);
        assert_string_equal(error, cases[i].error);
    }
}

/* Long lines that say nothing may be as long as they like. */
static void test_long_comment(void **state)
{
    static const char text[] =
        "# " HUNDRED HUNDRED HUNDRED " interval_ms = 1\n[daemon]\n  ; " HUNDRED HUNDRED "\ninterval_ms = 500";

    assert_int_equal(parse_good(text).interval_ms, 500);
}

static void test_longest_line(void **state)
{
    char text[512];

    snprintf(text, sizeof(text), "[daemon]\n   %-*s;%s   \n", (int)SETTINGS_LINE_MAX - 21, "interval_ms = 500",
             "a comment as it may");
    assert_int_equal(parse_good(text).interval_ms, 500);
    snprintf(text, sizeof(text), "[daemon]\ninterval_ms = 500 ;%0*d", (int)SETTINGS_LINE_MAX - 19, 0);
    assert_int_equal(strlen(strchr(text, '\n') + 1), SETTINGS_LINE_MAX);
    assert_int_equal(parse_good(text).interval_ms, 500);
}

/* A file of that size, made anew. */
static const char *write_file(const char *text, size_t size)
{
    static const char path[] = "test-settings.conf";
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void refuse_file(const char *path, bool required, int error, const char *text)
{
    _cleanup_free_ char *why = NULL;
    Settings settings;

    assert_int_equal(settings_load(path, required, &settings, &why), error);
    assert_string_equal(why, text);
}

static void test_files(void **state)
{
    static const char bad[] = "[daemon]\n[nonsense]";
    _cleanup_free_ char *big = calloc(1, SETTINGS_BYTES_MAX + 1), *why = NULL;
    Settings settings;
    const char *path;

    memset(big, '\n', SETTINGS_BYTES_MAX + 1);
    path = write_file(big, SETTINGS_BYTES_MAX);
    assert_int_equal(settings_load(path, true, &settings, &why), 0);
    assert_int_equal(settings.interval_ms, 1000);
    refuse_file(write_file(big, SETTINGS_BYTES_MAX + 1), false, SETTINGS_E_REFUSED,
                "test-settings.conf: larger than 64 KiB, which no configuration is");
    refuse_file(write_file(bad, strlen(bad)), false, SETTINGS_E_REFUSED,
                "test-settings.conf:2: [nonsense]: no such section: " SECTIONS);
    assert_int_equal(unlink(path), 0);
    refuse_file(path, true, -ENOENT, "test-settings.conf: No such file or directory");
    settings.interval_ms = 1;
    assert_int_equal(settings_load(path, false, &settings, &why), 0);
    assert_int_equal(settings.interval_ms, 1000);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuse_file(path, false, SETTINGS_E_REFUSED, "test-settings.conf: not a regular file");
    assert_int_equal(unlink(path), 0);
    refuse_file("/", false, SETTINGS_E_REFUSED, "/: not a regular file");
}

static void test_changes(void **state)
{
    static const struct {
        const char *text, *changes;
    } cases[] = {
        {"", NULL},
        {"[daemon]\ninterval_ms=1000\n[placement]\nheadroom=0K", NULL},
        {"[placement]\nheadroom=1048576K\n[daemon]\nadopt=yes", "adopt=yes headroom=1G"},
        {"[placement]\nheadroom=4097\npolicy=any\n[limits]\nper_uid=3", "policy=any headroom=4097 per_uid=3"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        Settings settings = parse_good(cases[i].text);
        _cleanup_text_ Text changes = {0};

        settings_add_changes(&settings, &changes);
        if (cases[i].changes)
            assert_string_equal(changes.data, cases[i].changes);
        else
            assert_int_equal(changes.size, 0);
    }
}

static char *read_source(const char *name)
{
    const char *top = getenv("NX_SRCDIR");
    char path[4096], *text = NULL;
    size_t size;

    snprintf(path, sizeof(path), "%s/%s", top ? top : ".", name);
    if (file_read(path, 1 << 20, &text, &size) < 0)
        fail_msg("cannot read %s", path);
    return text;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* What the manual has of the setting, from its line to the next setting's or section's; cut out of `text`. */
static char *manual_entry(char *text, const Setting *setting)
{
    char line[128], *section, *next, *entry, *end;

    snprintf(line, sizeof(line), "\n.SS [%s]\n", setting->section);
    section = strstr(text, line);
    if (!section)
        fail_msg("the manual has no section %s", setting->section);
    snprintf(line, sizeof(line), "\n.TP\n.BR %s \" = \" %s\n", setting->key, setting->standard);
    entry = strstr(section, line);
    next = strstr(section + 1, "\n.S");
    if (!entry || entry > next)
        fail_msg("the manual does not say under [%s]: %s", setting->section, line);
    end = strstr(entry + 1, "\n.TP\n");
    return strndup(entry, (size_t)(end && end < next ? end - entry : next - entry));
}

/* The manual has the keys, sections, defaults and bounds of the code, and no others. */
static void test_manual(void **state)
{
    _cleanup_free_ char *text = read_source("man/numad-xend.conf.5");

    for (size_t i = 0; i < SETTINGS_N; i++) {
        const Setting *setting = &settings_table[i];
        _cleanup_free_ char *entry = manual_entry(text, setting), *bounds = NULL;
        _cleanup_text_ Text allowed = {0};

        settings_add_allowed(setting, &allowed);
        bounds = strndup(allowed.data, strcspn(allowed.data, ","));
        if (setting->kind == SETTING_NUMBER)
            memmove(bounds, bounds + strlen("a whole number "), strlen(bounds + strlen("a whole number ")) + 1);
        if (setting->kind == SETTING_POLICY)
            assert_non_null(strstr(entry, allowed.data));
        if (!strstr(entry, bounds))
            fail_msg("the manual does not say of %s: %s", setting->key, bounds);
    }
    assert_int_equal(count(text, "\n.TP\n.BR "), SETTINGS_N);
}

/* The file that is installed says nothing but the defaults, of every key. */
static void test_installed_file(void **state)
{
    _cleanup_free_ char *text = read_source("systemd/numad-xend.conf");
    _cleanup_text_ Text changes = {0}, all = {0};
    Settings settings = parse_good(text);
    unsigned n = 0;

    settings_add_changes(&settings, &changes);
    assert_int_equal(changes.size, 0);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        bool key = *line == '#' && line[1] >= 'a' && line[1] <= 'z';

        n += key;
        text_printf(&all, "%s\n", key ? line + 1 : line);
    }
    settings = parse_good(all.data);
    settings_add_changes(&settings, &changes);
    assert_int_equal(changes.size, 0);
    assert_int_equal(n, SETTINGS_N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),     cmocka_unit_test(test_every_key),    cmocka_unit_test(test_forms),
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_long_comment), cmocka_unit_test(test_longest_line), cmocka_unit_test(test_files),
        cmocka_unit_test(test_changes),      cmocka_unit_test(test_manual),       cmocka_unit_test(test_installed_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
