/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/ledger-file.h"
#include "lib/core/text.h"
#include "tests/unit/ledger.h"

static const LedgerOrigin origin = {.boot_id = "11111111-2222-3333-4444-555555555555", .host = "xen"};

static char *write_text(const Ledger *ledger, size_t *ret_size)
{
    char *text = NULL;

    assert_int_equal(ledger_write(ledger, &origin, &text, ret_size), 0);
    assert_int_equal(strlen(text), *ret_size);
    return text;
}

/* One of each state, with all that can be told and without. */
static Ledger *some_ledger(void)
{
    const Dom doms[] = {{.domid = 3, .uuid = 'a'},
                        {.domid = 4, .uuid = 'b', .name = "db \"\\\x01\xff"},
                        {.domid = 5},
                        {.domid = 6, .uuid = 'c'}};
    Ledger *ledger = ledger_new();

    add(&ledger, 9, 0, NULL, EMPTY_HOST);
    (void)reconcile(&ledger, EMPTY_HOST, 1000);
    add(&ledger, 1, 'a', "web", EMPTY_HOST);
    add(&ledger, 2, 0, doms[1].name, EMPTY_HOST);
    add(&ledger, 3, 0, NULL, EMPTY_HOST);
    add(&ledger, 4, 'c', NULL, HOST(doms[3]));
    add(&ledger, 5, 'd', NULL, EMPTY_HOST);
    (void)reconcile(&ledger, host_of(4, doms), 1);
    assert_int_equal(commit(&ledger, 1, 3, host_of(4, doms)), 0);
    assert_int_equal(commit(&ledger, 3, 5, host_of(4, doms)), 0);
    assert_ledger(ledger, "1c3 2b4 3c5 4p!6 5p x9");
    return ledger;
}

static void test_text(void **state)
{
    static const char wanted[] =
        "{\"format\":\"numad-xen-ledger/1\",\"boot_id\":\"11111111-2222-3333-4444-555555555555\",\"host\":\"xen\",\n"
        "\"expired\":[\"00000000000000000000000000000009\"],\"reservations\":[\n"
        "{\"token\":\"00000000000000000000000000000001\",\"state\":\"committed\",\"uid\":1000,\"placed_us\":7,"
        "\"expires_us\":1000,\"domid\":3,\"not_domid\":null,\"not_uuid\":null,\"name\":\"web\",\"told_uuid\":true,"
        "\"uuid\":\"61616161-6161-6161-6161-616161616161\",\"type\":null,\"pool\":0,\"max_memory\":1073741824,"
        "\"vcpus\":2,\"strict\":false,\"memory\":[[0,1073741824,1048576]],\"sets\":[],\"runs\":[]},\n";
    static const char open[] = "\"memory\":[[0,1073741824,1048576]],\"sets\":[\"0-7\",\"0-3\"],\"runs\":[[2,0,1]]}";
    _cleanup_(ledger_unref_p) Ledger *ledger = some_ledger();
    size_t size = 0;
    _cleanup_free_ char *text = write_text(ledger, &size);

    assert_memory_equal(text, wanted, sizeof(wanted) - 1);
    assert_non_null(strstr(text, open));
}

static void check_same_sets(const PlacedSets *a, const PlacedSets *b)
{
    assert_true(!a == !b);
    if (!a)
        return;
    assert_int_equal(a->n_texts, b->n_texts);
    for (size_t i = 0; i < a->n_texts; i++)
        assert_string_equal(a->texts[i], b->texts[i]);
    assert_int_equal(a->n_runs, b->n_runs);
    assert_memory_equal(a->runs, b->runs, a->n_runs * sizeof(a->runs[0]));
}

