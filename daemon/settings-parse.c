/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "settings.h"

#include <ini.h>
#include <string.h>

/*
 * inih splits lines into sections, keys and values, and settings_table says what they may be. inih itself is lenient:
 * it cuts lines that are too long in two, takes an indented one for more of the value before it, and ':' for '=', hides
 * sections without keys, and tells its handler no line numbers. So it reads through read_line(), which hands it one
 * line at a time, counts them, and passes on only what inih takes as it stands.
 */

typedef struct Parse {
    const char *file;
    const char *next, *end; /* of the text, what is not read yet */
    unsigned line;
    unsigned given[SETTINGS_N]; /* in which line; 0: in none */
    Settings settings;
    Text error;       /* what is wrong with the first bad line */
    unsigned refused; /* that line; 0: there is none */
} Parse;

/* Begins the error, "FILE:LINE: "; the caller goes on. */
static Text *refuse(Parse *p, unsigned line)
{
    p->refused = line;
    text_printf(&p->error, "%s:%u: ", p->file, line);
    return &p->error;
}

/* "[daemon], [placement]"; of a section: "interval_ms, adopt". */
static void add_names(const char *section, Text *to)
{
    const char *before = "", *separator = "";

    for (size_t i = 0; i < SETTINGS_N; i++) {
        const Setting *s = &settings_table[i];
        bool listed = section ? strcmp(s->section, section) == 0 : strcmp(s->section, before) != 0;

        if (listed)
            text_printf(to, section ? "%s%s" : "%s[%s]", separator, section ? s->key : s->section);
        if (listed)
            separator = ", ";
        before = s->section;
    }
}

static void refuse_key(Parse *p, const char *section, const char *key)
{
    const Setting *elsewhere = settings_find(NULL, key);
    Text *to = refuse(p, p->line);

    text_printf(to, "%s%s%s: ", section, *section ? "." : "", key);
    if (elsewhere)
        text_printf(to, "stands in the wrong place: it belongs to [%s]", elsewhere->section);
    else if (*section) {
        text_printf(to, "no such key: [%s] has ", section);
        add_names(section, to);
    } else {
        text_add(to, "no such key, and no section before it: there are ");
        add_names(NULL, to);
    }
}

