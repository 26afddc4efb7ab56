/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

/* "0:1.0G 2:1.0G" */
static void add_memory(Table *table, struct json_object *memory)
{
    _cleanup_text_ Text text = {0};
    _cleanup_free_ char *string = NULL;

    for (size_t i = 0; i < value_count(memory); i++) {
        struct json_object *row = value_at(memory, i);
        SizeText node = display_number(value_u64(row, "node"));

        text_printf(&text, "%s%s:%s", i ? " " : "", node.text, display_size(value_u64(row, "bytes")).text);
    }
    if (text_take(&text, &string, NULL) < 0)
        string = NULL;
    if (value_count(memory))
        table_add_bytes(table, STYLE_PLAIN, string, string ? strlen(string) : 0);
    else
        table_add(table, STYLE_PLAIN, "-");
}

/* The time runs until the domain comes. */
static void add_state(Table *table, struct json_object *row)
{
    uint64_t domid = value_u64(row, "domid"), ms = value_u64(row, "expires_ms");

    if (domid != VALUE_UNKNOWN)
        table_printf(table, STYLE_PLAIN, "domain %s", display_number(domid).text);
    else if (ms != VALUE_UNKNOWN)
        table_printf(table, STYLE_PLAIN, "%s s left", display_number(ms / 1000 + (ms % 1000 != 0)).text);
    else
        table_add(table, STYLE_PLAIN, "-");
}

static void add_reservation(Table *table, struct json_object *row, bool whole)
{
    Bytes token = value_bytes(row, "token"), name = value_bytes(row, "name");

    table_add_bytes(table, STYLE_STRONG, token.data, token.size);
    table_add_bytes(table, STYLE_PLAIN, name.data, name.size);
    add_state(table, row);
    add_memory(table, value_array(row, "memory"));
    if (whole)
        table_add(table, STYLE_PLAIN, display_size(value_u64(row, "overhead")).text);
}

void render_reservations(struct json_object *rows, bool whole, const Screen *screen, unsigned width, Text *to)
{
    static const Column brief_columns[] = {
        {.head = "RESERVED", .min = 8},
        {.head = "NAME", .min = 8, .max = 40},
        {.head = "STATE"},
        {.head = "MEMORY", .min = 12, .separator = ' '},
    };
    static const Column whole_columns[] = {
        {.head = "TOKEN"},
        {.head = "NAME", .min = 8, .max = 40},
        {.head = "STATE"},
        {.head = "MEMORY", .min = 8, .separator = ' '},
        {.head = "XEN", .right = true, .drop = 1},
    };
    _cleanup_(table_free_p) Table *table =
        whole ? table_new(whole_columns, ARRAY_SIZE(whole_columns), screen->ascii_names)
              : table_new(brief_columns, ARRAY_SIZE(brief_columns), screen->ascii_names);

    if (!table) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < value_count(rows); i++)
        add_reservation(table, value_at(rows, i), whole);
    table_print(table, screen, width, to);
}
