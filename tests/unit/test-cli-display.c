/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"

#include "clients/numad-xen/display.h"

#include <math.h>

typedef struct EscapeCase {
    const char *bytes;
    size_t size;
    unsigned flags;
    const char *wanted;
    unsigned width;
} EscapeCase;

#define BYTES(s) (s), sizeof(s) - 1

static void test_escape(void **state)
{
    static const EscapeCase cases[] = {
        {BYTES(""), 0, "", 0},
        {BYTES("plain text"), DISPLAY_QUOTES, "plain text", 10},
        {BYTES("a\nb\tc\rd"), 0, "a\\nb\\tc\\rd", 10},
        {BYTES("a\0b"), 0, "a\\x00b", 6},
        {BYTES("\033[31m\177"), 0, "\\x1b[31m\\x7f", 12},
        {BYTES("say \"hi\" \\o/"), 0, "say \"hi\" \\o/", 12},
        {BYTES("say \"hi\" \\o/"), DISPLAY_QUOTES, "say \\\"hi\\\" \\\\o/", 15},
        {BYTES("caf\xc3\xa9"), 0, "caf\xc3\xa9", 4},
        {BYTES("caf\xc3\xa9"), DISPLAY_ASCII, "caf\\u00e9", 9},
        {BYTES("\xe6\x97\xa5\xe6\x9c\xac"), 0, "\xe6\x97\xa5\xe6\x9c\xac", 4},
        {BYTES("e\xcc\x81"), 0, "e\xcc\x81", 1},
        {BYTES("\xcc\x81"), 0, "\\u0301", 6},
        {BYTES("\xc2\x9b"), 0, "\\u009b", 6},     /* a control character that terminals obey */
        {BYTES("\xe2\x80\xae"), 0, "\\u202e", 6}, /* would turn the line round */
        {BYTES("\xf0\x9f\x98\x80"), DISPLAY_ASCII, "\\U0001f600", 10},
        {BYTES("a\xff\x62"), 0, "a\xef\xbf\xbd\x62", 3},                       /* no UTF-8 at all */
        {BYTES("a\xc3"), 0, "a\xef\xbf\xbd", 2},                               /* cut */
        {BYTES("\xc0\xaf"), 0, "\xef\xbf\xbd\xef\xbf\xbd", 2},                 /* overlong */
        {BYTES("\xed\xa0\x80"), 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3}, /* surrogate */
        {BYTES("\xf4\x90\x80\x80"), 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 4},
        {BYTES("\xff"), DISPLAY_ASCII, "\\ufffd", 6},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ char *got = display_escape(cases[i].bytes, cases[i].size, cases[i].flags);

        assert_string_equal(got, cases[i].wanted);
        assert_int_equal(display_width(got), cases[i].width);
    }
}

/* Whatever the bytes, what comes out is not obeyed by a terminal and does not change when it is escaped again. */
static void test_escape_random(void **state)
{
    uint64_t seed = 42;
    char bytes[24];

    for (unsigned round = 0; round < 20000; round++) {
        _cleanup_free_ char *once = NULL, *again = NULL;

        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (char)(seed >> 33);
        }
        once = display_escape(bytes, sizeof(bytes), 0);
        for (const char *p = once; *p; p++)
            assert_false((unsigned char)*p < 0x20 || *p == 0x7f);
        again = display_escape(once, strlen(once), 0);
        assert_string_equal(once, again);
    }
}

static void test_cut(void **state)
{
    static const struct {
        const char *text;
        unsigned width;
        const char *wanted;
    } cases[] = {
        {"short", 5, "short"},
        {"longer", 5, "lon.."},
        {"longer", 2, ".."},
        {"longer", 1, ""},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, "\xe6\x97\xa5.."}, /* no half of a wide character */
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 6, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
        {"e\xcc\x81"
         "e\xcc\x81"
         "e\xcc\x81",
         3,
         "e\xcc\x81"
         "e\xcc\x81"
         "e\xcc\x81"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text text = {0};
        unsigned columns;

        text_add(&text, "");
        columns = display_add_cut(&text, cases[i].text, cases[i].width, "..");
        assert_string_equal(text.data, cases[i].wanted);
        assert_int_equal(columns, display_width(cases[i].wanted));
    }
}