/* For inih: 0 is a failure. */
static int on_value(void *userdata, const char *section, const char *key, const char *value)
{
    Parse *p = userdata;
    const Setting *setting = settings_find(section, key);
    const char *wrong;
    unsigned *given;

    if (p->refused)
        return 0;
    if (!setting) {
        refuse_key(p, section, key);
        return 0;
    }
    given = &p->given[setting - settings_table];
    if (*given) {
        text_printf(refuse(p, p->line), "%s.%s: given a second time, after line %u: give it once", section, key,
                    *given);
        return 0;
    }
    *given = p->line;
    wrong = *value ? settings_set(setting, value, &p->settings) : "has no value";
    if (!wrong)
        return 1;
    text_printf(refuse(p, p->line), *value ? "%s.%s: '%s' " : "%s.%s: ", section, key, value);
    text_printf(&p->error, "%s: give ", wrong);
    settings_add_allowed(setting, &p->error);
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* inih tells nobody of a section without keys, and takes anything behind its name. */
static void check_section(Parse *p, const char *line, size_t size)
{
    const char *close = memchr(line, ']', size), *rest;

    if (!close) {
        text_printf(refuse(p, p->line), "%.*s: no ']': a section's line is [NAME]", (int)size, line);
        return;
    }
    for (size_t i = 0; i < SETTINGS_N; i++) {
        const char *name = settings_table[i].section;

        if ((size_t)(close - line) != strlen(name) + 1 || strncmp(line + 1, name, strlen(name)) != 0)
            continue;
        for (rest = close + 1; rest < line + size && is_blank(*rest); rest++)
            ;
        if (rest < line + size && *rest != ';' && *rest != '#')
            text_printf(refuse(p, p->line), "[%s]: nothing may stand behind a section's name", name);
        return;
    }
    text_printf(refuse(p, p->line), "%.*s: no such section: there are ", (int)size, line);
    add_names(NULL, &p->error);
}

/* inih takes a ':' for the '=', too. */
static void check_sign(Parse *p, const char *line, size_t size)
{
    size_t sign = 0, key, value;

    while (sign < size && line[sign] != '=' && line[sign] != ':' && !(line[sign] == ';' && is_blank(line[sign - 1])))
        sign++;
    if (sign == size || line[sign] != ':')
        return;
    for (key = sign; key && is_blank(line[key - 1]);)
        key--;
    for (value = sign + 1; value < size && is_blank(line[value]);)
        value++;
    text_printf(refuse(p, p->line), "%.*s: ':' stands for '=': write %.*s = %.*s", (int)key, line, (int)key, line,
                (int)(size - value), line + value);
}

static bool is_comment(const char *line, size_t size)
{
    return size && (*line == '#' || *line == ';');
}

/* The next line without blanks around it, nothing of a comment; NULL: no more, or it is refused. Like fgets(). */
static char *read_line(char *to, int room, void *stream)
{
    Parse *p = stream;
    const char *line = p->next, *newline;
    size_t size, most = MIN(SETTINGS_LINE_MAX, (size_t)room - 2);

    if (p->refused || p->next == p->end)
        return NULL;
    newline = memchr(line, '\n', (size_t)(p->end - line));
    size = (size_t)((newline ? newline : p->end) - line);
    p->next = newline ? newline + 1 : p->end;
    p->line++;
    for (; size && is_blank(*line); size--)
        line++;
    while (size && is_blank(line[size - 1]))
        size--;
    if (is_comment(line, size))
        size = 0;
    if (size > most)
        text_printf(refuse(p, p->line), "%.16s...: longer than %zu bytes, which no setting is", line, most);
    else if (size && *line == '[')
        check_section(p, line, size);
    else
        check_sign(p, line, size);
    if (p->refused)
        return NULL;
    memcpy(to, line, size);
    memcpy(to + size, "\n", 2);
    return to;
}

/* Whatever is left of the first error gives way to that of an earlier line. */
static void refuse_form(Parse *p, unsigned line)
{
    text_done(&p->error);
    text_add(refuse(p, line), "no '=': a setting is KEY = VALUE, a comment begins with #");
}

static void check_together(Parse *p)
{
    const Setting *least = settings_find("placement", "gather_ms"), *most = settings_find("placement", "gather_max_ms");
    unsigned line = MAX(p->given[least - settings_table], p->given[most - settings_table]);

    if (p->settings.gather_max_ms < p->settings.gather_ms)
        text_printf(refuse(p, line),
                    "placement.gather_max_ms: %" PRIu64 " is less than gather_ms, %" PRIu64 ": give at least as much",
                    p->settings.gather_max_ms, p->settings.gather_ms);
}

static unsigned line_of(const char *text, const char *where)
{
    unsigned line = 1;

    for (; text < where; text++)
        line += *text == '\n';
    return line;
}

static int run_inih(Parse *p)
{
    int r = ini_parse_stream(read_line, p, on_value, p);

    if (r < 0)
        return -ENOMEM;
    if (r > 0 && (!p->refused || (unsigned)r < p->refused))
        refuse_form(p, (unsigned)r);
    if (!p->refused)
        check_together(p);
    return 0;
}

int settings_parse(const char *file, const char *text, size_t size, Settings *ret_settings, char **ret_error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* which inih skips */
    Parse p = {.file = file, .next = text, .end = text + size, .settings = settings_defaults()};
    const char *zero = memchr(text, '\0', size);
    int r = 0;

    if (size >= 3 && memcmp(text, mark, 3) == 0)
        text_add(refuse(&p, 1), "a byte order mark, which some editors write: save the file as UTF-8 without one");
    else if (zero)
        text_add(refuse(&p, line_of(text, zero)), "a zero byte: this is no text file");
    else
        r = run_inih(&p);
    if (r == 0 && p.refused) {
        r = text_take(&p.error, ret_error, NULL);
        return r < 0 ? r : SETTINGS_E_REFUSED;
    }
    text_done(&p.error);
    if (r == 0)
        *ret_settings = p.settings;
    return r;
}
