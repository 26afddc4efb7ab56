/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger-file.h"
#include "ledger-parts.h"
#include "text.h"
#include "uuid.h"

#include <string.h>

/*
 * Nothing is taken that ledger_write() would not have written, but for the white space and the order of keys: what is
 * left out, is named twice, does not go together or is out of range is damage, and damage anywhere means that the rest
 * cannot be trusted either.
 */

#define MAX_DEPTH 5
#define MAX_BYTES REQUEST_MEMORY_MAX

static const char *const top_keys[] = {"format", "boot_id", "host", "expired", "reservations", NULL};
static const char *const reservation_keys[] = {"token",  "state",     "uid",      "placed_us",  "expires_us",
                                               "domid",  "not_domid", "not_uuid", "name",       "told_uuid",
                                               "uuid",   "type",      "pool",     "max_memory", "vcpus",
                                               "strict", "memory",    "sets",     "runs",       NULL};

/* An object of all of these keys and no others. */
static int check_keys(JsonReader *reader, const JsonPath *path, json_object *object, const char *const *keys)
{
    int r = json_check_object(reader, path, object, keys);

    for (; r == 0 && *keys; keys++)
        if (!json_object_object_get_ex(object, *keys, NULL))
            r = json_refuse(reader, &(JsonPath){.up = path, .key = *keys}, "is missing");
    return r;
}

/* --- values --- */

/* As json_get_u32(), of a number that has to be there. */
static int read_u32(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, uint32_t max,
                    uint32_t *ret)
{
    uint64_t number = 0;
    int r = json_read_u64(reader, &(JsonPath){.up = up, .key = key}, json_member(object, key), max, &number);

    *ret = (uint32_t)number;
    return r;
}

static int read_bool(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, bool *ret)
{
    if (!json_member(object, key))
        return json_refuse(reader, &(JsonPath){.up = up, .key = key}, "must be true or false");
    return json_get_bool(reader, up, object, key, ret);
}

static int read_token(JsonReader *reader, const JsonPath *path, json_object *value, char ret[TOKEN_SIZE])
{
    const char *text = NULL;
    int r = json_read_string(reader, path, value, &text);

    if (r != 0)
        return r;
    if (!token_is_valid(text))
        return json_refuse(reader, path, "is no token of %d hexadecimal digits", TOKEN_SIZE - 1);
    memcpy(ret, text, TOKEN_SIZE);
    return 0;
}

/* null: there is none. */
static int read_uuid(JsonReader *reader, const JsonPath *up, json_object *object, const char *key, bool *ret_has,
                     uint8_t ret_uuid[16])
{
    const char *text = NULL;
    int r = json_get_string(reader, up, object, key, &text);

    if (r != 0 || !text)
        return r;
    *ret_has = uuid_from_text(text, ret_uuid);
    return *ret_has ? 0 : json_refuse(reader, &(JsonPath){.up = up, .key = key}, "is not a UUID");
}

static int read_name(JsonReader *reader, const JsonPath *up, json_object *object, char **ret)
{
    const char *text = NULL;
    int r = json_get_string(reader, up, object, "name", &text);

    if (r != 0 || !text)
        return r;
    if (!*text || strlen(text) > REQUEST_NAME_MAX)
        return json_refuse(reader, &(JsonPath){.up = up, .key = "name"}, "must have from 1 to %u bytes",
                           REQUEST_NAME_MAX);
    *ret = strdup(text);
    return *ret ? 0 : -ENOMEM;
}

static int read_state(JsonReader *reader, const JsonPath *up, json_object *object, ReservationState *ret)
{
    JsonPath path = {.up = up, .key = "state"};
    const char *text = NULL;
    int r = json_read_string(reader, &path, json_member(object, "state"), &text);

    if (r != 0)
        return r;
    for (*ret = 0; *ret < _RESERVATION_STATE_MAX; (*ret)++)
        if (strcmp(reservation_state_to_text(*ret), text) == 0)
            return 0;
    return json_refuse(reader, &path, "is none of pending, building, committed");
}

