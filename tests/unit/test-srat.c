/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/srat.h"
#include "tests/unit/tables.h"

#define GIB (UINT64_C(1) << 30)

static Srat parse(const Text *table, size_t size)
{
    uint8_t *bytes = table_copy(table, size);
    Srat srat;

    assert_int_equal(srat_parse(bytes, size, &srat), 0);
    free(bytes);
    return srat;
}

static void assert_cpu(const Srat *srat, size_t i, SratCpuKind kind, uint32_t pxm, uint32_t id)
{
    assert_true(i < srat->n_cpus);
    assert_int_equal(srat->cpus[i].kind, kind);
    assert_int_equal(srat->cpus[i].pxm, pxm);
    assert_int_equal(srat->cpus[i].id, id);
}

static void assert_range(const Srat *srat, size_t i, SratRange range)
{
    assert_true(i < srat->n_ranges);
    assert_int_equal(srat->ranges[i].pxm, range.pxm);
    assert_int_equal(srat->ranges[i].base, range.base);
    assert_int_equal(srat->ranges[i].length, range.length);
    assert_int_equal(srat->ranges[i].hotplug, range.hotplug);
    assert_int_equal(srat->ranges[i].nonvolatile, range.nonvolatile);
}

/* Every type, used or skipped, enabled or not. */
static void test_types(void **state)
{
    _cleanup_text_ Text table = {0};
    Srat srat;

    srat_begin(&table, 3);
    put_apic(&table, 0x01020304, 0xfe, ON);
    put_apic(&table, 9, 1, 0);
    put_memory(&table, 0x11223344, 0x100000, GIB, ON);
    put_memory(&table, 5, GIB, GIB, ON | HOTPLUG);
    put_memory(&table, 5, 2 * GIB, GIB, HOTPLUG);
    put_memory(&table, 5, 4 * GIB, GIB, ON | NONVOLATILE);
    put_memory(&table, 6, 8 * GIB, 0, ON);
    put_entry(&table, 4, 12, 0xff);
    put_x2apic(&table, 7, 0xffffffff, ON);
    put_x2apic(&table, 7, 1, 0);
    put_gicc(&table, 8, 0x10001, ON);
    put_gicc(&table, 8, 0x10002, 0);
    put_initiator(&table, 10, HANDLE_ACPI, ON);
    put_initiator(&table, 11, HANDLE_PCI, ON);
    put_initiator(&table, 12, HANDLE_PCI, 0);
    put_entry(&table, 6, 32, 0xff);
    put_entry(&table, 7, 20, 0xff);
    put_entry(&table, 200, 2, 0);
    put_entry(&table, 255, 255, 0xff);
    put_apic(&table, 1, 2, ON);
    table_end(&table);
    srat = parse(&table, table.size);
    assert_null(srat.fault);
    assert_int_equal(srat.revision, 3);
    assert_int_equal(srat.n_cpus, 4);
    assert_cpu(&srat, 0, SRAT_CPU_APIC, 0x01020304, 0xfe);
    assert_cpu(&srat, 1, SRAT_CPU_X2APIC, 7, 0xffffffff);
    assert_cpu(&srat, 2, SRAT_CPU_GICC, 8, 0x10001);
    assert_cpu(&srat, 3, SRAT_CPU_APIC, 1, 2);
    assert_int_equal(srat.n_ranges, 4);
    assert_range(&srat, 0, (SratRange){.pxm = 0x11223344, .base = 0x100000, .length = GIB});
    assert_range(&srat, 1, (SratRange){.pxm = 5, .base = GIB, .length = GIB, .hotplug = true});
    assert_range(&srat, 2, (SratRange){.pxm = 5, .base = 4 * GIB, .length = GIB, .nonvolatile = true});
    assert_range(&srat, 3, (SratRange){.pxm = 6, .base = 8 * GIB});
    assert_int_equal(srat.n_initiators, 2);
    assert_int_equal(srat.initiators[0], 10);
    assert_int_equal(srat.initiators[1], 11);
    srat_done(&srat);
}