static void check_same(const Reservation *a, const Reservation *b)
{
    assert_string_equal(a->token, b->token);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->uid, b->uid);
    assert_true(a->placed_us == b->placed_us && a->expires_us == b->expires_us);
    assert_int_equal(a->domid, b->domid);
    assert_int_equal(a->not_domid, b->not_domid);
    assert_true(a->has_not_uuid == b->has_not_uuid && a->told_uuid == b->told_uuid && a->has_uuid == b->has_uuid);
    assert_memory_equal(a->uuid, b->uuid, 16);
    assert_memory_equal(a->not_uuid, b->not_uuid, 16);
    assert_true((a->name == NULL) == (b->name == NULL) && (!a->name || strcmp(a->name, b->name) == 0));
    assert_true(a->vcpus == b->vcpus && a->strict == b->strict);
    assert_true(a->type == b->type && a->pool == b->pool && a->max_memory == b->max_memory);
    check_same_sets(a->sets, b->sets);
    assert_int_equal(a->n_memory, b->n_memory);
    for (size_t i = 0; i < a->n_memory; i++) {
        assert_int_equal(a->memory[i].node, b->memory[i].node);
        assert_int_equal(a->memory[i].bytes, b->memory[i].bytes);
        assert_int_equal(a->memory[i].overhead, b->memory[i].overhead);
    }
}

static void test_round_trip(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = some_ledger(), *same = NULL;
    size_t size = 0, size_again = 0;
    _cleanup_free_ char *text = NULL, *again = NULL, *why = NULL;
    Reservation *r = (Reservation *)(void *)ledger->items[4];

    r->strict = true;
    r->type = DOMAIN_TYPE_PVH;
    r->pool = ROW_NO_POOL - 1;
    r->max_memory = REQUEST_MEMORY_MAX;
    r->placed_us = -1;
    r->expires_us = UINT64_MAX;
    r->memory[0] = (PlacedMemory){.node = NODES_MAX - 1, .bytes = REQUEST_MEMORY_MAX, .overhead = 0};
    text = write_text(ledger, &size);
    assert_int_equal(ledger_read(text, size, &origin, &same, &why), 0);
    assert_null(why);
    assert_ledger(same, "1c3 2b4 3c5 4p!6 5p x9");
    for (size_t i = 0; i < ledger->n; i++)
        check_same(ledger->items[i], same->items[i]);
    assert_ptr_equal(ledger_find_domain(same, 4), same->items[1]);
    again = write_text(same, &size_again);
    assert_string_equal(text, again);
}

static void test_empty(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new(), *same = NULL;
    size_t size = 0;
    _cleanup_free_ char *text = write_text(ledger, &size), *why = NULL;

    assert_int_equal(ledger_read(text, size, &origin, &same, &why), 0);
    assert_ledger(same, "");
}

static void test_foreign(void **state)
{
    static const struct {
        LedgerOrigin origin;
        const char *why;
    } cases[] = {
        {{.boot_id = "another", .host = "xen"},
         "is of another boot, 11111111-2222-3333-4444-555555555555: 5 reservations dropped"},
        {{.boot_id = "11111111-2222-3333-4444-555555555555", .host = "/h.json"},
         "is of another host, xen: 5 reservations dropped"},
    };
    _cleanup_(ledger_unref_p) Ledger *ledger = some_ledger();
    size_t size = 0;
    _cleanup_free_ char *text = write_text(ledger, &size);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ char *why = NULL;
        Ledger *none = NULL;

        assert_int_equal(ledger_read(text, size, &cases[i].origin, &none, &why), LEDGER_FILE_E_FOREIGN);
        assert_string_equal(why, cases[i].why);
        assert_null(none);
    }
}

/* --- damage --- */

