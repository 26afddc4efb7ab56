/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/ledger-store.h"
#include "tests/unit/directory.h"
#include "tests/unit/ledger.h"

#include <string.h>
#include <signal.h>
#include <sys/wait.h>

/* What was logged since the last call; nothing: "". */
static int log_fd = -1;
static const char *logged(void)
{
    static char text[8192];
    ssize_t n = pread(log_fd, text, sizeof(text) - 1, 0);

    assert_true(n >= 0);
    text[n] = '\0';
    assert_int_equal(ftruncate(log_fd, 0), 0);
    return text;
}

#define assert_logged(part)                                  \
    do {                                                     \
        const char *text_ = logged();                        \
        if (!strstr(text_, part))                            \
            fail_msg("'%s' does not say '%s'", text_, part); \
    } while (0)

static int setup(void **state)
{
    char path[] = "/tmp/numad-xen-test-log-XXXXXX";

    if (log_fd < 0) {
        log_fd = mkostemp(path, O_CLOEXEC | O_APPEND);
        unlink(path);
        if (log_fd < 0 || dup2(log_fd, STDERR_FILENO) < 0)
            return -1;
    }
    unsetenv("RUNTIME_DIRECTORY");
    unsetenv("JOURNAL_STREAM");
    (void)ftruncate(log_fd, 0);
    return make_base(state);
}

static Ledger *open_store(const char *host, LedgerStore **ret_store)
{
    Ledger *ledger = NULL;

    assert_int_equal(ledger_store_open(in_base("s"), host, ret_store, &ledger), 0);
    assert_non_null(ledger);
    return ledger;
}

/* Leaves a ledger of "1p 2c3" in the directory. */
static void save_some(const char *host)
{
    const Dom web = {.domid = 3, .uuid = 'a'};
    LedgerStore *store = NULL;
    Ledger *ledger = open_store(host, &store);

    add(&ledger, 1, 'b', "web", EMPTY_HOST);
    add(&ledger, 2, 'a', NULL, EMPTY_HOST);
    assert_int_equal(commit(&ledger, 2, 3, HOST(web)), 0);
    assert_int_equal(ledger_store_save(store, ledger), 0);
    ledger_unref(ledger);
    ledger_store_free(store);
    (void)logged();
}

/* What the next start finds. */
static const char *found(const char *host)
{
    LedgerStore *store = NULL;
    Ledger *ledger = open_store(host, &store);
    const char *text = ledger_text(ledger);

    ledger_unref(ledger);
    ledger_store_free(store);
    return text;
}

/* --- the good way --- */

static void test_keeps(void **state)
{
    assert_string_equal(found("xen"), "");
    assert_string_equal(logged(), ""); /* that there is nothing is no news */
    save_some("xen");
    assert_string_equal(found("xen"), "1p 2c3");
    assert_logged("ledger.json: 2 reservations\n");
    assert_string_equal(found("xen"), "1p 2c3");
    assert_null(ledger_store_free(NULL));
}

static void test_save_again(void **state)
{
    LedgerStore *store = NULL;
    Ledger *ledger;

    save_some("xen");
    ledger = open_store("xen", &store);
    assert_int_equal(release(&ledger, 1), 0);
    assert_int_equal(ledger_store_save(store, ledger), 0);
    ledger_unref(ledger);
    ledger_store_free(store);
    assert_string_equal(found("xen"), "2c3");
}

