/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/bitmap.h"
#include "tests/unit/unit.h"

static void test_text_round_trip(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", ""},           {"0", "0"},           {"0-3,8", "0-3,8"},     {"8,0-3", "0-3,8"},         {"1,0", "0-1"},
        {"63,64", "63-64"}, {"0-63", "0-63"},     {"64", "64"},           {"0-127,129", "0-127,129"}, {"5-5", "5"},
        {"8191", "8191"},   {"0-8191", "0-8191"}, {"0,2,4,6", "0,2,4,6"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_bitmap_ Bitmap b = {0};
        _cleanup_free_ char *text = NULL;

        assert_int_equal(bitmap_parse(&b, cases[i].in, 8191), 0);
        text = bitmap_to_text(&b);
        assert_string_equal(text, cases[i].out);
    }
}

static void test_bad_text(void **state)
{
    static const struct {
        const char *in;
        int error;
    } cases[] = {
        {"a", BITMAP_E_SYNTAX},
        {"1,", BITMAP_E_SYNTAX},
        {",1", BITMAP_E_SYNTAX},
        {"1-", BITMAP_E_SYNTAX},
        {"-1", BITMAP_E_SYNTAX},
        {"1 2", BITMAP_E_SYNTAX},
        {"1--2", BITMAP_E_SYNTAX},
        {"3-1", BITMAP_E_BACKWARD},
        {"8192", BITMAP_E_RANGE},
        {"0-8192", BITMAP_E_RANGE},
        {"18446744073709551616", BITMAP_E_RANGE},
        {" 1", BITMAP_E_SYNTAX},
        {"1,,2", BITMAP_E_SYNTAX},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_bitmap_ Bitmap b = {0};

        assert_int_equal(bitmap_set(&b, 7), 0);
        assert_int_equal(bitmap_parse(&b, cases[i].in, 8191), cases[i].error);
        assert_true(bitmap_isset(&b, 7)); /* a refusal changes nothing */
        assert_int_equal(bitmap_weight(&b), 1);
    }
}

static void test_algebra(void **state)
{
    _cleanup_bitmap_ Bitmap a = {0}, b = {0}, c = {0};

    assert_int_equal(bitmap_parse(&a, "0-70,200", 8191), 0);
    assert_int_equal(bitmap_parse(&b, "64-65", 8191), 0);
    assert_int_equal(bitmap_weight(&a), 72);
    assert_int_equal(bitmap_weight_and(&a, &b), 2);
    assert_int_equal(bitmap_and(&c, &a, &b), 0);
    assert_true(bitmap_equal(&c, &b));
    assert_int_equal(bitmap_and(&a, &a, &b), 0); /* in place, and the word of 200 goes */
    assert_true(bitmap_equal(&a, &b));
    assert_int_equal(bitmap_set(&c, 8000), 0);
    assert_int_equal(bitmap_or(&a, &c), 0);
    assert_true(bitmap_isset(&a, 8000));
    bitmap_cut(&a, 65);
    assert_int_equal(bitmap_weight(&a), 1);
    bitmap_clear(&a, 64);
    assert_true(bitmap_isempty(&a));
    assert_true(bitmap_equal(&a, &(Bitmap){0}));
    assert_int_equal(bitmap_copy(&b, &(Bitmap){0}), 0);
    assert_true(bitmap_isempty(&b));
    bitmap_cut(&b, 0);
}

static void test_bytes_and_next(void **state)
{
    static const uint8_t bytes[] = {0x81, 0, 0, 0, 0, 0, 0, 0, 0x02};
    _cleanup_bitmap_ Bitmap b = {0};
    unsigned seen = 0;

    assert_int_equal(bitmap_set(&b, 300), 0); /* is replaced */
    assert_int_equal(bitmap_from_bytes(&b, bytes, sizeof(bytes)), 0);
    BITMAP_FOREACH (i, &b) {
        static const unsigned members[] = {0, 7, 65};

        assert_int_equal(i, members[seen++]);
    }
    assert_int_equal(seen, 3);
    assert_int_equal(bitmap_next(&b, 66), UINT32_MAX);
    assert_int_equal(bitmap_next(&(Bitmap){0}, 0), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_round_trip),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_bytes_and_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
