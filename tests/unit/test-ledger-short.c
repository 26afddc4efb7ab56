/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/ledger-file.h"
#include "tests/unit/ledger.h"

/*
 * Memory that runs short: each allocation of each operation fails once (the linker's --wrap), and the ledger is as it
 * was, with nothing lost (under the sanitizers) and nothing new.
 */

static unsigned long fail_at, n_calls; /* 0: none fails */

static bool fails(void)
{
    return fail_at > 0 && ++n_calls == fail_at;
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

static const LedgerOrigin origin = {.boot_id = "boot", .host = "xen"};

/* What an operation works on and what it gives. */
typedef struct Trial {
    Ledger *ledger;
    HostMemory *memory;
    Reservation *reservation;
    char *text; /* of the ledger */
    size_t size;
    Ledger *new;
    LedgerEnd *ends;
    size_t n_ends;
    char *written, *why;
} Trial;

static int try_promise(Trial *t)
{
    Reservation *r = try_promise_of(5, 'e', "five", 1000);

    reservation_unref(r);
    return r ? 0 : -ENOMEM;
}

static int try_add(Trial *t)
{
    return ledger_add(t->ledger, t->reservation, t->memory, &t->new);
}

static int try_commit(Trial *t)
{
    return ledger_commit(t->ledger, token_of(1), 3, t->memory, &t->new);
}

/* The domain is another's. */
static int try_commit_moved(Trial *t)
{
    return ledger_commit(t->ledger, token_of(2), 4, t->memory, &t->new);
}

static int try_release(Trial *t)
{
    return ledger_release(t->ledger, token_of(1), &t->new);
}

static int try_reconcile(Trial *t)
{
    return ledger_reconcile(t->ledger, t->memory, 2000, &t->new, &t->ends, &t->n_ends);
}

static int try_write(Trial *t)
{
    size_t size = 0;

    return ledger_write(t->ledger, &origin, &t->written, &size);
}

static int try_read(Trial *t)
{
    return ledger_read(t->text, t->size, &origin, &t->new, &t->why);
}

static int try_new(Trial *t)
{
    t->new = ledger_new();
    return t->new ? 0 : -ENOMEM;
}

/* Whether the n-th allocation was come to. */
static bool fail_once(int (*operation)(Trial *t), unsigned long n, Ledger *ledger)
{
    const Dom doms[] = {{.domid = 3, .uuid = 'a'}, {.domid = 4, .uuid = 'b', .name = "web"}};
    Trial t = {.ledger = ledger, .memory = host_of(2, doms), .reservation = promise_of(77, 'z', "new", 5)};
    bool failed;
    int r;

    assert_int_equal(ledger_write(ledger, &origin, &t.text, &t.size), 0);
    n_calls = 0;
    fail_at = n;
    r = operation(&t);
    failed = n_calls >= n;
    fail_at = 0;
    assert_int_equal(r, failed ? -ENOMEM : 0);
    if (failed) {
        assert_null(t.new);
        assert_null(t.written);
        assert_null(t.ends);
        assert_int_equal(t.n_ends, 0);
    }
    ledger_unref(t.new);
    free(t.ends);
    free(t.text);
    free(t.written);
    free(t.why);
    reservation_unref(t.reservation);
    host_memory_free(t.memory);
    return failed;
}

static void test_short(void **state)
{
    int (*const operations[])(Trial * t) = {try_new,     try_promise,   try_add,   try_commit, try_commit_moved,
                                            try_release, try_reconcile, try_write, try_read};
    const Dom web = {.domid = 4, .uuid = 'b', .name = "web"};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    add(&ledger, 9, 0, NULL, EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, EMPTY_HOST, 1000), "9");
    add(&ledger, 1, 'a', "one", EMPTY_HOST);
    add(&ledger, 2, 0, NULL, EMPTY_HOST);
    add(&ledger, 3, 0, "web", EMPTY_HOST);
    assert_string_equal(reconcile(&ledger, HOST(web), 1), "");
    for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
        unsigned long n = 1;

        while (fail_once(operations[i], n, ledger)) {
            assert_ledger(ledger, "1p 2p 3b4 x9");
            n++;
        }
        assert_true(n > 1); /* each takes memory */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