/* null: it was not told. */
static int read_type(JsonReader *reader, const JsonPath *up, json_object *object, DomainType *ret)
{
    const char *text = NULL;
    int r = json_get_string(reader, up, object, "type", &text);

    if (r != 0 || !text)
        return r;
    for (*ret = DOMAIN_TYPE_PV; *ret < _DOMAIN_TYPE_MAX; (*ret)++)
        if (strcmp(domain_type_to_text(*ret), text) == 0)
            return 0;
    return json_refuse(reader, &(JsonPath){.up = up, .key = "type"}, "is none of pv, pvh, hvm");
}

/* --- a reservation --- */

static int read_number(JsonReader *reader, const JsonPath *up, json_object *array, size_t index, uint64_t max,
                       uint64_t *ret)
{
    return json_read_u64(reader, &(JsonPath){.up = up, .index = index}, json_object_array_get_idx(array, index), max,
                         ret);
}

static int read_placed_memory(JsonReader *reader, const JsonPath *path, json_object *array, PlacedMemory *ret)
{
    uint64_t node = 0;
    int r = json_check_array(reader, path, array, 3);

    if (r == 0 && json_object_array_length(array) != 3)
        r = json_refuse(reader, path, "must be node, bytes and overhead");
    if (r == 0)
        r = read_number(reader, path, array, 0, NODES_MAX - 1, &node);
    if (r == 0)
        r = read_number(reader, path, array, 1, MAX_BYTES, &ret->bytes);
    if (r == 0)
        r = read_number(reader, path, array, 2, MAX_BYTES, &ret->overhead);
    ret->node = (nodeid_t)node;
    return r;
}

static int read_memory(JsonReader *reader, const JsonPath *path, json_object *array, Reservation *reservation)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < reservation->n_memory; i++) {
        JsonPath at = {.up = path, .index = i};

        r = read_placed_memory(reader, &at, json_object_array_get_idx(array, i), &reservation->memory[i]);
        if (r == 0 && i > 0 && reservation->memory[i].node <= reservation->memory[i - 1].node)
            r = json_refuse(reader, &at, "nodes must ascend");
    }
    return r;
}

/* What it says of itself must go together. */
static int check_state(JsonReader *reader, const JsonPath *path, const Reservation *r)
{
    bool pending = r->state == RESERVATION_PENDING;

    if (pending != (r->domid == DOMID_NONE))
        return json_refuse(reader, path, "is %s and has %s domain", reservation_state_to_text(r->state),
                           pending ? "a" : "no");
    if (!pending && r->not_domid != DOMID_NONE)
        return json_refuse(reader, path, "waits for another domain than its own");
    if (r->has_not_uuid && r->not_domid == DOMID_NONE)
        return json_refuse(reader, path, "has a UUID of no domain");
    if (r->told_uuid ? !r->has_uuid : pending && r->has_uuid)
        return json_refuse(reader, path, "has %s UUID, which does not go with told_uuid", r->has_uuid ? "a" : "no");
    return 0;
}

static int read_identity(JsonReader *reader, const JsonPath *path, json_object *object, Reservation *to)
{
    int r = read_token(reader, &(JsonPath){.up = path, .key = "token"}, json_member(object, "token"), to->token);

    if (r == 0)
        r = read_name(reader, path, object, &to->name);
    if (r == 0)
        r = read_bool(reader, path, object, "told_uuid", &to->told_uuid);
    if (r == 0)
        r = read_uuid(reader, path, object, "uuid", &to->has_uuid, to->uuid);
    if (r == 0)
        r = json_get_u32(reader, path, object, "domid", DOMAINS_MAX - 1, &to->domid);
    if (r == 0)
        r = json_get_u32(reader, path, object, "not_domid", DOMAINS_MAX - 1, &to->not_domid);
    if (r == 0)
        r = read_uuid(reader, path, object, "not_uuid", &to->has_not_uuid, to->not_uuid);
    return r;
}

