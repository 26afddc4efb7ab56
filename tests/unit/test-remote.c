/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/client/ready.h"
#include "lib/client/remote.h"
#include "lib/core/base.h"
#include "lib/core/remote-host.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORT_USEC 300000u
#define LONG_USEC (30 * 1000000ull)

static void test_hosts(void **state)
{
    static const struct {
        const char *host, *fault;
    } cases[] = {
        {"xen1", NULL},
        {"root@xen1.example.org", NULL},
        {"a.b_c-d+e@10.0.0.1", NULL},
        {"::1", NULL},
        {"root@fe80::1%eth0", NULL},
        {"", "no host"},
        {"root@", "no host"},
        {"@xen1", "no user before the '@'"},
        {"-xen1", "a host does not begin with '-'"},
        {"-oProxyCommand=reboot", "a host does not begin with '-'"},
        {"-oProxyCommand=reboot@xen1", "a host does not begin with '-'"},
        {"root@-oProxyCommand=reboot", "a host does not begin with '-'"},
        {"xen1:22", "ssh takes the port from ~/.ssh/config"},
        {"ssh://xen1:22", "a host has letters, digits and . _ -"},
        {"xen1,argv3=reboot", "a host has letters, digits and . _ -"},
        {"xen1;path=/", "a host has letters, digits and . _ -"},
        {"xen 1", "a host has letters, digits and . _ -"},
        {" xen1", "a host has letters, digits and . _ -"},
        {"xen1\n", "a host has letters, digits and . _ -"},
        {"$(reboot)", "a host has letters, digits and . _ -"},
        {"x\xc3\xa9n", "a host has letters, digits and . _ -"},
        {"xen1/machine", "a host has letters, digits and . _ -"},
        {"fe80::1%eth0;x", "a host has letters, digits and . _ -"},
        {"a@b@c", "a host has letters, digits and . _ -"},
        {"ro ot@xen1", "a user has letters, digits and . _ - +"},
        {"`reboot`@xen1", "a user has letters, digits and . _ - +"},
    };
    char large[400];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *fault = remote_host_fault(cases[i].host);

        if (cases[i].fault)
            assert_string_equal(fault ? fault : cases[i].host, cases[i].fault);
        else
            assert_null(fault);
    }
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    assert_string_equal(remote_host_fault(large), "too long for a host");
}

static char directory[] = "/tmp/numad-xen-remote.XXXXXX";

/* A program called ssh, the only one in the PATH but for the shell's own; NULL: there is none. */
static void set_ssh(const char *script)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/ssh", directory);
    (void)unlink(path);
    if (!script)
        return;
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fchmod(fileno(file), 0700), 0);
    assert_int_equal(fclose(file), 0);
}

static void fails(const char *script, uint64_t patience_usec, int error, const char *text)
{
    _cleanup_free_ char *why = NULL;
    sd_bus *bus = NULL;
    pid_t ssh = 0;

    set_ssh(script);
    assert_int_equal(remote_open("u@h", patience_usec, &bus, &ssh, &why), error);
    assert_non_null(why);
    assert_string_equal(why, text);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left, as a zombie neither */
    assert_int_equal(errno, ECHILD);
}

static void test_failures(void **state)
{
    fails(NULL, LONG_USEC, -ENOTCONN, "cannot reach u@h: there is no ssh here: apt-get install openssh-client");
    fails("exit 255", LONG_USEC, -ENOTCONN, "ssh to u@h failed: try 'ssh u@h true'");
    fails("exit 127", LONG_USEC, -ENOTCONN,
          "u@h has no systemd-stdio-bridge: it comes with systemd and must be in the PATH of commands run by ssh");
    fails("exit 1", LONG_USEC, -ENOTCONN,
          "cannot reach the system bus of u@h: systemd-stdio-bridge failed there: is dbus-daemon running?");
    fails("kill -9 $$", LONG_USEC, -ENOTCONN,
          "cannot reach the system bus of u@h: systemd-stdio-bridge failed there: is dbus-daemon running?");
    fails("exit 0", LONG_USEC, -ENOTCONN, "u@h closed the connection before its system bus answered");
    fails("printf 'Welcome\\r\\nto\\r\\nthis host\\r\\n'; read -r line", LONG_USEC, -ENOTCONN,
          "u@h answers, but not as a system bus: do the shell's start files there print something?");
}

/* Neither ssh that waits nor one that does not want to end keeps anybody for long. */
static void test_silence(void **state)
{
    uint64_t start = now_usec();

    fails("while :; do read -r line; done", SHORT_USEC, -ETIMEDOUT,
          "no answer from u@h over ssh in 0 s: try 'ssh u@h true'");
    assert_in_range(now_usec() - start, SHORT_USEC, LONG_USEC);
    start = now_usec();
    fails("trap '' TERM HUP; while :; do :; done", SHORT_USEC, -ETIMEDOUT,
          "no answer from u@h over ssh in 0 s: try 'ssh u@h true'");
    assert_in_range(now_usec() - start, SHORT_USEC, LONG_USEC);
}

/* Once something was heard the patience for a person is over, and the answer's own time begins. */
static void test_half_an_answer(void **state)
{
    uint64_t start = now_usec();

    fails("printf OK; while :; do read -r line; done", LONG_USEC, -ETIMEDOUT,
          "u@h answers over ssh, but its system bus does not in 5 s: see whether dbus-daemon hangs");
    assert_in_range(now_usec() - start, ANSWER_USEC, LONG_USEC - 1000000);
}

/* What came before anybody waited for it was heard too. */
static void test_early_bytes(void **state)
{
    bool heard = false;
    sd_bus *bus;
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(write(ends[1], "DA", 2), 2);
    assert_int_equal(sd_bus_new(&bus), 0);
    assert_int_equal(sd_bus_set_fd(bus, ends[0], ends[0]), 0);
    assert_int_equal(sd_bus_set_bus_client(bus, true), 0);
    assert_true(sd_bus_start(bus) >= 0);
    assert_int_equal(ready_wait(bus, SHORT_USEC, &heard), -ETIMEDOUT);
    assert_true(heard);
    sd_bus_close_unref(bus);
    close(ends[1]);
}

static void test_refused(void **state)
{
    _cleanup_free_ char *why = NULL;
    sd_bus *bus;
    pid_t ssh;

    set_ssh("exit 0");
    assert_int_equal(remote_open("-v", LONG_USEC, &bus, &ssh, &why), -EINVAL);
    assert_string_equal(why, "'-v': a host does not begin with '-': give [USER@]HOST");
}

static int set_up(void **state)
{
    return mkdtemp(directory) && setenv("PATH", directory, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    set_ssh(NULL);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),          cmocka_unit_test(test_failures), cmocka_unit_test(test_silence),
        cmocka_unit_test(test_half_an_answer), cmocka_unit_test(test_refused),  cmocka_unit_test(test_early_bytes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