static void test_directories(void **state)
{
    static const struct {
        const char *variable, *wanted;
    } cases[] = {{"%s/one", "one/lock"}, {"%s/two:%s/three", "two/lock"}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        LedgerStore *store = NULL;
        Ledger *ledger = NULL;
        char value[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(value, sizeof(value), cases[i].variable, base, base);
#pragma GCC diagnostic pop
        assert_int_equal(setenv("RUNTIME_DIRECTORY", value, 1), 0);
        assert_int_equal(ledger_store_open(NULL, "xen", &store, &ledger), 0);
        assert_true(is_there(cases[i].wanted));
        ledger_unref(ledger);
        ledger_store_free(store);
        /* what is asked for counts more */
        assert_string_equal(found("xen"), "");
        assert_true(is_there("s/lock"));
    }
    assert_false(is_there("three"));
}

static void test_bad_directory(void **state)
{
    LedgerStore *store = NULL;
    Ledger *ledger = NULL;

    assert_int_equal(ledger_store_open(in_base("no/s"), "xen", &store, &ledger), -ENOENT);
    assert_null(store);
    assert_null(ledger);
    assert_logged("the state directory /tmp/");
}

static void test_second(void **state)
{
    LedgerStore *store = NULL, *second = NULL;
    Ledger *ledger = open_store("xen", &store), *none = NULL;

    assert_int_equal(ledger_store_open(in_base("s"), "xen", &second, &none), -EBUSY);
    assert_logged("another numad-xend has it");
    ledger_unref(ledger);
    ledger_store_free(store);
}

/* A daemon that was killed holds no lock. */
static void test_second_after_kill(void **state)
{
    int ready[2], status;
    char byte;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        LedgerStore *store = NULL;
        Ledger *ledger = NULL;

        close(ready[0]);
        if (ledger_store_open(in_base("s"), "xen", &store, &ledger) == 0)
            (void)!write(ready[1], "", 1);
        pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_string_equal(found("xen"), "");
}

/* --- another's --- */

static void test_other_host(void **state)
{
    save_some("xen");
    put("host.json", "{}");
    assert_string_equal(found(in_base("host.json")), "");
    assert_logged("ledger.json: is of another host, xen: 2 reservations dropped; starting without reservations");
    assert_false(is_there("s/ledger.json.bad"));
    save_some(in_base("host.json"));
    assert_string_equal(found("xen"), "");
    assert_logged("ledger.json: is of another host, /tmp/");
}

/* The same file by another path is the same host. */
static void test_same_host(void **state)
{
    put("host.json", "{}");
    assert_int_equal(symlink("host.json", in_base("link.json")), 0);
    save_some(in_base("host.json"));
    assert_string_equal(found(in_base("link.json")), "1p 2c3");
}

static void test_other_boot(void **state)
{
    _cleanup_free_ char *text = NULL;
    char *boot;
    size_t size = 0;

    save_some("xen");
    assert_int_equal(file_read(in_base("s/ledger.json"), 1 << 20, &text, &size), 0);
    boot = strstr(text, "\"boot_id\":\"") + strlen("\"boot_id\":\"");
    *boot = *boot == '0' ? '1' : '0';
    put("s/ledger.json", text);
    assert_string_equal(found("xen"), "");
    assert_logged("ledger.json: is of another boot, ");
    assert_false(is_there("s/ledger.json.bad"));
}

/* --- damage --- */

static void make_link(void)
{
    put("elsewhere", "{}");
    assert_int_equal(symlink("../elsewhere", in_base("s/ledger.json")), 0);
}

static void make_fifo(void)
{
    assert_int_equal(mkfifo(in_base("s/ledger.json"), 0600), 0);
}

static void make_directory(void)
{
    assert_int_equal(mkdir(in_base("s/ledger.json"), 0700), 0);
    put("s/ledger.json/full", "");
}

static void make_huge(void)
{
    put_sparse("s/ledger.json", (off_t)LEDGER_FILE_MAX + 1);
}

static void make_empty(void)
{
    put("s/ledger.json", "");
}

static void make_others(void)
{
    put("s/ledger.json", "{}");
    assert_int_equal(chmod(in_base("s/ledger.json"), 0666), 0);
}

static void make_text(void)
{
    put("s/ledger.json", "{\"format\":\"numad-xen-ledger/1\"\n\x1b[31m}");
}

static void test_set_aside(void **state)
{
    static const struct {
        void (*make)(void);
        const char *said;
    } cases[] = {
        {make_link, "is a link, no file, another user's, or one that others can write; it is ledger.json.bad now"},
        {make_fifo, "ledger.json: is a link, no file"},
        {make_directory, "ledger.json: is a link, no file"},
        {make_huge, "ledger.json: is larger than a ledger can be; it is ledger.json.bad now"},
        {make_empty, "ledger.json: not JSON: line 1, column 1: the text ends too early; it is ledger.json.bad now"},
        {make_others, "ledger.json: is a link, no file, another user's, or one that others can write"},
        {make_text, "ledger.json: not JSON: line 2, column 1: a comma or } is missing"},
    };

    save_some("xen");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        remove_all(in_base("s/ledger.json.bad")); /* what is not empty cannot be replaced */
        (void)unlink(in_base("s/ledger.json"));
        cases[i].make();
        assert_string_equal(found("xen"), "");
        assert_logged(cases[i].said);
        assert_false(is_there("s/ledger.json"));
        assert_true(is_there("s/ledger.json.bad"));
        save_some("xen");
        assert_string_equal(found("xen"), "1p 2c3");
    }
}

/* What the store tells of it, until it is opened again. */
static void test_lost(void **state)
{
    LedgerStore *store = NULL;

    save_some("xen");
    put("s/ledger.json", "damaged");
    ledger_unref(open_store("xen", &store));
    assert_non_null(ledger_store_lost(store));
    assert_non_null(strstr(ledger_store_lost(store), "s/ledger.json: not JSON: "));
    assert_non_null(strstr(ledger_store_lost(store), "is not known"));
    assert_non_null(strstr(ledger_store_lost(store), "ledger.json.bad"));
    ledger_store_free(store);
    for (int i = 0; i < 2; i++) { /* none, and another host's */
        ledger_unref(open_store("xen", &store));
        assert_null(ledger_store_lost(store));
        ledger_store_free(store);
        if (i == 0) {
            put("host.json", "{}");
            save_some(in_base("host.json"));
        }
    }
}

/* That it cannot even be set aside is no reason not to start. */
static void test_not_set_aside(void **state)
{
    save_some("xen");
    put("s/ledger.json", "damaged");
    assert_int_equal(mkdir(in_base("s/ledger.json.bad"), 0700), 0);
    put("s/ledger.json.bad/full", "");
    assert_string_equal(found("xen"), "");
    assert_logged("it cannot be set aside");
    save_some("xen");
    assert_string_equal(found("xen"), "1p 2c3");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, remove_base)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_keeps),      TEST(test_save_again),        TEST(test_directories), TEST(test_bad_directory),
        TEST(test_second),     TEST(test_second_after_kill), TEST(test_other_host),  TEST(test_same_host),
        TEST(test_other_boot), TEST(test_set_aside),         TEST(test_lost),        TEST(test_not_set_aside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
