/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/slit.h"
#include "tests/unit/tables.h"

static Slit parse(const Text *table, size_t size)
{
    uint8_t *bytes = table_copy(table, size);
    Slit slit;

    assert_int_equal(slit_parse(bytes, size, &slit), 0);
    free(bytes);
    return slit;
}

static void test_matrix(void **state)
{
    static const uint8_t distances[] = {10, 16, 255, 17, 10, 9, 254, 12, 10};
    _cleanup_text_ Text table = {0};
    Slit slit;

    slit_begin(&table, 3);
    text_add_bytes(&table, (const char *)distances, sizeof(distances));
    table_end(&table);
    slit = parse(&table, table.size);
    assert_null(slit.fault);
    assert_int_equal(slit.n, 3);
    assert_memory_equal(slit.distances, distances, sizeof(distances));
    assert_int_equal(slit_distance(&slit, 0, 1), 16);
    assert_int_equal(slit_distance(&slit, 1, 0), 17);
    assert_int_equal(slit_distance(&slit, 2, 0), 254);
    assert_int_equal(slit_distance(&slit, 0, 2), DISTANCE_NONE); /* 255 */
    assert_int_equal(slit_distance(&slit, 1, 2), DISTANCE_NONE); /* 9 */
    assert_int_equal(slit_distance(&slit, 0, 3), DISTANCE_NONE);
    assert_int_equal(slit_distance(&slit, UINT32_MAX, 0), DISTANCE_NONE);
    slit_done(&slit);
}

/* What makes a table unreadable, and what a person is told. */
static void test_broken(void **state)
{
    static const struct {
        uint64_t localities;
        size_t body; /* distances that are there */
        const char *fault;
    } cases[] = {
        {0, 0, "it has 0 localities, and 1024 can be"},
        {1, 0, "1 locality needs 1 distance, and it has room for 0"},
        {2, 3, "2 localities need 4 distances, and it has room for 3"},
        {4, 15, "4 localities need 16 distances, and it has room for 15"},
        {1024, 1023, "1024 localities need 1048576 distances, and it has room for 1023"},
        {1025, 4, "it has 1025 localities, and 1024 can be"},
        {65536, 4, "it has 65536 localities, and 1024 can be"},
        {UINT64_C(1) << 32, 4, "it has 4294967296 localities, and 1024 can be"}, /* n * n wraps to 0 */
        {UINT64_MAX, 1, "it has 18446744073709551615 localities, and 1024 can be"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text table = {0};
        Slit slit;

        slit_begin(&table, cases[i].localities);
        for (size_t k = 0; k < cases[i].body; k++)
            put(&table, 10, 1);
        table_end(&table);
        slit = parse(&table, table.size);
        assert_string_equal(slit.fault, cases[i].fault);
        assert_int_equal(slit.n, 0);
        assert_null(slit.distances);
        slit_done(&slit);
    }
}

static void test_header(void **state)
{
    static const struct {
        size_t at;
        int value;
        size_t size; /* of what is handed over; 0: all */
        unsigned n;
        const char *fault;
    } cases[] = {
        {9, 0x55, 0, 2, "its checksum is wrong"},
        {0, 'X', 0, 0, "it does not begin with SLIT"},
        {3, 0, 0, 0, "it does not begin with SLIT"},
        {4, 43, 0, 0, "it has 43 bytes, which is too few"},
        {4, 49, 0, 2, "it says that it is 49 bytes long, and has 48"},
        {7, 0xff, 0, 2, "it says that it is 4278190128 bytes long, and has 48"},
        {4, 48, 47, 0,
         "it says that it is 48 bytes long, and has 47; 2 localities need 4 distances, and it has room "
         "for 3"},
        {4, 48, 40, 0, "it has 40 bytes, which is too few"},
        {4, 48, 35, 0, "it has 35 bytes, which is too few"},
        {4, 48, 1, 0, "it has 1 byte, which is too few"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text table = {0};
        Slit slit;

        slit_begin(&table, 2);
        put(&table, 0x0a14140a, 4);
        table_end(&table);
        table.data[cases[i].at] = (char)cases[i].value;
        slit = parse(&table, cases[i].size ? cases[i].size : table.size);
        assert_string_equal(slit.fault, cases[i].fault);
        assert_int_equal(slit.n, cases[i].n);
        slit_done(&slit);
    }
}

/* A file may be longer than the table; nothing at all is no table. */
static void test_sizes(void **state)
{
    _cleanup_text_ Text table = {0};
    Slit slit;

    slit_begin(&table, 2);
    put(&table, 0x0a14140a, 4);
    table_end(&table);
    put(&table, UINT64_MAX, 8);
    slit = parse(&table, table.size);
    assert_null(slit.fault);
    assert_int_equal(slit.n, 2);
    slit_done(&slit);
    slit = parse(&table, 0);
    assert_string_equal(slit.fault, "it has 0 bytes, which is too few");
    slit_done(&slit);
}

static void test_largest(void **state)
{
    _cleanup_text_ Text table = {0};
    Slit slit;

    slit_begin(&table, 1024);
    for (size_t i = 0; i < 1024 * 1024; i++)
        put(&table, i / 1024 == i % 1024 ? 10 : 20 + i % 7, 1);
    table_end(&table);
    slit = parse(&table, table.size);
    assert_null(slit.fault);
    assert_int_equal(slit.n, 1024);
    assert_int_equal(slit_distance(&slit, 1023, 1022), 20 + (1023 * 1024 + 1022) % 7);
    slit_done(&slit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix), cmocka_unit_test(test_broken),  cmocka_unit_test(test_header),
        cmocka_unit_test(test_sizes),  cmocka_unit_test(test_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