#define HEAD "{\"format\":\"numad-xen-ledger/1\",\"boot_id\":\"11111111-2222-3333-4444-555555555555\",\"host\":\"xen\","
#define TOKEN "0123456789abcdef0123456789abcdef"
#define OTHER "0123456789abcdef0123456789abcdee"
#define UUID "61616161-6161-6161-6161-616161616161"
#define GOOD                                                                                                          \
    "{\"token\":\"" TOKEN "\",\"state\":\"pending\",\"uid\":0,\"placed_us\":7,\"expires_us\":9,\"domid\":null,"       \
    "\"not_domid\":null,\"not_uuid\":null,\"name\":\"web\",\"told_uuid\":true,\"uuid\":\"" UUID "\",\"type\":\"pv\"," \
    "\"pool\":1,\"max_memory\":8192,\"vcpus\":2,\"strict\":false,\"memory\":[[0,4096,0],[1,4096,0]],"                 \
    "\"sets\":[\"0-3\",\"4\"],\"runs\":[[1,0,0],[1,0,1]]}"

/* GOOD with `from` replaced by `to`, in a ledger with what else is `beside` it. */
static char *spoil(const char *from, const char *to, const char *beside)
{
    Text text = {0};
    const char *at = strstr(GOOD, from);
    char *string = NULL;

    assert_non_null(at);
    text_add(&text, HEAD "\"expired\":[\"" OTHER "\"],\"reservations\":[");
    text_add_bytes(&text, GOOD, (size_t)(at - GOOD));
    text_add(&text, to);
    text_add(&text, at + strlen(from));
    text_add(&text, beside);
    text_add(&text, "]}");
    assert_int_equal(text_take(&text, &string, NULL), 0);
    return string;
}

