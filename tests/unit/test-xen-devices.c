/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/fake-xen.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PCI devices, the firmware's tables, and when they are read. */

static void check_text(const char *text, bool good)
{
    char again[PCI_ADDRESS_TEXT] = "";
    PciAddress address;

    assert_int_equal(pci_address_from_text(text, &address), good);
    if (!good)
        return;
    pci_address_to_text(address, again);
    assert_string_equal(again, text);
}

static void test_addresses(void **state)
{
    static const char *const good[] = {"0000:00:00.0", "ffff:ff:1f.7", "0001:3b:0a.3"};
    static const char *const bad[] = {"",
                                      ".",
                                      "..",
                                      "000:00:00.0",
                                      "00000:00:00.0",
                                      "10000:e1:00.0", /* a segment of Linux' own */
                                      "0000:00:20.0",
                                      "0000:00:00.8",
                                      "0000:00:00.",
                                      "0000:00:00.0 ",
                                      "0000:00:00.00",
                                      "0000:00:0.0",
                                      "0000:3B:00.0",
                                      "0000-00:00.0",
                                      "0000:00:00:0",
                                      "+000:00:00.0",
                                      "0x00:00:00.0",
                                      "node0"};

    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        check_text(good[i], true);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        check_text(bad[i], false);
}

/* --- the directory --- */

typedef struct Root {
    char path[64], devices[128];
} Root;

static void make_root(Root *root)
{
    static const char *const folders[] = {"/sys", "/sys/bus", "/sys/bus/pci", "/sys/bus/pci/devices"};

    strcpy(root->path, "/tmp/numad-xen-pci.XXXXXX");
    assert_non_null(mkdtemp(root->path));
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        snprintf(root->devices, sizeof(root->devices), "%s%s", root->path, folders[i]);
        assert_int_equal(mkdir(root->devices, 0700), 0);
    }
}

static void remove_root(Root *root)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", root->path);
    assert_int_equal(system(command), 0);
}

static void put(const Root *root, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", root->devices, name);
    assert_int_equal(symlink("../../../devices/x", path), 0);
}

/* In order, whatever the directory's is; nothing that only looks like an address. */
static void test_directory(void **state)
{
    static const char *const names[] = {"0000:3b:00.0", "0000:00:1f.3",  "0001:00:00.0",
                                        "0000:00:02.0", "10000:e1:00.0", "firmware_node"};
    _cleanup_free_ char *buffer = NULL;
    PciAddress *devices = NULL;
    char text[PCI_ADDRESS_TEXT];
    size_t n = 99;
    Root root;

    make_root(&root);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        put(&root, names[i]);
    assert_int_equal(pci_read_devices(root.path, &devices, &n), 0);
    buffer = (char *)devices;
    remove_root(&root);
    assert_int_equal(n, 4);
    pci_address_to_text(devices[0], text);
    assert_string_equal(text, "0000:00:02.0");
    pci_address_to_text(devices[1], text);
    assert_string_equal(text, "0000:00:1f.3");
    pci_address_to_text(devices[3], text);
    assert_string_equal(text, "0001:00:00.0");
}

static void test_no_directory(void **state)
{
    _cleanup_free_ char *first = NULL;
    PciAddress *devices = NULL;
    size_t n = 99;
    Root root;

    assert_int_equal(pci_read_devices("/nonexistent", &devices, &n), 0); /* a host without PCI */
    first = (char *)devices;
    assert_int_equal(n, 0);
    make_root(&root);
    assert_int_equal(rmdir(root.devices), 0);
    assert_int_equal(symlink("devices", root.devices), 0);
    assert_int_equal(pci_read_devices(root.path, &devices, &n), -ELOOP);
    remove_root(&root);
}

static void test_too_many(void **state)
{
    _cleanup_free_ char *buffer = NULL;
    PciAddress *devices = NULL;
    size_t n = 0;
    Root root;

    make_root(&root);
    for (unsigned i = 0; i <= PCI_DEVICES_MAX; i++) {
        char text[PCI_ADDRESS_TEXT];

        pci_address_to_text((PciAddress){0, (uint8_t)(i >> 8), (uint8_t)i}, text);
        put(&root, text);
    }
    assert_int_equal(pci_read_devices(root.path, &devices, &n), PCI_E_MORE);
    buffer = (char *)devices;
    remove_root(&root);
    assert_int_equal(n, PCI_DEVICES_MAX);
    for (size_t i = 1; i < n; i++)
        assert_true(pci_address_compare(devices[i - 1], devices[i]) < 0);
}

/* --- the source --- */

static FakeXen *new_fake(size_t n_devices)
{
    FakeXen *fake = fake_xen_new();

    fake->n_devices = n_devices;
    for (size_t i = 0; i < n_devices; i++) {
        fake->devices[i] = (PciAddress){(uint16_t)(i / 150), (uint8_t)(0x3b + i % 150), 8};
        fake->device_nodes[i] = i % 2;
    }
    return fake;
}

