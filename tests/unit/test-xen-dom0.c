/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/xen.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is said where there is no Xen to ask, in a root of our own. */

typedef struct Root {
    char path[64];
} Root;

static void in_root(const Root *root, const char *path, char text[256])
{
    snprintf(text, 256, "%s%s", root->path, path);
}

static void make(const Root *root, const char *path, const char *content)
{
    char name[256];
    FILE *file;

    in_root(root, path, name);
    file = fopen(name, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int setup(void **state)
{
    static Root root;
    static const char *const directories[] = {"/proc", "/proc/xen", "/dev", "/dev/xen"};
    char name[256];

    strcpy(root.path, "/tmp/test-xen-dom0-XXXXXX");
    if (!mkdtemp(root.path))
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        in_root(&root, directories[i], name);
        if (mkdir(name, 0755) < 0)
            return -1;
    }
    *state = &root;
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {
        "/proc/xen/capabilities", "/dev/xen/privcmd", "/proc/xen", "/proc", "/dev/xen", "/dev", ""};
    char name[256];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        in_root(*state, names[i], name);
        (void)remove(name);
    }
    return 0;
}

static void check(const Root *root, int error, const char *what)
{
    _cleanup_free_ char *text = NULL;

    assert_int_equal(xen_dom0_check(root->path, &text), error);
    if (!what) {
        assert_null(text);
        return;
    }
    assert_non_null(strstr(text, what));
    assert_non_null(strstr(text, "--host FILE")); /* what to do */
    assert_null(strchr(text, '\n'));
}

static void test_no_xen(void **state)
{
    check(*state, -ENODEV, "/proc/xen/capabilities: not there");
}

static void test_guest(void **state)
{
    make(*state, "/proc/xen/capabilities", "\n");
    check(*state, -ENODEV, "does not control the host");
}

static void test_no_driver(void **state)
{
    make(*state, "/proc/xen/capabilities", "control_d\n");
    check(*state, -ENODEV, "/dev/xen/privcmd: not there");
}

static void test_not_root(void **state)
{
    char name[256];

    if (geteuid() == 0) {
        /* Root may read and write everything, so look as somebody else; a child could not report back to cmocka. */
        assert_int_equal(chmod(((Root *)*state)->path, 0755), 0);
        make(*state, "/proc/xen/capabilities", "control_d\n");
        make(*state, "/dev/xen/privcmd", "");
        in_root(*state, "/dev/xen/privcmd", name);
        assert_int_equal(chmod(name, 0600), 0);
        assert_int_equal(setresuid(65534, 65534, 0), 0);
        check(*state, -EACCES, "/dev/xen/privcmd: not permitted");
        assert_int_equal(setresuid(0, 0, 0), 0);
    } else {
        make(*state, "/proc/xen/capabilities", "control_d\n");
        make(*state, "/dev/xen/privcmd", "");
        in_root(*state, "/dev/xen/privcmd", name);
        assert_int_equal(chmod(name, 0400), 0);
        check(*state, -EACCES, "/dev/xen/privcmd: not permitted");
    }
}

static void test_dom0(void **state)
{
    make(*state, "/proc/xen/capabilities", "control_d\n");
    make(*state, "/dev/xen/privcmd", "");
    check(*state, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_xen, setup, teardown),
        cmocka_unit_test_setup_teardown(test_guest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_driver, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_root, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dom0, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