static void test_refused(void **state)
{
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"pending", "pending", NULL},
        {TOKEN, "x", "reservations[0].token: is no token of 32 hexadecimal digits"},
        {TOKEN, "0123456789ABCDEF0123456789abcdef", "reservations[0].token: is no token of 32 hexadecimal digits"},
        {TOKEN, TOKEN "0", "reservations[0].token: is no token of 32 hexadecimal digits"},
        {TOKEN, OTHER, "token " OTHER " is there twice"},
        {"\"" TOKEN "\"", "7", "reservations[0].token: must be a text"},
        {"\"strict\":false,", "", "reservations[0].strict: is missing"},
        {"\"strict\":false", "\"strict\":null", "reservations[0].strict: must be true or false"},
        {"\"strict\":false", "\"strict\":0", "reservations[0].strict: must be true or false"},
        {"\"strict\"", "\"more\":1,\"strict\"", "reservations[0].more: unknown key"},
        {"\"strict\"", "\"uid\":0,\"strict\"", "reservations[0].uid: is there twice"},
        {"pending", "Pending", "reservations[0].state: is none of pending, building, committed"},
        {"pending", "building", "reservations[0]: is building and has no domain"},
        {"\"domid\":null", "\"domid\":3", "reservations[0]: is pending and has a domain"},
        {"\"domid\":null", "\"domid\":32752", "reservations[0].domid: is 32752, above 32751"},
        {"\"pending\",\"uid\":0,\"placed_us\":7,\"expires_us\":9,\"domid\":null,\"not_domid\":null",
         "\"building\",\"uid\":0,\"placed_us\":7,\"expires_us\":9,\"domid\":3,\"not_domid\":4",
         "reservations[0]: waits for another domain than its own"},
        {"\"not_uuid\":null", "\"not_uuid\":\"" UUID "\"", "reservations[0]: has a UUID of no domain"},
        {"\"not_uuid\":null", "\"not_uuid\":\"6161\"", "reservations[0].not_uuid: is not a UUID"},
        {"\"told_uuid\":true", "\"told_uuid\":false", "reservations[0]: has a UUID, which does not go with told_uuid"},
        {"\"uuid\":\"" UUID "\"", "\"uuid\":null", "reservations[0]: has no UUID, which does not go with told_uuid"},
        {"\"uid\":0", "\"uid\":-1", "reservations[0].uid: must be a whole number from 0 to 4294967294"},
        {"\"uid\":0", "\"uid\":4294967295", "reservations[0].uid: is 4294967295, above 4294967294"},
        {"\"uid\":0", "\"uid\":null", "reservations[0].uid: must be a whole number from 0 to 4294967294"},
        {"\"placed_us\":7", "\"placed_us\":9223372036854775808",
         "reservations[0].placed_us: is 9223372036854775808, above 9223372036854775807"},
        {"\"expires_us\":9", "\"expires_us\":9.5",
         "reservations[0].expires_us: must be a whole number from 0 to 18446744073709551615"},
        {"\"expires_us\":9", "\"expires_us\":null",
         "reservations[0].expires_us: must be a whole number from 0 to 18446744073709551615"},
        {"\"vcpus\":2", "\"vcpus\":0", "reservations[0].vcpus: is 0"},
        {"\"vcpus\":2", "\"vcpus\":8193", "reservations[0].vcpus: is 8193, above 8192"},
        {"\"web\"", "\"\"", "reservations[0].name: must have from 1 to 255 bytes"},
        {"\"web\"", "\"a\\u0000b\"", "reservations[0].name: holds a zero byte"},
        {"[[0,4096,0],[1,4096,0]]", "[]", "reservations[0].memory: is empty"},
        {"[[0,4096,0],[1,4096,0]]", "null", "reservations[0].memory: must be an array"},
        {"[0,4096,0]", "[0,4096]", "reservations[0].memory[0]: must be node, bytes and overhead"},
        {"[0,4096,0]", "[0,4096,0,0]", "reservations[0].memory[0]: has 4 elements, more than 3"},
        {"[0,4096,0]", "[1,4096,0]", "reservations[0].memory[1]: nodes must ascend"},
        {"[1,4096,0]", "[1024,4096,0]", "reservations[0].memory[1][0]: is 1024, above 1023"},
        {"[1,4096,0]", "[1,72057594037927937,0]",
         "reservations[0].memory[1][1]: is 72057594037927937, above 72057594037927936"},
        {"[1,4096,0]", "[1,4096,72057594037927937]",
         "reservations[0].memory[1][2]: is 72057594037927937, above 72057594037927936"},
        {"[1,4096,0]", "[1,\"4096\",0]",
         "reservations[0].memory[1][1]: must be a whole number from 0 to 72057594037927936"},
        {"[1,4096,0]", "[1,[4096],0]", "not JSON: line 1, column 466: nested too deep"},
        {"\"pv\"", "\"PV\"", "reservations[0].type: is none of pv, pvh, hvm"},
        {"\"pv\"", "null", NULL},
        {"\"pv\"", "1", "reservations[0].type: must be a text"},
        {"\"pool\":1", "\"pool\":4294967295", "reservations[0].pool: is 4294967295, above 4294967294"},
        {"\"pool\":1", "\"pool\":null", "reservations[0].pool: must be a whole number from 0 to 4294967294"},
        {"\"max_memory\":8192", "\"max_memory\":8191", "reservations[0].max_memory: is less than its memory"},
        {"\"max_memory\":8192", "\"max_memory\":72057594037927937",
         "reservations[0].max_memory: is 72057594037927937, above 72057594037927936"},
        {"\"max_memory\":8192", "\"max_memory\":null",
         "reservations[0].max_memory: must be a whole number from 0 to 72057594037927936"},
        {"[\"0-3\",\"4\"]", "null", "reservations[0].sets: must be an array"},
        {"[\"0-3\",\"4\"]", "[\"0-3\"]", "reservations[0].runs: name 2 sets of 1"},
        {"[\"0-3\",\"4\"]", "[\"0-3\",\"4\",\"5\"]", "reservations[0].runs: name 2 sets of 3"},
        {"[\"0-3\",\"4\"]", "[\"0-3\",4]", "reservations[0].sets[1]: must be a text"},
        {"[\"0-3\",\"4\"]", "[\"0-3\",\"\"]", "reservations[0].sets[1]: is no list of CPUs as \"0-3,8\""},
        {"[\"0-3\",\"4\"]", "[\"3-0\",\"4\"]", "reservations[0].sets[0]: is no list of CPUs as \"0-3,8\""},
        {"[\"0-3\",\"4\"]", "[\"0-3\",\"x\"]", "reservations[0].sets[1]: is no list of CPUs as \"0-3,8\""},
        {"[\"0-3\",\"4\"]", "[\"0-8192\",\"4\"]", "reservations[0].sets[0]: names a CPU above 8191"},
        {"[\"0-3\",\"4\"]", "[\"0,1-2,3\",\"4\"]", NULL},
        {"[[1,0,0],[1,0,1]]", "[]", "reservations[0].runs: have 0 vCPUs, not 2"},
        {"[[1,0,0],[1,0,1]]", "{}", "reservations[0].runs: must be an array"},
        {"[1,0,0]", "[1,0]", "reservations[0].runs[0]: must be vCPUs, hard and soft set"},
        {"[1,0,0]", "[1,0,0,0]", "reservations[0].runs[0]: has 4 elements, more than 3"},
        {"[1,0,0]", "1", "reservations[0].runs[0]: must be an array"},
        {"[1,0,0]", "[0,0,0]", "reservations[0].runs[0]: has no vCPU"},
        {"[1,0,0]", "[2,0,0]", "reservations[0].runs: have 3 vCPUs, not 2"},
        {"[1,0,0]", "[8193,0,0]", "reservations[0].runs[0][0]: is 8193, above 8192"},
        {"[1,0,0]", "[1,1,0]", "reservations[0].runs[0][1]: is 1, above 0"},
        {"[1,0,0]", "[1,0,2]", "reservations[0].runs[0][2]: is 2, above 1"},
        {"[1,0,1]", "[1,0,0]", "reservations[0].runs[1]: has the sets of the one before"},
        {"[1,0,1]", "[1,0,-1]", "reservations[0].runs[1][2]: must be a whole number from 0 to 1"},
        {"[1,0,1]", "[1,0,1],[0,0,0]", "reservations[0].runs[2]: has no vCPU"},
        {",\"runs\":[[1,0,0],[1,0,1]]", "", "reservations[0].runs: is missing"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ char *text = spoil(cases[i].from, cases[i].to, ""), *why = NULL;
        _cleanup_(ledger_unref_p) Ledger *ledger = NULL;
        int r = ledger_read(text, strlen(text), &origin, &ledger, &why);

        if (r != (cases[i].why ? LEDGER_FILE_E_REFUSED : 0))
            fail_msg("%s: %d", cases[i].to, r);
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
    }
}

