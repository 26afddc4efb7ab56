/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/state.h"
#include "tests/unit/directory.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#define NOBODY 65534

#define skip_because(why)                      \
    do {                                       \
        print_message("# skipped: %s\n", why); \
        skip();                                \
    } while (0)

/* The directory "s" in the test's own. */
static State *open_state(void)
{
    State *s = NULL;
    char *why = NULL;
    int r = state_open(in_base("s"), &s, &why);

    if (r != 0)
        fail_msg("%d: %s", r, why ? why : "");
    return s;
}

#define assert_mode(name, wanted)                        \
    do {                                                 \
        struct stat st_;                                 \
        assert_int_equal(lstat(in_base(name), &st_), 0); \
        assert_int_equal(st_.st_mode & 07777, wanted);   \
        assert_int_equal(st_.st_uid, geteuid());         \
    } while (0)

#define assert_not_opened(path, error, part)                      \
    do {                                                          \
        State *none_ = NULL;                                      \
        _cleanup_free_ char *why_ = NULL;                         \
        assert_int_equal(state_open(path, &none_, &why_), error); \
        assert_null(none_);                                       \
        assert_non_null(why_);                                    \
        if (!strstr(why_, part))                                  \
            fail_msg("'%s' does not say '%s'", why_, part);       \
    } while (0)

#define assert_reads(state, name, wanted)                                  \
    do {                                                                   \
        _cleanup_free_ char *text_ = NULL;                                 \
        size_t size_ = 0;                                                  \
        assert_int_equal(state_read(state, name, 100, &text_, &size_), 0); \
        assert_int_equal(size_, strlen(wanted));                           \
        assert_string_equal(text_, wanted);                                \
    } while (0)

static int read_of(State *s, const char *name)
{
    char *text = NULL;
    size_t size = 0;
    int r = state_read(s, name, 100, &text, &size);

    free(text);
    return r;
}

/* --- the directory --- */

static void test_makes(void **state)
{
    mode_t mask = umask(0);
    State *s = open_state();

    assert_mode("s", 0700);
    assert_mode("s/lock", 0600);
    assert_int_equal(read_of(s, "x"), -ENOENT);
    assert_int_equal(state_write(s, "x", "text", 4), 0);
    assert_mode("s/x", 0600);
    state_free(s);
    umask(mask);
    assert_null(state_free(NULL));
    assert_not_opened(in_base("no/s"), -ENOENT, "no/s: cannot make it: No such file");
    assert_false(is_there("no"));
}

static void test_no_directory(void **state)
{
    assert_int_equal(mkdir(in_base("real"), 0700), 0);
    assert_int_equal(symlink("real", in_base("link")), 0);
    put("file", "");
    assert_not_opened(in_base("link"), -ENOTDIR, "link: must be a directory");
    assert_not_opened(in_base("link/"), -ENOTDIR, "link: must be a directory");
    assert_not_opened(in_base("link//"), -ENOTDIR, "link: must be a directory");
    assert_not_opened(in_base("file"), -ENOTDIR, "file: must be a directory");
    assert_not_opened("", -ENOENT, "No such file");
    assert_false(is_there("real/lock"));
}

static void test_others_may_write(void **state)
{
    static const struct {
        mode_t mode;
        bool taken;
    } cases[] = {{0700, true}, {0755, true}, {0770, false}, {0702, false}, {01777, false}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_true(mkdir(in_base("s"), 0700) == 0 || errno == EEXIST);
        assert_int_equal(chmod(in_base("s"), cases[i].mode), 0);
        if (cases[i].taken)
            state_free(open_state());
        else
            assert_not_opened(in_base("s"), -EPERM, "others may write to it");
    }
}

static void test_others_directory(void **state)
{
    if (geteuid() != 0)
        skip_because("only root can give a directory away");
    assert_int_equal(mkdir(in_base("s"), 0700), 0);
    assert_int_equal(chown(in_base("s"), NOBODY, NOBODY), 0);
    assert_not_opened(in_base("s"), -EPERM, "belongs to user 65534, and numad-xend runs as user 0: chown it");
}

/* --- the lock --- */

static void test_lock(void **state)
{
    State *s = open_state();

    assert_not_opened(in_base("s"), -EBUSY, "another numad-xend has it");
    state_free(s);
    state_free(open_state());
}

static void test_odd_lock(void **state)
{
    assert_int_equal(mkdir(in_base("s"), 0700), 0);
    put("victim", "");
    assert_int_equal(symlink("../victim", in_base("s/lock")), 0);
    assert_not_opened(in_base("s"), -EPERM, "s/lock: is no file");
    assert_int_equal(unlink(in_base("s/lock")), 0);
    assert_int_equal(symlink("../nothing", in_base("s/lock")), 0);
    assert_not_opened(in_base("s"), -EPERM, "s/lock: is no file");
    assert_false(is_there("nothing"));
    assert_int_equal(unlink(in_base("s/lock")), 0);
    assert_int_equal(mkfifo(in_base("s/lock"), 0600), 0);
    assert_not_opened(in_base("s"), -EPERM, "s/lock: is no file");
    assert_int_equal(unlink(in_base("s/lock")), 0);
    assert_int_equal(mkdir(in_base("s/lock"), 0700), 0);
    assert_not_opened(in_base("s"), -EISDIR, "s/lock: ");
}

