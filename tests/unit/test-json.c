/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/jsonreader.h"
#include "lib/core/jsonscan.h"
#include "tests/unit/unit.h"

#include <stdio.h>

#define DEPTH 4
#define TEXT(literal) literal, sizeof(literal) - 1

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        const char *error;
    } cases[] = {
        {TEXT(""), "not JSON: line 1, column 1: the text ends too early"},
        {TEXT(" \n\t\r"), "not JSON: line 2, column 3: the text ends too early"},
        {TEXT("{"), "not JSON: line 1, column 2: the text ends too early"},
        {TEXT("[1"), "not JSON: line 1, column 3: the text ends too early"},
        {TEXT("\"a"), "not JSON: line 1, column 3: the text ends too early"},
        {TEXT("\"a\\"), "not JSON: line 1, column 4: the text ends too early"},
        {TEXT("\"\\u12"), "not JSON: line 1, column 6: the text ends too early"},
        {TEXT("-"), "not JSON: line 1, column 2: the text ends too early"},
        {TEXT("nul"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT("[\n 1\n 2]"), "not JSON: line 3, column 2: a comma or ] is missing"},
        {TEXT("[1,]"), "not JSON: line 1, column 4: no value begins like this"},
        {TEXT("[,1]"), "not JSON: line 1, column 2: no value begins like this"},
        {TEXT("[1}"), "not JSON: line 1, column 3: a comma or ] is missing"},
        {TEXT("{\"a\":1]"), "not JSON: line 1, column 7: a comma or } is missing"},
        {TEXT("{\"a\":1,}"), "not JSON: line 1, column 8: a key in double quotes is missing"},
        {TEXT("{a:1}"), "not JSON: line 1, column 2: a key in double quotes is missing"},
        {TEXT("{\"a\"}"), "not JSON: line 1, column 5: a colon is missing"},
        {TEXT("{1:1}"), "not JSON: line 1, column 2: a key in double quotes is missing"},
        {TEXT("['a']"), "not JSON: line 1, column 2: no value begins like this"},
        {TEXT("\"a\nb\""), "not JSON: line 1, column 3: a control character in a text: write it as \\u00.."},
        {TEXT("\"a\0b\""), "not JSON: line 1, column 3: a control character in a text: write it as \\u00.."},
        {TEXT("\"\\x\""), "not JSON: line 1, column 3: no such escape"},
        {TEXT("\"\\\0\""), "not JSON: line 1, column 3: no such escape"},
        {TEXT("\"\\u12g4\""), "not JSON: line 1, column 6: \\u needs four hexadecimal digits"},
        {TEXT("True"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT("NaN"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT("-Infinity"), "not JSON: line 1, column 2: a digit is missing"},
        {TEXT("+1"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT(".5"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT("1."), "not JSON: line 1, column 3: the text ends too early"},
        {TEXT("[1.e1]"), "not JSON: line 1, column 4: a digit is missing"},
        {TEXT("[1e]"), "not JSON: line 1, column 4: a digit is missing"},
        {TEXT("01"), "not JSON: line 1, column 1: a number begins with 0"},
        {TEXT("-01.5"), "not JSON: line 1, column 2: a number begins with 0"},
        {TEXT("0x10"), "not JSON: line 1, column 2: something follows the document"},
        {TEXT("/* */ 1"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT("\xef\xbb\xbf{}"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT("{} x"), "not JSON: line 1, column 4: something follows the document"},
        {TEXT("{}{}"), "not JSON: line 1, column 3: something follows the document"},
        {TEXT("{}\0"), "not JSON: line 1, column 3: something follows the document"},
        {TEXT("\0{}"), "not JSON: line 1, column 1: no value begins like this"},
        {TEXT("[[[[[]]]]]"), "not JSON: line 1, column 5: nested too deep"},
        {TEXT("{\"a\":[{\"b\":[{}]}]}"), "not JSON: line 1, column 13: nested too deep"},
        {TEXT("{\"a\":1,\"b\":2,\"a\":3}"), "a: is there twice"},
        {TEXT("[{\"a\":{\"b\":1,\"\\u0062\":2}}]"), "[0].a.b: is there twice"},
        {TEXT("{\"\":1,\"\":2}"), "is there twice"},
        {TEXT("{\"a\\u0000\":1}"), "not JSON: line 1, column 10: a zero byte in a key"},
        {TEXT("[-0]"), "[0]: -0 is no whole number"},
        {TEXT("{\"a\":[1,18446744073709551616]}"),
         "a[1]: must be a whole number that 64 bits hold, not 18446744073709551616"},
        {TEXT("[-9223372036854775809]"), "[0]: must be a whole number that 64 bits hold, not -9223372036854775809"},
        {TEXT("[1111111111222222222233333333334444444444555]"),
         "[0]: must be a whole number that 64 bits hold, not 1111111111222222222233333333334444444444..."},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        JsonReader reader = {0};
        json_object *tree = NULL;

        if (json_parse(&reader, cases[i].text, cases[i].size, DEPTH, &tree) != JSON_E_REFUSED)
            fail_msg("%s was taken", cases[i].text);
        assert_null(tree);
        assert_string_equal(reader.error, cases[i].error);
        free(reader.error);
    }
}

static void test_taken(void **state)
{
    static const char *const cases[] = {
        "null",
        " [ ] ",
        "{ }\n",
        "7",
        "0",
        "-1",
        "\"\"",
        "[true,false,null]",
        "[[[[]]]]",
        "{\"a\":{\"a\":{\"a\":1}}}",
        "[{\"a\":1},{\"a\":1}]",
        "{\"a\":1,\"A\":1,\"ab\":1,\"\":1}",
        "{\"\\\\u0061\":1,\"a\":1}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"",
        "\"\xff\xfe\"", /* bytes of a name */
        "[18446744073709551615,-9223372036854775808]",
        "[0.5,-0.0,1e5,1E-5,-0e+1,123456789012345678901234567890.5]",
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        JsonReader reader = {0};
        json_object *tree = NULL;

        if (json_parse(&reader, cases[i], strlen(cases[i]), DEPTH, &tree) != 0)
            fail_msg("%s was refused: %s", cases[i], reader.error);
        json_object_put(tree);
    }
}

static void test_many_keys(void **state)
{
    for (unsigned n = 256; n <= 257; n++) {
        _cleanup_text_ Text text = {0};
        JsonReader reader = {0};
        json_object *tree = NULL;

        text_add(&text, "[{");
        for (unsigned i = 0; i < n; i++)
            text_printf(&text, "%s\"k%u\":0", i ? "," : "", i);
        text_add(&text, "}]");
        assert_int_equal(json_parse(&reader, text.data, text.size, DEPTH, &tree), n == 257);
        if (n == 257)
            assert_string_equal(reader.error, "[0]: has more than 256 keys");
        free(reader.error);
        json_object_put(tree);
    }
}

static void test_many_objects(void **state)
{
    for (unsigned n = JSON_SCAN_OBJECTS_MAX; n <= JSON_SCAN_OBJECTS_MAX + 1; n++) {
        _cleanup_text_ Text text = {0};
        JsonReader reader = {0};

        text_add(&text, "[{}");
        for (unsigned i = 1; i < n; i++)
            text_add(&text, ",{}");
        text_add(&text, "]");
        assert_int_equal(json_scan(&reader, text.data, text.size, DEPTH), n > JSON_SCAN_OBJECTS_MAX);
        if (n > JSON_SCAN_OBJECTS_MAX)
            assert_string_equal(reader.error, "[1048576]: there are more than 1048576 objects in all");
        free(reader.error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_many_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