static void test_refused_whole(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "not JSON: line 1, column 1: the text ends too early"},
        {"null", "must be an object"},
        {"[]", "must be an object"},
        {HEAD "\"expired\":[],\"reservations\":[],\"x\":1}", "x: unknown key"},
        {HEAD "\"expired\":[]}", "reservations: is missing"},
        {HEAD "\"expired\":null,\"reservations\":[]}", "expired: must be an array"},
        {HEAD "\"expired\":[],\"reservations\":{}}", "reservations: must be an array"},
        {HEAD "\"expired\":[],\"reservations\":[null]}", "reservations[0]: must be an object"},
        {HEAD "\"expired\":[\"" TOKEN "\",\"" TOKEN "\"],\"reservations\":[]}", "token " TOKEN " is there twice"},
        {HEAD "\"expired\":[1],\"reservations\":[]}", "expired[0]: must be a text"},
        {"{\"format\":\"numad-xen-ledger/2\",\"boot_id\":\"b\",\"host\":\"xen\",\"expired\":[],\"reservations\":[]}",
         "format: is not numad-xen-ledger/1"},
        {"{\"format\":1,\"boot_id\":\"b\",\"host\":\"xen\",\"expired\":[],\"reservations\":[]}",
         "format: must be a text"},
        {"{\"format\":\"numad-xen-ledger/1\",\"boot_id\":null,\"host\":\"xen\",\"expired\":[],\"reservations\":[]}",
         "boot_id: must be a text"},
        {HEAD "\"expired\":[],\"reservations\":[]}x", "not JSON: line 1, column 125: something follows the document"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ char *why = NULL;
        Ledger *none = NULL;

        if (ledger_read(cases[i].text, strlen(cases[i].text), &origin, &none, &why) != LEDGER_FILE_E_REFUSED)
            fail_msg("%s was taken", cases[i].text);
        assert_string_equal(why, cases[i].why);
        assert_null(none);
    }
}

