/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/hostdesc-tables.h"
#include "lib/core/slit.h"
#include "lib/core/srat.h"
#include "tests/unit/tables.h"

#include <string.h>

/* What an anonymous table means is what the table meant, and what nobody reads is gone, wherever it hid. */

#define SECRET "SECRET"

/* Writes the secret over all of the table from `at` on, n bytes. */
static void hide(Text *table, size_t at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table->data[at + i] = SECRET[i % 6];
}

static void hide_more(Text *table, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(table, 0, 1);
    hide(table, table->size - n, n);
}

/* The last entry, `used` bytes of it in use, grows to `length` bytes that hold the secret. */
static void extend(Text *table, size_t used, size_t length)
{
    table->data[table->size - used + 1] = (char)length;
    hide_more(table, length - used);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_srat(const Srat *a, const Srat *b)
{
    bool same = a->revision == b->revision && a->n_cpus == b->n_cpus && a->n_ranges == b->n_ranges &&
                a->n_initiators == b->n_initiators && same_text(a->fault, b->fault);

    for (size_t i = 0; same && i < a->n_cpus; i++)
        same = a->cpus[i].kind == b->cpus[i].kind && a->cpus[i].pxm == b->cpus[i].pxm && a->cpus[i].id == b->cpus[i].id;
    for (size_t i = 0; same && i < a->n_ranges; i++)
        same = a->ranges[i].pxm == b->ranges[i].pxm && a->ranges[i].base == b->ranges[i].base &&
               a->ranges[i].length == b->ranges[i].length && a->ranges[i].hotplug == b->ranges[i].hotplug &&
               a->ranges[i].nonvolatile == b->ranges[i].nonvolatile;
    for (size_t i = 0; same && i < a->n_initiators; i++)
        same = a->initiators[i] == b->initiators[i];
    return same;
}

/* An exact copy, so that reading beyond `size` is seen; *ret_copy is owned. */
static size_t copy_srat(const uint8_t *bytes, size_t size, uint8_t **ret_copy)
{
    uint8_t *again;
    size_t copied, again_size;
    Srat before, after;

    assert_int_equal(hostdesc_copy_srat(bytes, size, ret_copy, &copied), 0);
    assert_true(copied <= size);
    assert_int_equal(srat_parse(bytes, size, &before), 0);
    assert_int_equal(srat_parse(*ret_copy, copied, &after), 0);
    assert_true(same_srat(&before, &after));
    srat_done(&before);
    srat_done(&after);
    assert_int_equal(hostdesc_copy_srat(*ret_copy, copied, &again, &again_size), 0);
    assert_int_equal(again_size, copied);
    assert_memory_equal(again, *ret_copy, copied); /* nothing is left to take out */
    free(again);
    return copied;
}

static size_t copy_slit(const uint8_t *bytes, size_t size, uint8_t **ret_copy)
{
    size_t copied;
    Slit before, after;

    assert_int_equal(hostdesc_copy_slit(bytes, size, ret_copy, &copied), 0);
    assert_true(copied <= size);
    assert_int_equal(slit_parse(bytes, size, &before), 0);
    assert_int_equal(slit_parse(*ret_copy, copied, &after), 0);
    assert_int_equal(after.n, before.n);
    assert_true(same_text(before.fault, after.fault));
    if (before.n)
        assert_memory_equal(after.distances, before.distances, (size_t)before.n * before.n);
    slit_done(&before);
    slit_done(&after);
    return copied;
}

/* Three bytes in a row of the secret, from any place in it, are too many. */
static void assert_clean(const uint8_t *bytes, size_t size)
{
    static const char secret[] = SECRET SECRET;

    for (size_t i = 0; i + 3 <= size; i++)
        for (size_t at = 0; at < 6; at++)
            if (memcmp(bytes + i, secret + at, 3) == 0)
                fail_msg("%.3s is at byte %zu of %zu", secret + at, i, size);
}

static void assert_srat_clean(const Text *table, size_t wanted_size)
{
    _cleanup_free_ char *bytes = (char *)table_copy(table, table->size);
    uint8_t *copy;
    size_t size = copy_srat((uint8_t *)bytes, table->size, &copy);

    assert_clean(copy, size);
    assert_int_equal(size, wanted_size);
    free(copy);
}

/* A table with the secret in every place that is not read. */
static void put_secrets(Text *table, unsigned revision)
{
    srat_begin(table, revision);
    hide(table, 10, 38); /* the makers' names, and what is reserved */
    put_apic(table, 1, 2, ON);
    hide(table, table->size - 8, 1);
    hide(table, table->size - 4, 4); /* clock domain */
    if (revision < 2)
        hide(table, table->size - 7, 3); /* no part of the PXM yet */
    extend(table, 16, 40);
    put_apic(table, 1, 2, 0); /* not enabled */
    hide(table, table->size - 14, 2);
    hide(table, table->size - 8, 8);
    put_memory(table, 1, 4096, 4096, ON | HOTPLUG | NONVOLATILE);
    hide(table, table->size - 34, 2);
    hide(table, table->size - 16, 4);
    hide(table, table->size - 8, 8);
    if (revision < 2)
        hide(table, table->size - 37, 3);
    extend(table, 40, 60);
    put_memory(table, 0, 0, 0, 0);
    hide(table, table->size - 38, 26);
    hide(table, table->size - 8, 8);
    put_x2apic(table, 1, 2, ON);
    hide(table, table->size - 8, 8);
    put_gicc(table, 1, 2, ON);
    hide(table, table->size - 4, 4);
    put_initiator(table, 1, HANDLE_PCI, ON);
    hide(table, table->size - 24, 16);
    hide(table, table->size - 4, 4);
    for (unsigned type = 4; type < 256; type += type == 4 ? 2 : 50) { /* ITS, generic port, to come, vendors' */
        put_entry(table, type, 40, 0);
        hide(table, table->size - 38, 38);
    }
}

static void test_every_place(void **state)
{
    for (unsigned revision = 1; revision <= 3; revision++)
        for (unsigned wrong = 0; wrong < 2; wrong++) {
            _cleanup_text_ Text table = {0};
            uint8_t *copy;
            size_t size;
            Srat srat;

            put_secrets(&table, revision);
            table_end(&table);
            table.data[9] = (char)(table.data[9] + (char)wrong); /* the checksum */
            size = table.size;
            hide_more(&table, 100); /* behind the end */
            assert_srat_clean(&table, size);
            copy_srat((uint8_t *)table.data, table.size, &copy);
            srat_parse(copy, size, &srat);
            assert_int_equal(srat.n_cpus, 3);
            assert_int_equal(srat.n_ranges, 1);
            assert_true(srat.ranges[0].hotplug && srat.ranges[0].nonvolatile);
            assert_int_equal(srat.n_initiators, 1);
            assert_int_equal(srat.fault != NULL, wrong);
            srat_done(&srat);
            free(copy);
        }
}

/* Behind the first fault nothing is read. */
static void test_behind_a_fault(void **state)
{
    for (unsigned fault = 0; fault < 5; fault++) {
        _cleanup_text_ Text table = {0};

        srat_begin(&table, 3);
        put_apic(&table, 1, 2, ON);
        if (fault == 0)
            put_entry(&table, 1, 39, 0); /* too short */
        else if (fault == 1)
            put_entry(&table, 2, 2, 0);
        else if (fault == 2)
            put(&table, 0x80, 2); /* of no length */
        else if (fault == 3)
            put_memory(&table, 1, UINT64_MAX, 2, ON);
        else
            put(&table, 0xff02, 2);                     /* beyond the end */
        put_x2apic(&table, 0x52434553, 0x45535445, ON); /* of a PXM and an id that are the secret */
        if (fault == 4)
            hide(&table, table.size - 24, 24);
        hide_more(&table, 200);
        table_end(&table);
        assert_srat_clean(&table, table.size);
    }
}

/* What is no table becomes zeros: of these, too, how many there are is kept. */
static void test_no_table(void **state)
{
    for (size_t size = 0; size < 80; size++) {
        _cleanup_text_ Text table = {0};
        uint8_t *copy;

        hide_more(&table, 80);
        for (unsigned slit = 0; slit < 2; slit++) {
            assert_int_equal((slit ? copy_slit : copy_srat)((uint8_t *)table.data, size, &copy), size);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(copy[i], 0);
            free(copy);
        }
    }
}

/* A table that ends early, or that says it does. */
static void test_short_tables(void **state)
{
    _cleanup_text_ Text table = {0};
    uint8_t *copy;

    put_secrets(&table, 3);
    table_end(&table);
    for (size_t size = 0; size <= table.size; size++) {
        size_t copied = copy_srat((uint8_t *)table.data, size, &copy);

        assert_clean(copy, copied);
        free(copy);
    }
    for (unsigned length = 0; length <= table.size; length++) {
        size_t copied;

        for (size_t i = 0; i < 4; i++)
            table.data[4 + i] = (char)(length >> 8 * i);
        copied = copy_srat((uint8_t *)table.data, table.size, &copy);
        assert_clean(copy, copied);
        free(copy);
    }
}

static void test_slit(void **state)
{
    static const uint64_t localities[] = {2, 3, 0, 1024, 1025, UINT64_MAX};

    for (size_t i = 0; i < ARRAY_SIZE(localities); i++) {
        _cleanup_text_ Text table = {0};
        uint8_t *copy;
        size_t size, copied;

        slit_begin(&table, localities[i]);
        hide(&table, 10, 26);
        put(&table, 0x0a14140a, 4);
        hide_more(&table, i == 1 ? 0 : 50);
        table_end(&table);
        size = table.size;
        hide_more(&table, 50);
        copied = copy_slit((uint8_t *)table.data, table.size, &copy);
        assert_int_equal(copied, size);
        assert_clean(copy, copied);
        free(copy);
    }
}

/* Any bytes: mostly those of a table, some of them changed. */
static void test_any_bytes(void **state)
{
    _cleanup_text_ Text table = {0};
    uint32_t random = 1;

    for (unsigned i = 0; i < 20000; i++) {
        uint8_t *copy, *bytes;

        if (i % 16 == 0) {
            table.size = 0;
            put_secrets(&table, i / 16 % 4);
            table_end(&table);
        }
        for (unsigned changes = 0; changes < 3; changes++) {
            random = random * 1664525 + 1013904223;
            table.data[(random >> 8) % table.size] = (char)(random >> 24);
        }
        bytes = table_copy(&table, table.size);
        copy_srat(bytes, table.size, &copy);
        free(copy);
        copy_slit(bytes, table.size, &copy);
        free(copy);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_place),  cmocka_unit_test(test_behind_a_fault), cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_short_tables), cmocka_unit_test(test_slit),           cmocka_unit_test(test_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
