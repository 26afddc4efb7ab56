/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base64.h"
#include "hostdesc-parts.h"

/* The tables as bytes. One that is broken is what a real host may have; text that stands for no bytes is not. */

typedef struct Table {
    uint8_t *bytes; /* NULL: not known */
    size_t size;
} Table;

static void table_done(Table *table)
{
    free(table->bytes);
}

static int read_table(JsonReader *reader, json_object *top, const char *key, Table *table)
{
    const char *text = NULL;
    int r = json_get_string(reader, NULL, top, key, &text);

    if (r != 0 || !text)
        return r;
    r = base64_decode(text, &table->bytes, &table->size);
    return r == BASE64_E_INVALID ? json_refuse(reader, &(JsonPath){.key = key}, "is not base64") : r;
}

int hostdesc_read_firmware(JsonReader *reader, json_object *top, HostRows *rows)
{
    _cleanup_(table_done) Table srat = {0}, slit = {0};
    int r = read_table(reader, top, "srat", &srat);

    if (r == 0)
        r = read_table(reader, top, "slit", &slit);
    if (r != 0 || (!srat.bytes && !slit.bytes))
        return r;
    return firmware_new(srat.bytes, srat.size, slit.bytes, slit.size, &rows->firmware);
}