static void test_two_of_a_domain(void **state)
{
    _cleanup_free_ char *why = NULL, *text = NULL;
    Ledger *none = NULL;
    const char *second =
        ",{\"token\":\"00000000000000000000000000000001\",\"state\":\"committed\",\"uid\":0,\"placed_us\":7,"
        "\"expires_us\":9,\"domid\":3,\"not_domid\":null,\"not_uuid\":null,\"name\":null,\"told_uuid\":false,"
        "\"uuid\":null,\"type\":null,\"pool\":0,\"max_memory\":4096,\"vcpus\":2,\"strict\":false,"
        "\"memory\":[[0,4096,0]],\"sets\":[],\"runs\":[]}";

    text = spoil("\"pending\",\"uid\":0,\"placed_us\":7,\"expires_us\":9,\"domid\":null",
                 "\"building\",\"uid\":0,\"placed_us\":7,\"expires_us\":9,\"domid\":3", second);
    assert_int_equal(ledger_read(text, strlen(text), &origin, &none, &why), LEDGER_FILE_E_REFUSED);
    assert_string_equal(why, "domain 3 has two reservations");
}

static void test_cut(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = some_ledger();
    size_t size = 0;
    _cleanup_free_ char *text = write_text(ledger, &size);

    for (size_t n = 0; n < size - 1; n++) { /* but for the line's end */
        _cleanup_free_ char *why = NULL, *cut = malloc(n ? n : 1);
        Ledger *none = NULL;

        memcpy(cut, text, n); /* a piece of its own, so that a read behind it is seen */
        if (ledger_read(cut, n, &origin, &none, &why) != LEDGER_FILE_E_REFUSED)
            fail_msg("%zu bytes of %zu were taken", n, size);
        assert_non_null(why);
    }
}

/* A committed one has no sets, and none of an open one may be missing. */
static void test_sets_of_state(void **state)
{
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"\"sets\":[]", "\"sets\":[\"0\"]", "reservations[0].sets: has 1 elements, more than 0"},
        {"\"runs\":[]", "\"runs\":[[2,0,0]]", "reservations[0].runs: has 1 elements, more than 0"},
        {"committed", "building", "reservations[0].runs: have 0 vCPUs, not 2"},
    };
    _cleanup_(ledger_unref_p) Ledger *ledger = some_ledger();
    size_t size = 0;
    _cleanup_free_ char *text = write_text(ledger, &size);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ char *why = NULL, *spoilt = NULL;
        const char *at = strstr(text, cases[i].from);
        Ledger *none = NULL;

        assert_true(asprintf(&spoilt, "%.*s%s%s", (int)(at - text), text, cases[i].to, at + strlen(cases[i].from)) > 0);
        assert_int_equal(ledger_read(spoilt, strlen(spoilt), &origin, &none, &why), LEDGER_FILE_E_REFUSED);
        assert_string_equal(why, cases[i].why);
    }
}

/* A byte that is another one: refused, or another good ledger, which can be written and read. */
static unsigned flip(const char *text, size_t size, size_t at, unsigned char mask)
{
    _cleanup_free_ char *why = NULL, *flipped = malloc(size), *again = NULL;
    _cleanup_(ledger_unref_p) Ledger *ledger = NULL, *same = NULL;
    size_t size_again = 0;
    int r;

    memcpy(flipped, text, size);
    flipped[at] = (char)(flipped[at] ^ mask);
    r = ledger_read(flipped, size, &origin, &ledger, &why);
    assert_true(r == 0 || ((r == LEDGER_FILE_E_REFUSED || r == LEDGER_FILE_E_FOREIGN) && why && !ledger));
    if (r != 0)
        return 1;
    again = write_text(ledger, &size_again);
    free(why);
    why = NULL;
    assert_int_equal(ledger_read(again, size_again, &origin, &same, &why), 0);
    return 0;
}

