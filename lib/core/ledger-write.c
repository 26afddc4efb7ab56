/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jsonwriter.h"
#include "ledger-file.h"
#include "uuid.h"

/*
 * A reservation a line, with all of its numbers and none of what can be derived. Memory is written as small arrays,
 * [node, bytes, overhead], and so are runs of vCPUs, [how many, hard, soft], which name sets by their place in `sets`:
 * objects would take a reader ten times as much of its own.
 */

static void write_uuid(JsonWriter *w, const char *key, bool has, const uint8_t uuid[16])
{
    char text[UUID_TEXT_SIZE];

    jsonw_string(w, key, has ? uuid_to_text(uuid, text) : NULL);
}

static void write_memory(JsonWriter *w, const Reservation *r)
{
    jsonw_begin(w, "memory", '[');
    for (size_t i = 0; i < r->n_memory; i++) {
        jsonw_begin(w, NULL, '[');
        jsonw_u64(w, NULL, r->memory[i].node);
        jsonw_u64(w, NULL, r->memory[i].bytes);
        jsonw_u64(w, NULL, r->memory[i].overhead);
        jsonw_end(w, ']');
    }
    jsonw_end(w, ']');
}

static void write_sets(JsonWriter *w, const PlacedSets *sets)
{
    jsonw_begin(w, "sets", '[');
    for (size_t i = 0; sets && i < sets->n_texts; i++)
        jsonw_string(w, NULL, sets->texts[i]);
    jsonw_end(w, ']');
    jsonw_begin(w, "runs", '[');
    for (size_t i = 0; sets && i < sets->n_runs; i++) {
        jsonw_begin(w, NULL, '[');
        jsonw_u64(w, NULL, sets->runs[i].n);
        jsonw_u64(w, NULL, sets->runs[i].hard);
        jsonw_u64(w, NULL, sets->runs[i].soft);
        jsonw_end(w, ']');
    }
    jsonw_end(w, ']');
}

static void new_line(JsonWriter *w)
{
    if (w->comma)
        text_add_bytes(&w->text, ",", 1);
    text_add_bytes(&w->text, "\n", 1);
    w->comma = false;
}

static void write_reservation(JsonWriter *w, const Reservation *r)
{
    new_line(w);
    jsonw_begin(w, NULL, '{');
    jsonw_string(w, "token", r->token);
    jsonw_string(w, "state", reservation_state_to_text(r->state));
    jsonw_u64(w, "uid", r->uid);
    jsonw_known(w, "placed_us", r->placed_us < 0 ? VALUE_UNKNOWN : (uint64_t)r->placed_us);
    jsonw_u64(w, "expires_us", r->expires_us);
    jsonw_id(w, "domid", r->domid);
    jsonw_id(w, "not_domid", r->not_domid);
    write_uuid(w, "not_uuid", r->has_not_uuid, r->not_uuid);
    jsonw_string(w, "name", r->name);
    jsonw_bool(w, "told_uuid", r->told_uuid);
    write_uuid(w, "uuid", r->has_uuid, r->uuid);
    jsonw_string(w, "type", domain_type_to_text(r->type));
    jsonw_u64(w, "pool", r->pool);
    jsonw_u64(w, "max_memory", r->max_memory);
    jsonw_u64(w, "vcpus", r->vcpus);
    jsonw_bool(w, "strict", r->strict);
    write_memory(w, r);
    write_sets(w, r->sets);
    jsonw_end(w, '}');
}

int ledger_write(const Ledger *ledger, const LedgerOrigin *origin, char **ret_text, size_t *ret_size)
{
    JsonWriter w = {0};
    int r;

    if (ledger->n > LEDGER_FILE_ENTRIES_MAX)
        return -EFBIG;
    jsonw_begin(&w, NULL, '{');
    jsonw_string(&w, "format", "numad-xen-ledger/1");
    jsonw_string(&w, "boot_id", origin->boot_id);
    jsonw_string(&w, "host", origin->host);
    new_line(&w);
    jsonw_begin(&w, "expired", '[');
    for (size_t i = 0; i < ledger->n_expired; i++)
        jsonw_string(&w, NULL, ledger->expired[i]);
    jsonw_end(&w, ']');
    jsonw_begin(&w, "reservations", '[');
    for (size_t i = 0; i < ledger->n; i++)
        write_reservation(&w, ledger->items[i]);
    jsonw_end(&w, ']');
    jsonw_end(&w, '}');
    text_add(&w.text, "\n");
    if (w.text.size <= LEDGER_FILE_MAX)
        return text_take(&w.text, ret_text, ret_size);
    r = w.text.failed ? -ENOMEM : -EFBIG;
    text_done(&w.text);
    return r;
}