/* --- writing --- */

static void test_write(void **state)
{
    State *s = open_state();

    assert_int_equal(state_write(s, "x", "one", 3), 0);
    assert_reads(s, "x", "one");
    assert_int_equal(state_write(s, "x", "three", 5), 0);
    assert_reads(s, "x", "three");
    assert_int_equal(state_write(s, "y", "", 0), 0);
    assert_reads(s, "y", "");
    assert_reads(s, "x", "three");
    assert_false(is_there("s/x.new"));
    state_free(s);
    s = open_state();
    assert_reads(s, "x", "three");
    state_free(s);
}

/* Whatever has the file's name or the new one's is replaced, not followed. */
static void test_write_over_link(void **state)
{
    State *s = open_state();

    put("victim", "untouched");
    assert_int_equal(symlink("../victim", in_base("s/x")), 0);
    assert_int_equal(symlink("../victim", in_base("s/x.new")), 0);
    assert_int_equal(state_write(s, "x", "mine", 4), 0);
    assert_reads(s, "x", "mine");
    assert_file("victim", "untouched");
    assert_int_equal(link(in_base("victim"), in_base("s/x.new")), 0);
    assert_int_equal(state_write(s, "x", "again", 5), 0);
    assert_reads(s, "x", "again");
    assert_file("victim", "untouched");
    assert_int_equal(mkfifo(in_base("s/x.new"), 0600), 0);
    assert_int_equal(state_write(s, "x", "third", 5), 0);
    assert_int_equal(mkdir(in_base("s/x.new"), 0700), 0);
    assert_int_equal(state_write(s, "x", "fourth", 6), 0);
    assert_reads(s, "x", "fourth");
    state_free(s);
}

static void test_write_in_the_way(void **state)
{
    State *s = open_state();

    assert_int_equal(state_write(s, "x", "old", 3), 0);
    assert_int_equal(mkdir(in_base("s/x.new"), 0700), 0);
    put("s/x.new/full", "");
    assert_int_equal(state_write(s, "x", "new", 3), -ENOTEMPTY);
    assert_reads(s, "x", "old");
    assert_int_equal(mkdir(in_base("s/y"), 0700), 0);
    assert_int_equal(state_write(s, "y", "new", 3), -EISDIR);
    assert_false(is_there("s/y.new"));
    assert_int_equal(state_write(s, "a-name-that-is-longer-than-any-name-of-a-file-that-is-ever-written-here", "", 0),
                     -ENAMETOOLONG);
    state_free(s);
}

/* The directory is the one that was opened, wherever it is and whatever has its path now. */
static void test_moved(void **state)
{
    State *s = open_state();

    assert_int_equal(rename(in_base("s"), in_base("moved")), 0);
    assert_int_equal(mkdir(in_base("trap"), 0777), 0);
    assert_int_equal(symlink("trap", in_base("s")), 0);
    assert_int_equal(state_write(s, "x", "mine", 4), 0);
    assert_reads(s, "x", "mine");
    assert_file("moved/x", "mine");
    assert_false(is_there("trap/x"));
    state_free(s);
}

static void test_leftovers(void **state)
{
    State *s = open_state();

    assert_int_equal(state_write(s, "x", "whole", 5), 0);
    state_free(s);
    put("victim", "untouched");
    put("s/x.new", "hal");
    put("s/other.new", "");
    put("s/.new", "a name of its own");
    put("s/x.newer", "");
    assert_int_equal(symlink("../victim", in_base("s/link.new")), 0);
    s = open_state();
    assert_false(is_there("s/x.new") || is_there("s/other.new") || is_there("s/link.new"));
    assert_true(is_there("s/.new") && is_there("s/x.newer"));
    assert_reads(s, "x", "whole");
    assert_file("victim", "untouched");
    state_free(s);
}

/* --- a disk that is full --- */

static void check_refused(State *s, int error)
{
    static char large[256 << 10];

    memset(large, 'x', sizeof(large));
    assert_int_equal(state_write(s, "x", large, sizeof(large)), error);
    assert_reads(s, "x", "old");
    assert_false(is_there("s/x.new"));
}

static void test_file_limit(void **state)
{
    const struct rlimit small = {.rlim_cur = 64 << 10, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    State *s = open_state();

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(state_write(s, "x", "old", 3), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){small.rlim_cur, before.rlim_max}), 0);
    check_refused(s, -EFBIG);
    assert_int_equal(state_write(s, "x", "new", 3), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_reads(s, "x", "new");
    state_free(s);
}

