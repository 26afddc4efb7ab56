/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remote.h"

#include "lib/core/base.h"
#include "lib/core/remote-host.h"
#include "ready.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * The command is the one that sd_bus_open_system_remote() runs, so whatever serves `systemctl -H` serves here. It is
 * run from here because sd-bus keeps its process to itself: how ssh ended tells a refused login from a missing bridge,
 * and nobody is kept waiting for an ssh that does not end.
 */

#define END_USEC (2 * 1000000ull) /* for ssh to end by itself */
#define POLL_NSEC (2 * 1000000l)

extern char **environ;

/* How a connection went that was not made. */
typedef struct Attempt {
    const char *host;
    uint64_t patience_usec;
    bool heard; /* something answered */
    int status; /* of ssh, 0 when it had none yet */
} Attempt;

static int set_up(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, int fd)
{
    sigset_t none, pipe;
    int r;

    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE); /* the caller may ignore it, ssh shall not */
    r = posix_spawn_file_actions_adddup2(files, fd, STDIN_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(files, fd, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawnattr_setsigmask(attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(attributes, &pipe);
    if (r == 0)
        r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return -r;
}

/* stderr and the terminal stay ours: ssh says there what went wrong, and asks. */
static int spawn(const char *host, int fd, pid_t *ret_ssh)
{
    char *const arguments[] = {"ssh", "-xT", "--", (char *)host, "systemd-stdio-bridge", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int r;

    r = -posix_spawn_file_actions_init(&files);
    if (r < 0)
        return r;
    r = -posix_spawnattr_init(&attributes);
    if (r == 0) {
        r = set_up(&files, &attributes, fd);
        if (r == 0)
            r = -posix_spawnp(ret_ssh, "ssh", &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return r;
}

/* The bus has the descriptor then, also when this fails. */
static int listen_on(sd_bus *bus, int fd)
{
    int r = sd_bus_set_fd(bus, fd, fd);

    if (r < 0) {
        close(fd);
        return r;
    }
    r = sd_bus_set_bus_client(bus, true);
    return r < 0 ? r : sd_bus_start(bus);
}

static int run(const char *host, int *ret_fd, pid_t *ret_ssh)
{
    int ends[2], r;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    r = spawn(host, ends[1], ret_ssh);
    close(ends[1]);
    if (r < 0) {
        close(ends[0]);
        return r == -EACCES ? -ENOENT : r; /* there is something in the PATH that cannot be run */
    }
    *ret_fd = ends[0];
    return 0;
}

/* True: it has ended, or is nobody's any more (who ignores SIGCHLD has no status to get; 0 then). */
static bool has_ended(pid_t ssh, int *ret_status)
{
    pid_t pid;

    *ret_status = 0;
    do
        pid = waitpid(ssh, ret_status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    return pid != 0;
}

static bool wait_for_end(pid_t ssh, int *ret_status)
{
    const struct timespec pause = {.tv_nsec = POLL_NSEC};
    uint64_t deadline = now_usec() + END_USEC;

    while (!has_ended(ssh, ret_status)) {
        if (now_usec() >= deadline)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

void remote_end(pid_t ssh)
{
    int status;

    if (ssh <= 0 || has_ended(ssh, &status))
        return;
    kill(ssh, SIGTERM);
    if (wait_for_end(ssh, &status))
        return;
    kill(ssh, SIGKILL);
    wait_for_end(ssh, &status);
}

static char *make_text(const char *format, const char *host)
{
    char *text = NULL;

    return asprintf(&text, format, host) < 0 ? NULL : text;
}

static int explain_silence(const Attempt *attempt, char **ret_text)
{
    int r;

    if (attempt->heard)
        r = asprintf(ret_text, "%s answers over ssh, but its system bus does not in 5 s: see whether dbus-daemon hangs",
                     attempt->host);
    else
        r = asprintf(ret_text, "no answer from %s over ssh in %llu s: try 'ssh %s true'", attempt->host,
                     (unsigned long long)(attempt->patience_usec / 1000000), attempt->host);
    if (r < 0)
        *ret_text = NULL;
    return -ETIMEDOUT;
}

/* The connection was closed, which is what its end looks like from here. */
static const char *format_of_end(int status)
{
    switch (WIFEXITED(status) ? WEXITSTATUS(status) : -1) {
    case 0:
        return "%s closed the connection before its system bus answered";
    case 127:
        return "%s has no systemd-stdio-bridge: it comes with systemd and must be in the PATH of commands run by ssh";
    case 255:
        return "ssh to %1$s failed: try 'ssh %1$s true'";
    default:
        return "cannot reach the system bus of %s: systemd-stdio-bridge failed there: is dbus-daemon running?";
    }
}

static bool was_closed(int r)
{
    return r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE || r == -ESHUTDOWN || r == -ECONNABORTED;
}

static int explain(const Attempt *attempt, int r, char **ret_text)
{
    if (r == -ENOMEM)
        return r;
    if (r == -ETIMEDOUT)
        return explain_silence(attempt, ret_text);
    *ret_text =
        make_text(was_closed(r)
                      ? format_of_end(attempt->status)
                      : "%s answers, but not as a system bus: do the shell's start files there print something?",
                  attempt->host);
    return -ENOTCONN;
}

static int explain_no_run(const char *host, int r, char **ret_text)
{
    if (r == -ENOMEM)
        return r;
    if (r == -ENOENT)
        *ret_text = make_text("cannot reach %s: there is no ssh here: apt-get install openssh-client", host);
    else if (asprintf(ret_text, "cannot run ssh to reach %s: %s", host, strerror(-r)) < 0)
        *ret_text = NULL;
    return -ENOTCONN;
}

static int connect_over(Attempt *attempt, int fd, pid_t ssh, sd_bus **ret_bus)
{
    sd_bus *bus = NULL;
    int r = sd_bus_new(&bus);

    if (r < 0)
        close(fd);
    else
        r = listen_on(bus, fd);
    if (r >= 0)
        r = ready_wait(bus, attempt->patience_usec, &attempt->heard);
    if (r >= 0) {
        *ret_bus = bus;
        return 0;
    }
    sd_bus_close_unref(bus);
    if (!was_closed(r) || !wait_for_end(ssh, &attempt->status)) /* closed by ssh's end, which is seen in a moment */
        remote_end(ssh);
    return r;
}

int remote_open(const char *host, uint64_t patience_usec, sd_bus **ret_bus, pid_t *ret_ssh, char **ret_text)
{
    Attempt attempt = {.host = host, .patience_usec = patience_usec};
    const char *fault = remote_host_fault(host);
    int fd = -1, r;

    *ret_text = NULL;
    if (fault) {
        if (asprintf(ret_text, "'%s': %s: give [USER@]HOST", host, fault) < 0)
            *ret_text = NULL;
        return -EINVAL;
    }
    r = run(host, &fd, ret_ssh);
    if (r < 0)
        return explain_no_run(host, r, ret_text);
    r = connect_over(&attempt, fd, *ret_ssh, ret_bus);
    if (r >= 0)
        return 0;
    *ret_ssh = 0;
    return explain(&attempt, r, ret_text);
}