static int read_numbers(JsonReader *reader, const JsonPath *path, json_object *object, Reservation *to)
{
    uint64_t placed_us = UINT64_MAX; /* null: -1 */
    int r = json_get_u64(reader, path, object, "placed_us", INT64_MAX, &placed_us);

    to->placed_us = (int64_t)placed_us;
    if (r == 0)
        r = json_read_u64(reader, &(JsonPath){.up = path, .key = "expires_us"}, json_member(object, "expires_us"),
                          UINT64_MAX, &to->expires_us);
    if (r == 0)
        r = read_u32(reader, path, object, "uid", UINT32_MAX - 1, &to->uid);
    if (r == 0)
        r = read_u32(reader, path, object, "vcpus", REQUEST_VCPUS_MAX, &to->vcpus);
    if (r == 0 && to->vcpus == 0)
        r = json_refuse(reader, &(JsonPath){.up = path, .key = "vcpus"}, "is 0");
    if (r == 0)
        r = read_bool(reader, path, object, "strict", &to->strict);
    if (r == 0)
        r = read_type(reader, path, object, &to->type);
    if (r == 0)
        r = read_u32(reader, path, object, "pool", ROW_NO_POOL - 1, &to->pool);
    if (r == 0)
        r = json_read_u64(reader, &(JsonPath){.up = path, .key = "max_memory"}, json_member(object, "max_memory"),
                          MAX_BYTES, &to->max_memory);
    return r;
}

static int read_reservation(JsonReader *reader, const JsonPath *path, json_object *object, Reservation **ret)
{
    _cleanup_(reservation_unref_p) Reservation *to = NULL;
    JsonPath memory_path = {.up = path, .key = "memory"};
    json_object *memory;
    int r = check_keys(reader, path, object, reservation_keys);

    memory = r == 0 ? json_member(object, "memory") : NULL;
    if (r == 0)
        r = json_check_array(reader, &memory_path, memory, NODES_MAX);
    if (r == 0 && json_object_array_length(memory) == 0)
        r = json_refuse(reader, &memory_path, "is empty");
    if (r != 0)
        return r;
    to = reservation_blank(json_object_array_length(memory));
    r = to ? read_identity(reader, path, object, to) : -ENOMEM;
    if (r == 0)
        r = read_state(reader, path, object, &to->state);
    if (r == 0)
        r = read_numbers(reader, path, object, to);
    if (r == 0)
        r = read_memory(reader, &memory_path, memory, to);
    if (r == 0 && reservation_total(to) > to->max_memory)
        r = json_refuse(reader, &(JsonPath){.up = path, .key = "max_memory"}, "is less than its memory");
    if (r == 0)
        r = check_state(reader, path, to);
    if (r == 0)
        r = ledger_read_sets(reader, path, object, to);
    if (r == 0)
        *ret = TAKE_PTR(to);
    return r;
}

/* --- the whole --- */

static int read_reservations(JsonReader *reader, json_object *top, Ledger *ledger)
{
    JsonPath path = {.key = "reservations"};
    json_object *array = json_member(top, "reservations");
    int r = json_check_array(reader, &path, array, LEDGER_FILE_ENTRIES_MAX);

    if (r != 0)
        return r;
    ledger->items = new_array(json_object_array_length(array), sizeof(*ledger->items));
    if (!ledger->items)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
        r = read_reservation(reader, &(JsonPath){.up = &path, .index = i}, json_object_array_get_idx(array, i),
                             &ledger->items[i]);
        ledger->n += r == 0;
    }
    return r;
}

static int read_expired(JsonReader *reader, json_object *top, Ledger *ledger)
{
    JsonPath path = {.key = "expired"};
    json_object *array = json_member(top, "expired");
    int r = json_check_array(reader, &path, array, LEDGER_EXPIRED_MAX);

    if (r != 0)
        return r;
    ledger->expired = new_array(json_object_array_length(array), sizeof(*ledger->expired));
    if (!ledger->expired)
        return -ENOMEM;
    for (; r == 0 && ledger->n_expired < json_object_array_length(array); ledger->n_expired++)
        r = read_token(reader, &(JsonPath){.up = &path, .index = ledger->n_expired},
                       json_object_array_get_idx(array, ledger->n_expired), ledger->expired[ledger->n_expired]);
    return r;
}