static void test_disk_full(void **state)
{
    State *s;

    assert_int_equal(mkdir(in_base("s"), 0700), 0);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", in_base("s"), "tmpfs", 0, "size=64k,mode=700") < 0)
        skip_because("a small file system cannot be mounted here");
    s = open_state();
    assert_int_equal(state_write(s, "x", "old", 3), 0);
    check_refused(s, -ENOSPC);
    assert_int_equal(state_write(s, "x", "new", 3), 0);
    assert_reads(s, "x", "new");
    state_free(s);
    assert_int_equal(umount2(in_base("s"), MNT_DETACH), 0);
}

static void test_read_only(void **state)
{
    State *s = open_state();

    if (geteuid() == 0) { /* whom no mode keeps from writing: a directory that is gone does */
        assert_int_equal(state_write(s, "x", "old", 3), 0);
        remove_all(in_base("s"));
        assert_int_equal(state_write(s, "x", "new", 3), -ENOENT);
    } else {
        assert_int_equal(chmod(in_base("s"), 0500), 0);
        assert_int_equal(state_write(s, "x", "new", 3), -EACCES);
        assert_int_equal(chmod(in_base("s"), 0700), 0);
    }
    state_free(s);
}

/* --- reading what anyone may have put there --- */

static void test_read_odd(void **state)
{
    State *s = open_state();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    put("s/good", "text");
    assert_int_equal(symlink("good", in_base("s/link")), 0);
    assert_int_equal(symlink("nothing", in_base("s/dangling")), 0);
    assert_int_equal(mkfifo(in_base("s/fifo"), 0600), 0);
    assert_int_equal(mkdir(in_base("s/folder"), 0700), 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_base("s/socket"));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
    put("s/open", "text");
    assert_int_equal(chmod(in_base("s/open"), 0622), 0);
    put("s/shown", "text");
    assert_int_equal(chmod(in_base("s/shown"), 0644), 0);

    assert_int_equal(read_of(s, "link"), STATE_E_ODD);
    assert_int_equal(read_of(s, "dangling"), STATE_E_ODD);
    assert_int_equal(read_of(s, "fifo"), STATE_E_ODD); /* and nobody waits for a writer */
    assert_int_equal(read_of(s, "folder"), STATE_E_ODD);
    assert_int_equal(read_of(s, "socket"), STATE_E_ODD);
    assert_int_equal(read_of(s, "open"), STATE_E_ODD);
    assert_int_equal(read_of(s, "shown"), 0);
    assert_reads(s, "good", "text");
    state_free(s);
}

static void test_read_others(void **state)
{
    State *s = open_state();

    put("s/x", "text");
    if (geteuid() != 0 || chown(in_base("s/x"), NOBODY, NOBODY) < 0) {
        state_free(s);
        skip_because("only root can give a file away");
    }
    assert_int_equal(read_of(s, "x"), STATE_E_ODD);
    state_free(s);
}

static void test_read_huge(void **state)
{
    State *s = open_state();

    put_sparse("s/huge", (off_t)1 << 40);
    put_sparse("s/above", 101);
    put_sparse("s/most", 100);
    assert_int_equal(read_of(s, "huge"), -EFBIG);
    assert_int_equal(read_of(s, "above"), -EFBIG);
    assert_int_equal(read_of(s, "most"), 0);
    state_free(s);
}

/* --- setting aside --- */

static void test_set_aside(void **state)
{
    State *s = open_state();

    assert_int_equal(state_set_aside(s, "x"), -ENOENT);
    put("s/x", "one");
    assert_int_equal(state_set_aside(s, "x"), 0);
    assert_false(is_there("s/x"));
    assert_file("s/x.bad", "one");
    put("s/x", "two");
    assert_int_equal(state_set_aside(s, "x"), 0);
    assert_file("s/x.bad", "two");
    assert_int_equal(mkdir(in_base("s/x"), 0700), 0); /* over a file */
    assert_int_equal(state_set_aside(s, "x"), 0);
    put("s/x", "three"); /* over a directory */
    assert_int_equal(state_set_aside(s, "x"), 0);
    assert_file("s/x.bad", "three");
    put("victim", "untouched");
    assert_int_equal(symlink("../victim", in_base("s/x")), 0);
    assert_int_equal(state_set_aside(s, "x"), 0);
    assert_file("victim", "untouched");
    assert_int_equal(state_write(s, "x", "new", 3), 0);
    assert_reads(s, "x", "new");
    state_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_base, remove_base)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_makes),
        TEST(test_no_directory),
        TEST(test_others_may_write),
        TEST(test_others_directory),
        TEST(test_lock),
        TEST(test_odd_lock),
        TEST(test_write),
        TEST(test_write_over_link),
        TEST(test_write_in_the_way),
        TEST(test_moved),
        TEST(test_leftovers),
        TEST(test_file_limit),
        TEST(test_disk_full),
        TEST(test_read_only),
        TEST(test_read_odd),
        TEST(test_read_others),
        TEST(test_read_huge),
        TEST(test_set_aside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