/* In revision 1 the upper 24 bits of a PXM are reserved, and in any revision most flag bits are. */
static void test_revisions(void **state)
{
    static const struct {
        unsigned revision;
        uint32_t pxm, expected;
    } cases[] = {
        {1, 0xffffff02, 2}, {0, 0xabcdef02, 2},  {2, 0x00000102, 0x102},        {3, 0xffffff02, 0xffffff02},
        {4, 0x102, 0x102},  {7, 0x1000, 0x1000}, {255, 0x80000001, 0x80000001},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text table = {0};
        Srat srat;

        srat_begin(&table, cases[i].revision);
        put_apic(&table, cases[i].pxm, 0, 0xffffffff);
        put_apic(&table, cases[i].pxm, 1, 0xfffffffe);
        put_memory(&table, cases[i].pxm, 0, GIB, 0xfffffff9);
        put_memory(&table, cases[i].pxm, GIB, GIB, 0xfffffffe);
        put_x2apic(&table, 0x12345678, 2, 0xffffffff); /* has 32 bits in every revision */
        table_end(&table);
        srat = parse(&table, table.size);
        assert_null(srat.fault);
        assert_int_equal(srat.n_cpus, 2);
        assert_cpu(&srat, 0, SRAT_CPU_APIC, cases[i].expected, 0);
        assert_cpu(&srat, 1, SRAT_CPU_X2APIC, 0x12345678, 2);
        assert_int_equal(srat.n_ranges, 1);
        assert_range(&srat, 0, (SratRange){.pxm = cases[i].expected, .length = GIB});
        srat_done(&srat);
    }
}

