/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/acpi.h"
#include "tests/unit/tables.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The firmware's tables read below a root that is a temporary folder. */

typedef struct Root {
    char path[64];
} Root;

static const char *in(const Root *root, const char *below)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s%s", root->path, below);
    return path;
}

static const char *const folders[] = {"/sys", "/sys/firmware", "/sys/firmware/acpi", "/sys/firmware/acpi/tables"};

static Root make_root(void)
{
    Root root = {"/tmp/numad-xen-acpi-XXXXXX"};

    assert_non_null(mkdtemp(root.path));
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
        assert_int_equal(mkdir(in(&root, folders[i]), 0755), 0);
    return root;
}

static void remove_root(const Root *root)
{
    for (size_t i = 0; i < _ACPI_TABLE_MAX; i++)
        if (unlink(in(root, acpi_table_paths[i])) < 0)
            rmdir(in(root, acpi_table_paths[i]));
    for (size_t i = ARRAY_SIZE(folders); i-- > 0;)
        assert_int_equal(rmdir(in(root, folders[i])), 0);
    assert_int_equal(rmdir(root->path), 0);
}

static void write_table(const Root *root, AcpiTable table, const Text *text)
{
    int fd = open(in(root, acpi_table_paths[table]), O_WRONLY | O_CREAT | O_CLOEXEC, 0400);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text->data, text->size), text->size);
    close(fd);
}

static void test_both(void **state)
{
    _cleanup_text_ Text srat = {0}, slit = {0};
    Firmware *firmware = NULL;
    Root root = make_root();
    int errors[_ACPI_TABLE_MAX];

    srat_begin(&srat, 3);
    put_x2apic(&srat, 3, 1, ON);
    table_end(&srat);
    slit_begin(&slit, 1);
    put(&slit, 10, 1);
    table_end(&slit);
    write_table(&root, ACPI_SRAT, &srat);
    write_table(&root, ACPI_SLIT, &slit);
    assert_int_equal(acpi_read_firmware(root.path, &firmware, errors), 0);
    assert_int_equal(errors[ACPI_SRAT], 0);
    assert_int_equal(errors[ACPI_SLIT], 0);
    assert_int_equal(firmware->srat_size, srat.size);
    assert_memory_equal(firmware->srat_bytes, srat.data, srat.size);
    assert_int_equal(firmware->slit_size, slit.size);
    assert_memory_equal(firmware->slit_bytes, slit.data, slit.size);
    assert_int_equal(firmware->srat.n_cpus, 1);
    assert_int_equal(firmware->srat.cpus[0].pxm, 3);
    assert_int_equal(firmware->slit.n, 1);
    firmware_unref(firmware);
    remove_root(&root);
}

/* A host may have one of the tables, or none, or no ACPI at all. That is no error. */
static void test_absent(void **state)
{
    _cleanup_text_ Text slit = {0}, empty = {0};
    Firmware *firmware = NULL;
    Root root = make_root(), nowhere = {"/nonexistent"};
    int errors[_ACPI_TABLE_MAX] = {-1, -1};

    assert_int_equal(acpi_read_firmware(nowhere.path, &firmware, errors), 0);
    assert_null(firmware);
    assert_int_equal(errors[ACPI_SRAT] | errors[ACPI_SLIT], 0);
    slit_begin(&slit, 1);
    put(&slit, 10, 1);
    table_end(&slit);
    write_table(&root, ACPI_SLIT, &slit);
    assert_int_equal(acpi_read_firmware(root.path, &firmware, errors), 0);
    assert_int_equal(errors[ACPI_SRAT] | errors[ACPI_SLIT], 0);
    assert_null(firmware->srat_bytes);
    assert_null(firmware->srat.fault);
    assert_int_equal(firmware->slit.n, 1);
    firmware_unref(firmware);
    write_table(&root, ACPI_SRAT, &empty); /* a file without a byte is a broken table, not an absent one */
    assert_int_equal(acpi_read_firmware(root.path, &firmware, errors), 0);
    assert_int_equal(errors[ACPI_SRAT], 0);
    assert_non_null(firmware->srat.fault);
    firmware_unref(firmware);
    remove_root(&root);
}

static int make_pipe(const char *path)
{
    return mkfifo(path, 0600);
}

static int make_loop(const char *path)
{
    return symlink("SRAT", path);
}

static int make_folder(const char *path)
{
    return mkdir(path, 0700);
}

static int make_locked(const char *path)
{
    return close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0));
}

static int make_huge(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), r = ftruncate(fd, (4 << 20) + 1);

    close(fd);
    return r;
}

/* An SRAT that cannot be read is reported, and does not keep the SLIT from being read. */
static void test_unreadable(void **state)
{
    static const struct {
        int (*make)(const char *path);
        int error;
    } cases[] = {
        {make_pipe, -EINVAL}, {make_loop, -ELOOP}, {make_folder, -EINVAL}, {make_locked, -EACCES}, {make_huge, -EFBIG},
    };
    const uid_t me = geteuid();

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_text_ Text slit = {0};
        Firmware *firmware = NULL;
        Root root = make_root();
        int errors[_ACPI_TABLE_MAX], r;

        assert_int_equal(cases[i].make(in(&root, acpi_table_paths[ACPI_SRAT])), 0);
        slit_begin(&slit, 1);
        put(&slit, 10, 1);
        table_end(&slit);
        write_table(&root, ACPI_SLIT, &slit);
        if (me == 0) { /* root may read everything; nobody may read this */
            assert_int_equal(chmod(root.path, 0755), 0);
            assert_int_equal(chmod(in(&root, acpi_table_paths[ACPI_SLIT]), 0444), 0);
            assert_int_equal(cases[i].error == -EACCES ? seteuid(65534) : 0, 0);
        }
        r = acpi_read_firmware(root.path, &firmware, errors);
        assert_int_equal(seteuid(me), 0);
        assert_int_equal(r, 0);
        assert_int_equal(errors[ACPI_SRAT], cases[i].error);
        assert_int_equal(errors[ACPI_SLIT], 0);
        assert_null(firmware->srat_bytes);
        assert_int_equal(firmware->slit.n, 1);
        firmware_unref(firmware);
        remove_root(&root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_unreadable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