static uint32_t node_of(const HostRows *rows, const char *pci)
{
    for (size_t i = 0; i < rows->n_devices; i++)
        if (strcmp(rows->devices[i].pci, pci) == 0)
            return rows->devices[i].node;
    fail_msg("%s is not listed", pci);
    return 0;
}

static void test_nodes(void **state)
{
    FakeXen *fake = new_fake(150); /* more than a call takes */
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;

    fake->device_nodes[2] = ROW_INVALID;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->n_devices, 150);
    assert_int_equal(fake->counts[FAKE_PCI_NODES], 3);
    assert_int_equal(node_of(rows, "0000:3b:01.0"), 0);
    assert_int_equal(node_of(rows, "0000:3c:01.0"), 1);
    assert_int_equal(node_of(rows, "0000:3d:01.0"), ROW_INVALID);
    assert_int_equal(node_of(rows, "0000:d0:01.0"), 1);
    assert_int_equal(rows->warnings.n, 0);
}

/* When a collection is full, and once in ten generations; what was read is shown in between. */
static void test_devices_in_turn(void **state)
{
    FakeXen *fake = new_fake(3);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    unsigned changes = 0;

    host_rows_free(fake_xen_collect(source, false));
    assert_int_equal(fake->counts[FAKE_PCI_DEVICES], 1);
    fake->device_nodes[0] = 1;
    for (int i = 2; i <= 11; i++) {
        _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, false);

        assert_int_equal(rows->n_devices, 3);
        changes += node_of(rows, "0000:3b:01.0");
    }
    assert_int_equal(changes, 2); /* read in generation 10 */
    assert_int_equal(fake->counts[FAKE_PCI_DEVICES], 2);
    host_rows_free(fake_xen_collect(source, true));
    assert_int_equal(fake->counts[FAKE_PCI_DEVICES], 3);
    assert_int_equal(fake->counts[FAKE_PCI_NODES], 3);
}

static void test_hotplug(void **state)
{
    FakeXen *fake = new_fake(3);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *before = fake_xen_collect(source, true), *rows = NULL;

    fake->n_devices = 2;
    fake->devices[1] = (PciAddress){2, 0, 7};
    fake->device_nodes[1] = 0;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->n_devices, 2);
    assert_int_equal(node_of(rows, "0002:00:00.7"), 0);
    assert_int_equal(before->n_devices, 3);
}

/* Devices are listed all the same, each with the node it had; it is tried again the next time. */
static void test_nodes_fail(void **state)
{
    FakeXen *fake = new_fake(2);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *first = NULL, *second = NULL, *third = NULL;

    fake->errors[FAKE_PCI_NODES] = -EPERM;
    first = fake_xen_collect(source, true);
    assert_int_equal(node_of(first, "0000:3c:01.0"), ROW_INVALID);
    assert_true(warning_list_has(&first->warnings, WARNING_NOT_PERMITTED));
    assert_int_equal(source->errors[ERROR_XEN], 1);
    fake->errors[FAKE_PCI_NODES] = 0;
    second = fake_xen_collect(source, false);
    assert_int_equal(node_of(second, "0000:3c:01.0"), 1);
    assert_int_equal(second->warnings.n, 0);
    fake->errors[FAKE_PCI_NODES] = -ENOSYS;
    fake->n_devices = 3;
    fake->devices[2] = (PciAddress){9, 9, 9};
    third = fake_xen_collect(source, true);
    assert_int_equal(node_of(third, "0000:3c:01.0"), 1);
    assert_int_equal(node_of(third, "0009:09:01.1"), ROW_INVALID);
    assert_non_null(strstr(third->warnings.items[0].text, "without PCI"));
}

static void test_list_fails(void **state)
{
    FakeXen *fake = new_fake(2);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *before = fake_xen_collect(source, true), *rows = NULL;

    fake->errors[FAKE_PCI_DEVICES] = -EIO;
    rows = fake_xen_collect(source, true);
    assert_int_equal(rows->n_devices, before->n_devices);
    assert_true(warning_list_has(&rows->warnings, WARNING_SOURCE_FAILED));
    host_rows_free(rows);
    fake->errors[FAKE_PCI_DEVICES] = PCI_E_MORE;
    rows = fake_xen_collect(source, false);
    assert_non_null(strstr(rows->warnings.items[0].text, "more than"));
}