/* One good CPU, then an entry that cannot be, then another CPU: the first is kept, and nothing is read twice. */
static void test_bad_entries(void **state)
{
    static const struct {
        unsigned type, length, bytes; /* as many are there as `bytes` says */
        const char *fault;
    } cases[] = {
        {0, 0, 16, "entry 1 of type 0 is 0 bytes long, which is too short"},
        {0, 1, 16, "entry 1 of type 0 is 1 byte long, which is too short"},
        {0, 15, 16, "entry 1 of type 0 is 15 bytes long, which is too short"},
        {1, 39, 40, "entry 1 of type 1 is 39 bytes long, which is too short"},
        {2, 16, 24, "entry 1 of type 2 is 16 bytes long, which is too short"},
        {3, 17, 18, "entry 1 of type 3 is 17 bytes long, which is too short"},
        {5, 31, 32, "entry 1 of type 5 is 31 bytes long, which is too short"},
        {4, 1, 16, "entry 1 of type 4 is 1 byte long, which is too short"},
        {99, 0, 16, "entry 1 of type 99 is 0 bytes long, which is too short"},
        {99, 33, 16, "entry 1 goes beyond the table's end"}, /* 16 and 16 more are left */
        {1, 255, 40, "entry 1 goes beyond the table's end"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text table = {0};
        Srat srat;

        srat_begin(&table, 3);
        put_apic(&table, 3, 7, ON);
        put_entry(&table, cases[i].type, cases[i].bytes, ON);
        table.data[48 + 16 + 1] = (char)cases[i].length;
        put_apic(&table, 4, 8, ON);
        table_end(&table);
        srat = parse(&table, table.size);
        assert_string_equal(srat.fault, cases[i].fault);
        assert_true(srat.cut);
        assert_int_equal(srat.n_cpus, 1);
        assert_cpu(&srat, 0, SRAT_CPU_APIC, 3, 7);
        assert_int_equal(srat.n_ranges, 0);
        srat_done(&srat);
    }
}

/* Cut at any byte, the table is a fault unless the cut is between two entries and the header knows of it. */
static void test_cut(void **state)
{
    _cleanup_text_ Text table = {0};

    srat_begin(&table, 3);
    put_apic(&table, 0, 0, ON);
    put_memory(&table, 0, 0, GIB, ON);
    put_x2apic(&table, 1, 1, ON);
    table_end(&table);
    for (size_t size = 0; size < table.size; size++) {
        Srat srat = parse(&table, size);

        assert_non_null(srat.fault);
        assert_true(srat.cut);
        assert_int_equal(srat.n_cpus, size >= 64);
        assert_int_equal(srat.n_ranges, size >= 104);
        srat_done(&srat);
    }
}

/* One byte that is left over cannot be an entry. */
static void test_leftover(void **state)
{
    _cleanup_text_ Text table = {0};
    Srat srat;

    srat_begin(&table, 3);
    put_apic(&table, 1, 1, ON);
    put(&table, 0, 1);
    table_end(&table);
    srat = parse(&table, table.size);
    assert_string_equal(srat.fault, "entry 1 goes beyond the table's end");
    assert_true(srat.cut);
    assert_int_equal(srat.n_cpus, 1);
    srat_done(&srat);
}

static void test_ranges(void **state)
{
    static const struct {
        uint64_t base, length;
        const char *fault;
    } cases[] = {
        {UINT64_MAX, 1, "memory of PXM 2 at 0xffffffffffffffff is 0x1 byte long, beyond any address"},
        {1, UINT64_MAX, "memory of PXM 2 at 0x1 is 0xffffffffffffffff bytes long, beyond any address"},
        {GIB, UINT64_MAX - GIB, NULL},
        {0, UINT64_MAX, NULL},
        {UINT64_MAX, 0, NULL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text table = {0};
        Srat srat;

        srat_begin(&table, 3);
        put_memory(&table, 1, 0, GIB, ON);
        put_memory(&table, 2, cases[i].base, cases[i].length, ON);
        put_memory(&table, 3, 4 * GIB, GIB, ON);
        table_end(&table);
        srat = parse(&table, table.size);
        if (cases[i].fault)
            assert_string_equal(srat.fault, cases[i].fault);
        else
            assert_null(srat.fault);
        assert_int_equal(srat.n_ranges, cases[i].fault ? 1 : 3);
        assert_range(&srat, 0, (SratRange){.pxm = 1, .length = GIB});
        srat_done(&srat);
    }
}

static void test_header(void **state)
{
    static const struct {
        size_t at;
        int value;
        size_t n_cpus;
        bool cut;
        const char *fault;
    } cases[] = {
        {9, 0x77, 1, false, "its checksum is wrong"},
        {0, 'T', 0, true, "it does not begin with SRAT"},
        {4, 1, 0, true, "it has 1 byte, which is too few"},
        {4, 35, 0, true, "it has 35 bytes, which is too few"},
        {4, 47, 0, true, "it has 47 bytes, which is too few"},
        {4, 65, 1, true, "it says that it is 65 bytes long, and has 64"},
        {4, 48, 0, false, "its checksum is wrong"},
        {4, 50, 0, true, "its checksum is wrong; entry 0 goes beyond the table's end"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text table = {0};
        Srat srat;

        srat_begin(&table, 1);
        put_apic(&table, 1, 1, ON);
        table_end(&table);
        table.data[cases[i].at] = (char)cases[i].value;
        srat = parse(&table, table.size);
        assert_string_equal(srat.fault, cases[i].fault);
        assert_int_equal(srat.n_cpus, cases[i].n_cpus);
        assert_int_equal(srat.cut, cases[i].cut);
        srat_done(&srat);
    }
}

static void test_empty(void **state)
{
    _cleanup_text_ Text table = {0};
    Srat srat;

    srat_begin(&table, 3);
    table_end(&table);
    srat = parse(&table, table.size);
    assert_null(srat.fault);
    assert_false(srat.cut);
    assert_int_equal(srat.n_cpus + srat.n_ranges + srat.n_initiators, 0);
    srat_done(&srat);
}

static void test_large(void **state)
{
    _cleanup_text_ Text table = {0};
    Srat srat;

    srat_begin(&table, 3);
    for (uint32_t i = 0; i < 8192; i++)
        put_x2apic(&table, i / 8, i, ON);
    for (uint32_t i = 0; i < 1024; i++)
        put_memory(&table, i, i * 64 * GIB, 64 * GIB, ON);
    table_end(&table);
    srat = parse(&table, table.size);
    assert_null(srat.fault);
    assert_int_equal(srat.n_cpus, 8192);
    assert_cpu(&srat, 8191, SRAT_CPU_X2APIC, 1023, 8191);
    assert_int_equal(srat.n_ranges, 1024);
    assert_range(&srat, 1023, (SratRange){.pxm = 1023, .base = 1023 * 64 * GIB, .length = 64 * GIB});
    srat_done(&srat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),  cmocka_unit_test(test_revisions), cmocka_unit_test(test_bad_entries),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_leftover),  cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_header), cmocka_unit_test(test_empty),     cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