static void test_flipped(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = some_ledger();
    size_t size = 0;
    _cleanup_free_ char *text = write_text(ledger, &size);
    size_t n_refused = 0;

    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < 8; bit++)
            n_refused += flip(text, size, i, (unsigned char)(1u << bit));
    for (size_t i = 0; i < size; i++)
        n_refused += flip(text, size, i, 0xff);
    assert_true(n_refused > 6 * size); /* most: the rest are other digits and letters of a name */
}

/* --- bounds --- */

static void test_too_large(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();
    _cleanup_free_ char *why = NULL;
    Reservation *r = promise_of(1, 0, NULL, 1);
    char *text = NULL;
    size_t size = 0;
    Ledger *none = NULL;

    ledger->items = new_array(LEDGER_FILE_ENTRIES_MAX + 1, sizeof(*ledger->items));
    for (; ledger->n < LEDGER_FILE_ENTRIES_MAX + 1; ledger->n++)
        ledger->items[ledger->n] = reservation_ref(r);
    reservation_unref(r);
    assert_int_equal(ledger_write(ledger, &origin, &text, &size), -EFBIG);
    assert_null(text);
    assert_int_equal(ledger_read("", (size_t)LEDGER_FILE_MAX + 1, &origin, &none, &why), LEDGER_FILE_E_REFUSED);
    assert_string_equal(why, "is larger than 67108864 bytes");
}

/* Of each vCPU two sets of its own. */
static PlacedSets *many_sets(uint32_t n)
{
    PlacedSets *sets = placed_sets_blank((size_t)2 * n, n);

    assert_non_null(sets);
    for (uint32_t i = 0; i < n; i++) {
        sets->runs[i] = (PlacedRun){.n = 1, .hard = 2 * i, .soft = 2 * i + 1};
        assert_true(asprintf(&sets->texts[2 * i], "%u", i) > 0);
        assert_true(asprintf(&sets->texts[2 * i + 1], "%u", i) > 0);
    }
    return sets;
}

/* As many nodes and sets as there can be, as many reservations as make the file too large. */
static void test_many_nodes(void **state)
{
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new(), *same = NULL;
    _cleanup_free_ char *text = NULL, *why = NULL;
    Reservation *r = reservation_blank(NODES_MAX);
    size_t size = 0;

    memcpy(r->token, token_of(1), TOKEN_SIZE);
    r->vcpus = REQUEST_VCPUS_MAX;
    r->max_memory = REQUEST_MEMORY_MAX;
    r->sets = many_sets(REQUEST_VCPUS_MAX);
    for (nodeid_t i = 0; i < NODES_MAX; i++)
        r->memory[i] =
            (PlacedMemory){.node = i, .bytes = REQUEST_MEMORY_MAX / NODES_MAX, .overhead = REQUEST_MEMORY_MAX};
    ledger->items = new_array(4096, sizeof(*ledger->items));
    ledger->items[ledger->n++] = r;
    assert_int_equal(ledger_write(ledger, &origin, &text, &size), 0);
    assert_int_equal(ledger_read(text, size, &origin, &same, &why), 0);
    check_same(r, same->items[0]);
    for (; ledger->n < 4096; ledger->n++)
        ledger->items[ledger->n] = reservation_ref(r);
    free(text);
    text = NULL;
    assert_int_equal(ledger_write(ledger, &origin, &text, &size), -EFBIG);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_whole),
        cmocka_unit_test(test_two_of_a_domain),
        cmocka_unit_test(test_sets_of_state),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_many_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
