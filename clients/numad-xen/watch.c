/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "watch.h"

#include "display.h"
#include "report.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/*
 * The signals end or stop the program where they find it, also in the midst of a call that waits for the daemon. A
 * handler may do little: it puts the terminal back with what was prepared for it, and leaves or stops. When the
 * program goes on, whatever has become of the terminal meanwhile, it is changed anew and the next picture drawn.
 */
static struct termios saved_terminal, changed_terminal;
static volatile sig_atomic_t uses_keys, uses_screen; /* what was changed, or is to be when the program goes on */
static volatile sig_atomic_t stopped;

#define SCREEN_ENTER "\033[?1049h\033[?25l"
#define SCREEN_LEAVE "\033[?25h\033[?1049l"
#define SCREEN_HOME "\033[H"
#define LINE_CLEAR "\033[2K"
#define SCREEN_REST "\033[J"

static void change_terminal(void)
{
    /* The keys first: a program in the background is stopped by that, before it writes over another one's screen. */
    if (uses_keys && tcsetattr(STDIN_FILENO, TCSANOW, &changed_terminal) < 0)
        uses_keys = 0;
    if (uses_screen && write(STDOUT_FILENO, SCREEN_ENTER, sizeof(SCREEN_ENTER) - 1) < 0)
        uses_screen = 0;
}