/* Styles take no columns, and what ends them is kept. */
static void test_line(void **state)
{
    static const struct {
        const char *line;
        unsigned width;
        const char *wanted;
    } cases[] = {
        {"", 5, ""},
        {"plain", 5, "plain"},
        {"plain", 3, "pla"},
        {"\033[1mab\033[0mcd", 4, "\033[1mab\033[0mcd"},
        {"\033[1mab\033[0mcd", 3, "\033[1mab\033[0mc"},
        {"\033[1mab\033[0mcd", 1, "\033[1ma\033[0m"},
        {"\033[1mab\033[0mcd", 0, "\033[1m\033[0m"},
        {"\346\227\245\346\234\254x", 3, "\346\227\245"}, /* wide: what comes later does not move up */
        {"ab\033[1", 9, "ab\033[1"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text text = {0};

        text_add(&text, "");
        display_add_line(&text, cases[i].line, cases[i].width);
        assert_string_equal(text.data, cases[i].wanted);
    }
}

static void test_list(void **state)
{
    static const struct {
        const char *list;
        char separator;
        unsigned width;
        const char *wanted;
    } cases[] = {
        {"0-3,8", ',', 5, "0-3,8"},          {"0,2,4,6,8,10", ',', 9, "0,2,4..+3"},
        {"0,2,4,6,8,10", ',', 8, "0,2..+4"}, {"1:4G 2:5G 13:1M", ' ', 12, "1:4G..+2"},
        {"100000,200000", ',', 5, "..+2"}, /* not even one element */
        {"0:16.0E", ' ', 5, "..+1"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text text = {0};
        unsigned columns = display_add_list(&text, cases[i].list, cases[i].separator, cases[i].width);

        assert_string_equal(text.data, cases[i].wanted);
        assert_int_equal(columns, strlen(cases[i].wanted));
        assert_true(columns <= cases[i].width);
    }
}

static void test_wrap(void **state)
{
    _cleanup_text_ Text text = {0};

    display_add_wrapped(&text, "one two  three 1,2,3,4,5,6,7,8,9,10,11,12 end", 4, 2, 14);
    assert_string_equal(text.data, "one two\n  three\n  1,2,3,4,5,6,\n  7,8,9,10,11,\n  12 end");
}

static void test_numbers(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *wanted;
    } sizes[] = {
        {0, "0"},
        {1, "<1K"},
        {4096, "4K"},
        {1536, "1.5K"},
        {512 << 20, "512M"},
        {1023ull << 20, "1.0G"},
        {1ull << 30, "1.0G"},
        {(1ull << 30) + (1 << 29), "1.5G"},
        {100ull << 30, "100G"},
        {1ull << 40, "1.0T"},
        {1ull << 60, "1.0E"},
        {UINT64_MAX - 1, "16.0E"},
        {VALUE_UNKNOWN, "-"},
    };
    static const struct {
        double share;
        const char *wanted;
    } percents[] = {
        {0, "0%"}, {1, "100%"}, {0.25, "25%"}, {0.001, "<1%"}, {0.9999, "99%"}, {NAN, "-"}, {-1, "-"}, {INFINITY, "-"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        assert_string_equal(display_size(sizes[i].bytes).text, sizes[i].wanted);
    for (uint64_t bytes = 1; bytes < UINT64_MAX / 3; bytes *= 3)
        assert_true(strlen(display_size(bytes).text) <= 5);
    for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
        assert_string_equal(display_percent(percents[i].share).text, percents[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),  cmocka_unit_test(test_escape_random), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_list),    cmocka_unit_test(test_line),          cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_numbers),
    };

    display_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
