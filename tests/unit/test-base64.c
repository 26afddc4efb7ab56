/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/base64.h"
#include "tests/unit/unit.h"

static void test_known(void **state)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff\xbf", "+/+/"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text text = {0};
        uint8_t *bytes = NULL;
        size_t size;

        text_add(&text, "");
        base64_encode(&text, (const uint8_t *)cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(text.data, cases[i].text);
        assert_int_equal(base64_decode(cases[i].text, &bytes, &size), 0);
        assert_int_equal(size, strlen(cases[i].bytes));
        assert_memory_equal(bytes, cases[i].bytes, size);
        free(bytes);
    }
}

static void test_every_byte(void **state)
{
    uint8_t all[256], *bytes = NULL;
    size_t size;

    for (unsigned i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    for (size_t n = 0; n <= sizeof(all); n++) {
        _cleanup_text_ Text text = {0};

        text_add(&text, "");
        base64_encode(&text, all, n);
        assert_int_equal(text.size, (n + 2) / 3 * 4);
        assert_int_equal(base64_decode(text.data, &bytes, &size), 0);
        assert_int_equal(size, n);
        assert_memory_equal(bytes, all, n);
        free(bytes);
    }
}

static void test_refused(void **state)
{
    static const char *const cases[] = {
        "Z",
        "Zg",
        "Zg=",
        "Zg===",
        "====",
        "=",
        "=Zg=",
        "Z===",
        "Zg==Zg==",
        "Zm9v=",
        "Zm9vZg==\n",
        "Zm 9",
        "Zm9v\n",
        "Zm9vYg==Zm9v",
        "Zm8=Zm8=",
        "Z=g=",
        "Zh==" /* bits left over */,
        "Zm9=",
        "Zm9-",
        "Zm9_",
        "Zm9.",
        "Zm9\xc3",
        "Zm9v ===",
        "Zm9!",
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t *bytes = NULL;
        size_t size;

        if (base64_decode(cases[i], &bytes, &size) != BASE64_E_INVALID)
            fail_msg("'%s' was taken", cases[i]);
        assert_null(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