/* A collection that is dropped in the midst of the devices owes them. */
static void test_devices_dropped(void **state)
{
    FakeXen *fake = new_fake(FAKE_DEVICES);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    HostRows *rows = NULL;

    host_rows_free(fake_xen_collect(source, false));
    for (int generation = 2; generation < 10; generation++)
        host_rows_free(fake_xen_collect(source, false));
    fake->counts[FAKE_PCI_NODES] = 0;
    assert_int_equal(source->ops->begin(source, false), 0);
    while (fake->counts[FAKE_PCI_NODES] < 1)
        assert_int_equal(source->ops->step(source, &rows), 1);
    assert_true(fake->counts[FAKE_PCI_NODES] < 16);
    fake->device_nodes[0] = 1;
    rows = fake_xen_collect(source, false);
    assert_int_equal(node_of(rows, "0000:3b:01.0"), 1);
    host_rows_free(rows);
}

/* --- firmware --- */

static const uint8_t no_table[4] = "SRAT"; /* broken, but there; it is not this test's business what it says */

static void test_firmware(void **state)
{
    FakeXen *fake = new_fake(0);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *first = NULL, *second = NULL;
    char *error = NULL;

    fake->srat = no_table;
    fake->srat_size = sizeof(no_table);
    first = fake_xen_collect(source, true);
    second = fake_xen_collect(source, true);
    assert_non_null(first->firmware);
    assert_ptr_equal(first->firmware, second->firmware); /* one for all generations */
    assert_int_equal(first->firmware->srat_size, sizeof(no_table));
    assert_null(first->firmware->slit_bytes);
    assert_int_equal(fake->counts[FAKE_FIRMWARE], 1);
    assert_int_equal(first->warnings.n, 0);
    assert_int_equal(source->ops->reload(source, &error), 0);
    host_rows_free(fake_xen_collect(source, false));
    assert_int_equal(fake->counts[FAKE_FIRMWARE], 2);
}

static void test_no_firmware(void **state)
{
    FakeXen *fake = new_fake(0);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, true);

    assert_null(rows->firmware);
    assert_int_equal(rows->warnings.n, 0);
    assert_int_equal(source->errors[ERROR_SRAT], 0);
}

/* Counted once, said as long as it is so. A table that was read before stays. */
static void test_firmware_fails(void **state)
{
    FakeXen *fake = new_fake(0);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    char *error = NULL;

    fake->slit = no_table;
    fake->slit_size = sizeof(no_table);
    fake->firmware_errors[ACPI_SRAT] = -EACCES;
    for (int i = 0; i < 2; i++) {
        _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, false);

        assert_non_null(rows->firmware->slit_bytes);
        assert_int_equal(rows->warnings.n, 1);
        assert_int_equal(rows->warnings.items[0].code, WARNING_NOT_PERMITTED);
        assert_non_null(strstr(rows->warnings.items[0].text, "tables/SRAT: Permission denied"));
        assert_int_equal(source->errors[ERROR_SRAT], 1);
    }
    fake->firmware_errors[ACPI_SRAT] = 0;
    fake->firmware_errors[ACPI_SLIT] = -EIO;
    assert_int_equal(source->ops->reload(source, &error), 0);
    for (int i = 0; i < 2; i++) {
        _cleanup_(host_rows_free_p) HostRows *rows = fake_xen_collect(source, false);

        assert_non_null(rows->firmware->slit_bytes);
        assert_int_equal(rows->warnings.items[0].code, WARNING_SOURCE_FAILED);
        assert_int_equal(source->errors[ERROR_SRAT], 2);
    }
}

/* A reload reads all that is otherwise read in turn. */
static void test_reload(void **state)
{
    FakeXen *fake = new_fake(1);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;
    char *error = NULL;

    fake_xen_add(fake, 9);
    host_rows_free(fake_xen_collect(source, true));
    for (size_t i = 0; i < fake->n_domains; i++) {
        fake->domains[i].name = "renamed";
        fake->domains[i].soft = 0x01;
    }
    fake->device_nodes[0] = 1;
    assert_int_equal(source->ops->reload(source, &error), 0);
    assert_null(error);
    rows = fake_xen_collect(source, false);
    for (size_t i = 0; i < rows->n_domains; i++) {
        assert_string_equal(rows->domains[i].name, "renamed");
        assert_int_equal(bitmap_weight(&rows->domains[i].vcpus->rows[0].soft), 1);
    }
    assert_int_equal(node_of(rows, "0000:3b:01.0"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),      cmocka_unit_test(test_directory),
        cmocka_unit_test(test_no_directory),   cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_nodes),          cmocka_unit_test(test_devices_in_turn),
        cmocka_unit_test(test_hotplug),        cmocka_unit_test(test_nodes_fail),
        cmocka_unit_test(test_list_fails),     cmocka_unit_test(test_devices_dropped),
        cmocka_unit_test(test_firmware),       cmocka_unit_test(test_no_firmware),
        cmocka_unit_test(test_firmware_fails), cmocka_unit_test(test_reload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
