/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/jsonwriter.h"
#include "lib/core/stats.h"
#include "lib/core/utf8.h"
#include "lib/core/warning.h"
#include "tests/unit/unit.h"

#include <math.h>

static void test_utf8(void **state)
{
#define BAD "\xef\xbf\xbd"
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7"},
        {"\xff", BAD},
        {"a\xc3", "a" BAD}, /* cut in the middle */
        {"\xe2\x82x", BAD BAD "x"},
        {"\xc0\x80", BAD BAD},                 /* overlong */
        {"\xe0\x80\x80", BAD BAD BAD},         /* overlong */
        {"\xed\xa0\x80", BAD BAD BAD},         /* surrogate */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* past U+10FFFF */
        {"\xf0\x80\x80\x80", BAD BAD BAD BAD},
        {"\xef\xbf\xbf", BAD},                                                            /* noncharacters: U+FFFF */
        {"\xef\xb7\x90", BAD},                                                            /* U+FDD0 */
        {"\xf4\x8f\xbf\xbe", BAD},                                                        /* U+10FFFE */
        {"\xf0\x9f\xbf\xbf", BAD},                                                        /* U+1FFFF */
        {"\xef\xbf\xbd\xef\xb7\xb0\xef\xbb\xbf", "\xef\xbf\xbd\xef\xb7\xb0\xef\xbb\xbf"}, /* beside them */
        {"\xf0\x9e\xbf\xbf\xf4\x8f\xbf\xbd", "\xf0\x9e\xbf\xbf\xf4\x8f\xbf\xbd"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ char *out = utf8_sanitize(cases[i].in);

        assert_string_equal(out, cases[i].out);
    }
}

static void test_json_values(void **state)
{
    _cleanup_bitmap_ Bitmap set = {0};
    _cleanup_free_ char *text = NULL;
    JsonWriter w = {0};

    assert_int_equal(bitmap_set_range(&set, 2, 4), 0);
    jsonw_begin(&w, NULL, '{');
    jsonw_string(&w, "s", "a\"b\\c\n\x01");
    jsonw_string(&w, "none", NULL);
    jsonw_begin(&w, "list", '[');
    jsonw_ratio(&w, NULL, 1);
    jsonw_ratio(&w, NULL, 0.25);
    jsonw_ratio(&w, NULL, 1.0 / 3);
    jsonw_ratio(&w, NULL, NAN);
    jsonw_end(&w, ']');
    jsonw_known(&w, "k", VALUE_UNKNOWN);
    jsonw_u64(&w, "max", UINT64_MAX);
    jsonw_id(&w, "id", CPU_NONE);
    jsonw_id(&w, "zero", 0);
    jsonw_set(&w, "set", &set);
    jsonw_begin(&w, "empty", '{');
    jsonw_end(&w, '}');
    jsonw_bool(&w, "yes", true);
    jsonw_end(&w, '}');
    assert_int_equal(text_take(&w.text, &text, NULL), 0);
    assert_string_equal(
        text, "{\"s\":\"a\\\"b\\\\c\\u000a\\u0001\",\"none\":null,\"list\":[1.0,0.25,0.333333,null],\"k\":null,"
              "\"max\":18446744073709551615,\"id\":null,\"zero\":0,\"set\":\"2-4\",\"empty\":{},\"yes\":true}");
}

static void test_warnings_once(void **state)
{
    WarningList list = {0};

    assert_int_equal(warning_list_add(&list, WARNING_SLIT_FLAT, "node %u", 1), 0);
    assert_int_equal(warning_list_add(&list, WARNING_SLIT_FLAT, "node %u", 1), 0);
    assert_int_equal(warning_list_add(&list, WARNING_SLIT_FLAT, "node %u", 2), 0);
    assert_int_equal(list.n, 2);
    assert_true(warning_list_has(&list, WARNING_SLIT_FLAT));
    assert_false(warning_list_has(&list, WARNING_PATCH_MISSING));
    for (WarningCode code = 0; code < _WARNING_MAX; code++)
        assert_non_null(warning_code_to_text(code));
    warning_list_done(&list);
}

static void test_histogram(void **state)
{
    Histogram h = {0};

    histogram_add(&h, 50);      /* on the first bound */
    histogram_add(&h, 51);      /* in the second */
    histogram_add(&h, 2000000); /* above them all */
    assert_int_equal(h.count, 3);
    assert_int_equal(h.sum_us, 2000101);
    assert_int_equal(h.buckets[0], 1);
    assert_int_equal(h.buckets[1], 2);
    assert_int_equal(h.buckets[HISTOGRAM_BOUNDS - 1], 2);
    assert_int_equal(h.buckets[HISTOGRAM_BOUNDS], 3);
    assert_int_equal(histogram_bound_us(0), 50);
    assert_int_equal(histogram_bound_us(HISTOGRAM_BOUNDS - 1), 1000000);
}

static void test_text_grows(void **state)
{
    _cleanup_free_ char *out = NULL;
    Text text = {0};
    size_t size = 0;

    for (unsigned i = 0; i < 10000; i++)
        text_add_u64(&text, i % 10);
    text_printf(&text, "%s", "end");
    assert_int_equal(text_take(&text, &out, &size), 0);
    assert_int_equal(size, 10003);
    assert_int_equal(strlen(out), 10003);
    free(out);
    assert_int_equal(text_take(&text, &out, &size), 0); /* an empty text is "" */
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8),      cmocka_unit_test(test_json_values), cmocka_unit_test(test_warnings_once),
        cmocka_unit_test(test_histogram), cmocka_unit_test(test_text_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