static int compare_tokens(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_tokens(JsonReader *reader, const Ledger *ledger)
{
    size_t n = 0;
    const char **tokens = new_array(ledger->n + ledger->n_expired, sizeof(*tokens));
    int r = 0;

    if (!tokens)
        return -ENOMEM;
    for (size_t i = 0; i < ledger->n; i++)
        tokens[n++] = ledger->items[i]->token;
    for (size_t i = 0; i < ledger->n_expired; i++)
        tokens[n++] = ledger->expired[i];
    qsort(tokens, n, sizeof(*tokens), compare_tokens);
    for (size_t i = 1; r == 0 && i < n; i++)
        if (strcmp(tokens[i - 1], tokens[i]) == 0)
            r = json_refuse(reader, NULL, "token %s is there twice", tokens[i]);
    free(tokens);
    return r;
}

static int check_domains(JsonReader *reader, const Ledger *ledger)
{
    for (size_t i = 1; i < ledger->n_placed; i++)
        if (ledger->placed[i - 1]->domid == ledger->placed[i]->domid)
            return json_refuse(reader, NULL, "domain %" PRIu32 " has two reservations", ledger->placed[i]->domid);
    return 0;
}

static int read_ledger(JsonReader *reader, json_object *top, Ledger **ret_ledger)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
    int r = ledger ? read_reservations(reader, top, ledger) : -ENOMEM;

    if (r == 0)
        r = read_expired(reader, top, ledger);
    if (r == 0)
        r = check_tokens(reader, ledger);
    if (r == 0)
        r = ledger_seal(ledger);
    if (r == 0)
        r = check_domains(reader, ledger);
    if (r == 0)
        *ret_ledger = TAKE_PTR(ledger);
    return r;
}

/* Of a text that is not looked at any further. */
static size_t count_reservations(json_object *top)
{
    json_object *array = json_member(top, "reservations");

    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

/* Whether it is of this format, and of this host and boot. */
static int check_origin(JsonReader *reader, json_object *top, const LedgerOrigin *origin)
{
    const char *format = NULL, *boot_id = NULL, *host = NULL;
    size_t n;
    int r = json_read_string(reader, &(JsonPath){.key = "format"}, json_member(top, "format"), &format);

    if (r == 0 && strcmp(format, "numad-xen-ledger/1") != 0)
        r = json_refuse(reader, &(JsonPath){.key = "format"}, "is not numad-xen-ledger/1");
    if (r == 0)
        r = json_read_string(reader, &(JsonPath){.key = "boot_id"}, json_member(top, "boot_id"), &boot_id);
    if (r == 0)
        r = json_read_string(reader, &(JsonPath){.key = "host"}, json_member(top, "host"), &host);
    if (r != 0)
        return r;
    n = count_reservations(top);
    if (strcmp(boot_id, origin->boot_id) != 0)
        r = json_refuse(reader, NULL, "is of another boot, %s: %zu reservation%s dropped", boot_id, n, plural(n));
    else if (strcmp(host, origin->host) != 0)
        r = json_refuse(reader, NULL, "is of another host, %s: %zu reservation%s dropped", host, n, plural(n));
    return r == JSON_E_REFUSED ? LEDGER_FILE_E_FOREIGN : r;
}

int ledger_read(const char *text, size_t size, const LedgerOrigin *origin, Ledger **ret_ledger, char **ret_why)
{
    JsonReader reader = {0};
    _cleanup_(json_object_putp) json_object *top = NULL;
    int r;

    *ret_why = NULL;
    if (size > LEDGER_FILE_MAX)
        r = json_refuse(&reader, NULL, "is larger than %u bytes", LEDGER_FILE_MAX);
    else
        r = json_parse(&reader, text, size, MAX_DEPTH, &top);
    if (r == 0)
        r = check_keys(&reader, NULL, top, top_keys);
    if (r == 0)
        r = check_origin(&reader, top, origin);
    if (r == 0)
        r = read_ledger(&reader, top, ret_ledger);
    *ret_why = reader.error;
    return r;
}
