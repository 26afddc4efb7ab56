/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "watch.h"

#include "display.h"
#include "report.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/*
 * The signals end the program where they find it, also in the midst of a call that waits for the daemon. A handler
 * may do little: it puts the terminal back with what was prepared for it, and leaves.
 */
static struct termios saved_terminal;
static volatile sig_atomic_t terminal_changed, keys_changed;

#define SCREEN_ENTER "\033[?1049h\033[?25l"
#define SCREEN_LEAVE "\033[?25h\033[?1049l"
#define SCREEN_HOME "\033[H"
#define LINE_REST "\033[K"
#define SCREEN_REST "\033[J"

static void restore_terminal(void)
{
    if (keys_changed)
        tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    if (terminal_changed && write(STDOUT_FILENO, SCREEN_LEAVE, sizeof(SCREEN_LEAVE) - 1) < 0)
        return; /* there is no terminal any more */
    terminal_changed = keys_changed = 0;
}

static void on_end(int signal_number)
{
    restore_terminal();
    _exit(STATUS_DONE);
}

static void on_resize(int signal_number)
{
    /* Interrupts the wait: the next picture has the new size. */
}

static void set_handler(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

static void prepare_terminal(const Screen *screen)
{
    struct termios keys;

    if (!screen->terminal)
        return;
    if (isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &saved_terminal) == 0) {
        keys = saved_terminal;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        keys_changed = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
    }
    if (screen->addressable)
        terminal_changed = write(STDOUT_FILENO, SCREEN_ENTER, sizeof(SCREEN_ENTER) - 1) > 0;
}

/* A picture from the upper left corner on, cut to the rows there are; the last row says what was cut. */
static void add_picture(const Screen *screen, const char *text, Text *to)
{
    size_t n = 0, lines = 0, shown;

    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    shown = lines < screen->rows ? lines : screen->rows - 1;
    text_add(to, SCREEN_HOME);
    for (const char *end; n < shown && (end = strchr(text, '\n')); text = end + 1, n++) {
        text_add_bytes(to, text, (size_t)(end - text));
        text_add(to, n + 1 < screen->rows ? LINE_REST "\n" : LINE_REST);
    }
    text_add(to, SCREEN_REST);
    if (shown < lines)
        text_printf(to, "... %zu more lines: enlarge the terminal, or use status without --watch" LINE_REST,
                    lines - shown);
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

/* Waits for the rest of the second. True: q was pressed. */
static bool wait_for_key(bool keys)
{
    struct pollfd in = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
    char key;

    if (poll(&in, 1, 1000) <= 0 || !in.revents)
        return false;
    if (read(STDIN_FILENO, &key, 1) != 1) {
        keys_changed = 0; /* no terminal any more; don't spin on it */
        return true;
    }
    return key == 'q' || key == 'Q';
}

/* Says on stderr, once, that a pipe gets nothing for now. */
static int wait_quietly(Feed *feed, bool *lost)
{
    if (!*lost)
        report("%s; waiting for it", feed_error(feed));
    *lost = true;
    return STATUS_DONE;
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
        text_printf(&text, "\n%s\n\nWaiting for it to come back.\n", feed_error(feed));
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

    set_handler(SIGINT, on_end);
    set_handler(SIGTERM, on_end);
    set_handler(SIGHUP, on_end);
    set_handler(SIGWINCH, on_resize);
    add_clock(&screen, &text);
    r = status_add_text(feed, &screen, &text);
    if (r != 0) { /* what was never there is not waited for */
        report("%s", feed_error(feed));
        return r;
    }
    prepare_terminal(&screen);
    r = show(&screen, &text);
    while (r == STATUS_DONE && !wait_for_key(keys_changed)) {
        screen = screen_get(feed->globals);
        r = show_next(feed, &screen, &lost);
    }
    restore_terminal();
    return r;
}