static void restore_terminal(void)
{
    if (uses_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    if (uses_screen && write(STDOUT_FILENO, SCREEN_LEAVE, sizeof(SCREEN_LEAVE) - 1) < 0)
        return; /* there is no terminal any more */
}

static void on_end(int signal_number)
{
    restore_terminal();
    _exit(STATUS_DONE);
}

static void on_change(int signal_number)
{
    /* Interrupts the wait: the next picture has the new size. */
}

static void set_handler(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}; /* what is written is written whole */

    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

/* Does what the signal does to a program that does not handle it, now and not when its handler returns. */
static void take_default(int signal_number)
{
    sigset_t set;

    signal(signal_number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void on_quit(int signal_number)
{
    restore_terminal();
    take_default(signal_number);
}

static void on_stop(int signal_number)
{
    int error = errno;

    restore_terminal();
    stopped = 1;
    take_default(signal_number);
    set_handler(signal_number, on_stop);
    if (stopped) /* nobody could have made it go on (an orphaned process group): it was not stopped */
        change_terminal();
    stopped = 0;
    errno = error;
}

/* Also after SIGSTOP, which nobody is told of. */
static void on_continue(int signal_number)
{
    int error = errno;

    stopped = 0;
    change_terminal();
    errno = error;
}

static bool is_ignored(int signal_number)
{
    struct sigaction action;

    return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void set_handlers(void)
{
    set_handler(SIGINT, on_end);
    set_handler(SIGTERM, on_end);
    if (!is_ignored(SIGHUP)) /* nohup */
        set_handler(SIGHUP, on_end);
    set_handler(SIGQUIT, on_quit);
    if (!is_ignored(SIGTSTP)) /* a shell that could not make it go on */
        set_handler(SIGTSTP, on_stop);
    set_handler(SIGCONT, on_continue);
    set_handler(SIGWINCH, on_change);
}

static void prepare_terminal(const Screen *screen)
{
    if (!screen->terminal)
        return;
    if (isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &saved_terminal) == 0) {
        changed_terminal = saved_terminal;
        changed_terminal.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        uses_keys = 1;
    }
    uses_screen = screen->addressable;
    change_terminal();
}

/*
 * A picture from the upper left corner on, cut to the columns and rows there are; the last row says what was cut. A
 * line is cleared before it is written: after its last column the cursor may still stand on it.
 */
static void add_picture(const Screen *screen, const char *text, Text *to)
{
    size_t lines = 0, shown;
    char footer[96];

    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    shown = lines < screen->rows ? lines : screen->rows - 1;
    text_add(to, SCREEN_HOME);
    for (size_t i = 0; i < shown; i++) {
        size_t size = strcspn(text, "\n");
        _cleanup_free_ char *line = strndup(text, size);

        to->failed = to->failed || !line;
        text_add(to, LINE_CLEAR);
        display_add_line(to, line ? line : "", screen->edge);
        text_add(to, "\n");
        text += size + 1;
    }
    text_add(to, SCREEN_REST);
    if (shown == lines)
        return;
    snprintf(footer, sizeof(footer), "... %zu more lines: enlarge the terminal, or use status without --watch",
             lines - shown);
    display_add_cut(to, footer, screen->edge, "..");
}

static int show(const Screen *screen, Text *text)
{
    _cleanup_free_ char *string = NULL;
    _cleanup_text_ Text picture = {0};

    if (!screen->addressable) {
        text_add(text, "\n"); /* between two blocks */
        return output_write(text);
    }
    if (text_take(text, &string, NULL) < 0)
        return report_no_memory();
    add_picture(screen, string, &picture);
    return output_write(&picture);
}

static void add_clock(const Screen *screen, Text *to)
{
    time_t now = time(NULL);
    char clock[32];
    struct tm tm;

    if (localtime_r(&now, &tm) && strftime(clock, sizeof(clock), "%H:%M:%S", &tm))
        text_printf(to, "%s%s\n", clock, screen->addressable ? "  every second, q quits" : "");
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All that was typed. True: q is among it, or there is no terminal any more. */
static bool read_keys(void)
{
    char keys[4096];
    ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

    if (n < 0)
        return errno != EINTR && errno != EAGAIN;
    if (n == 0) {
        uses_keys = 0;
        return true;
    }
    return memchr(keys, 'q', (size_t)n) || memchr(keys, 'Q', (size_t)n);
}

/* Waits for the rest of the second, whatever else is typed, or for a signal. True: q was pressed. */
static bool wait_for_key(void)
{
    struct pollfd in = {.fd = uses_keys ? STDIN_FILENO : -1, .events = POLLIN};
    int64_t end = now_ms() + 1000, left;

    while ((left = end - now_ms()) > 0 && poll(&in, 1, (int)left) > 0)
        if (read_keys())
            return true;
    return false;
}

/* Says on stderr, once, that a pipe gets nothing for now. */
static int wait_quietly(Feed *feed, bool *lost)
{
    if (!*lost)
        report("%s; waiting for it", feed_error(feed));
    *lost = true;
    return STATUS_DONE;
}

static void add_lost(const Feed *feed, const Screen *screen, Text *to)
{
    const char *error = feed_error(feed);
    _cleanup_free_ char *shown = display_escape(error, strlen(error), screen->ascii_names ? DISPLAY_ASCII : 0);

    text_add(to, "\n");
    display_add_wrapped(to, shown ? shown : "not enough memory", 0, 0, screen->edge);
    text_add(to, "\n\nWaiting for it to come back.\n");
}

/*
 * One picture. A daemon that went away is waited for: on a terminal that is said in the picture's place, in a pipe
 * once on stderr, and so is its return.
 */
static int show_next(Feed *feed, const Screen *screen, bool *lost)
{
    _cleanup_text_ Text text = {0};
    int r;

    add_clock(screen, &text);
    r = status_add_text(feed, screen, &text);
    if (r != 0 && !screen->addressable)
        return wait_quietly(feed, lost);
    if (r != 0)
        add_lost(feed, screen, &text);
    else if (*lost && !screen->addressable)
        report("numad-xend is back");
    *lost = r != 0;
    return show(screen, &text);
}

int watch_run(Feed *feed)
{
    Screen screen = screen_get(feed->globals);
    _cleanup_text_ Text text = {0};
    bool lost = false;
    int r;

    set_handlers();
    add_clock(&screen, &text);
    r = status_add_text(feed, &screen, &text);
    if (r != 0) { /* what was never there is not waited for */
        report("%s", feed_error(feed));
        return r;
    }
    prepare_terminal(&screen);
    r = show(&screen, &text);
    while (r == STATUS_DONE && !wait_for_key()) {
        screen = screen_get(feed->globals);
        r = show_next(feed, &screen, &lost);
    }
    restore_terminal();
    uses_keys = uses_screen = 0;
    return r;
}
