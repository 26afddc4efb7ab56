/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/unit.h"
#include "tests/unit/xen-host.h"
#include "tests/unit/xen-oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Memory is short at every allocation of a collection, of sealing and of writing the documents: the collection fails
 * with -ENOMEM, or a call of it did and is warned of; nothing leaks, and the next collection is right. The linker hands
 * every allocation of the program's own objects to the functions below (--wrap).
 */

static struct {
    bool armed, once;
    unsigned skip; /* allocations that work before */
    unsigned n;    /* since it was armed */
    long live;     /* allocations not freed */
} memory;

static bool is_short(void)
{
    memory.n++;
    if (!memory.armed || memory.n <= memory.skip)
        return false;
    memory.armed = !memory.once;
    errno = ENOMEM;
    return true;
}

static void *counted(void *pointer)
{
    memory.live += pointer != NULL;
    return pointer;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void __real_free(void *pointer);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
int __wrap_vasprintf(char **ret_text, const char *format, va_list args);
int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args);
int __wrap_asprintf(char **ret_text, const char *format, ...);
int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...);
void __wrap_free(void *pointer);

void *__wrap_malloc(size_t size)
{
    return is_short() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_short() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (is_short())
        return NULL;
    return old ? __real_realloc(old, size) : counted(__real_realloc(old, size));
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
    if (is_short())
        return NULL;
    return old ? __real_reallocarray(old, n, size) : counted(__real_reallocarray(old, n, size));
}

char *__wrap_strdup(const char *text)
{
    return is_short() ? NULL : counted(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t n)
{
    return is_short() ? NULL : counted(__real_strndup(text, n));
}

int __wrap_vasprintf(char **ret_text, const char *format, va_list args)
{
    char *text;
    va_list copy;
    int n;

    if (is_short())
        return -1;
    va_copy(copy, args);
    n = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    text = counted(__real_malloc((size_t)n + 1));
    assert_non_null(text);
    vsnprintf(text, (size_t)n + 1, format, args);
    *ret_text = text;
    return n;
}

int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args)
{
    return __wrap_vasprintf(ret_text, format, args);
}

int __wrap_asprintf(char **ret_text, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = __wrap_vasprintf(ret_text, format, args);
    va_end(args);
    return n;
}

int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = __wrap_vasprintf(ret_text, format, args);
    va_end(args);
    return n;
}

void __wrap_free(void *pointer)
{
    memory.live -= pointer != NULL;
    __real_free(pointer);
}

static void make_short(unsigned skip, bool once)
{
    memory.armed = true;
    memory.once = once;
    memory.skip = skip;
    memory.n = 0;
}

/* --- collections --- */

#define GENERATIONS 3u

static void tell_twin(json_object *documents[GENERATIONS], bool patched)
{
    FakeXen *fake = xen_host_new(patched);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);

    for (unsigned i = 0; i < GENERATIONS; i++) {
        if (i == 1)
            xen_host_change(fake);
        documents[i] = oracle_collect(source, true);
        assert_non_null(documents[i]);
    }
}

static unsigned n_failed, n_warned, n_same;

/* Memory is short in generation `at` from allocation `skip` on. Whether it came to that. */
static bool run_short(json_object *twin[GENERATIONS], bool patched, unsigned at, unsigned skip, bool once)
{
    FakeXen *fake = xen_host_new(patched);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    json_object *documents;
    bool came_to_it;

    for (unsigned i = 0; i < at; i++)
        json_object_put(oracle_collect(source, true));
    if (at == 1)
        xen_host_change(fake);
    make_short(skip, once);
    documents = oracle_collect(source, true);
    memory.armed = false;
    came_to_it = memory.n > skip;
    if (!documents)
        n_failed++;
    else if (oracle_count_new_warnings(documents, twin[at]))
        n_warned++;
    else {
        oracle_equal(documents, twin[at]);
        n_same++;
    }
    json_object_put(documents);
    if (at == 0)
        xen_host_change(fake);
    documents = oracle_collect(source, true);
    assert_non_null(documents);
    oracle_equal(documents, twin[at + 1]);
    json_object_put(documents);
    return came_to_it;
}

static void test_short(void **state)
{
    bool patched = *state != NULL;
    json_object *twin[GENERATIONS];
    unsigned skip = 0;

    tell_twin(twin, patched);
    n_failed = n_warned = n_same = 0;
    for (unsigned at = 0; at < 2; at++)
        for (int once = 0; once < 2; once++)
            for (skip = 0;; skip++) {
                long live = memory.live;
                bool came_to_it = run_short(twin, patched, at, skip, once);

                assert_int_equal(memory.live, live);
                if (!came_to_it)
                    break;
            }
    print_message("# %u allocations: %u collections failed, %u warned, %u were as ever\n", skip, n_failed, n_warned,
                  n_same);
    assert_true(n_failed > 100);
    assert_in_range(n_warned, 1, n_failed / 4); /* in the calls themselves */
    assert_in_range(n_same, 4, 8);              /* when it did not come to it */
    for (unsigned i = 0; i < GENERATIONS; i++)
        json_object_put(twin[i]);
}

/* A reading for a decision gives it all, or -ENOMEM; a call that memory was short for is like any that fails. */
static void test_short_for_a_decision(void **state)
{
    FakeXen *fake = xen_host_new(true);
    _cleanup_(source_free_p) Source *source = fake_xen_source(fake);
    bool came_to_it = true;
    unsigned failed = 0, kept = 0;

    host_rows_free(fake_xen_collect(source, true));
    for (unsigned skip = 0; came_to_it; skip++) {
        long live = memory.live;
        HostMemory *read = NULL;
        int r;

        make_short(skip, true);
        r = source->ops->read_memory(source, &read);
        memory.armed = false;
        came_to_it = memory.n > skip;
        assert_int_equal(r == 0, read != NULL);
        assert_int_equal(r, came_to_it && !read ? -ENOMEM : 0);
        failed += r < 0;
        host_memory_free(read);
        kept += memory.live != live;
    }
    assert_in_range(failed, 8, 40);
    assert_in_range(kept, 0, 1); /* the buffer for records */
}

/* The source itself. */
static void test_short_at_start(void **state)
{
    for (unsigned skip = 0; skip < 2; skip++) {
        FakeXen *fake = fake_xen_new();
        Source *source = NULL;
        int r;

        make_short(skip, true);
        r = xen_source_new_on(&fake->calls, NULL, &source);
        memory.armed = false;
        assert_int_equal(r, skip == 0 ? -ENOMEM : 0);
        if (r < 0)
            xen_calls_free(&fake->calls); /* not taken over */
        else
            source_free(source);
    }
}

int main(void)
{
    static bool yes = true;
    const struct CMUnitTest tests[] = {
        {"test_short_on_stock_xen", test_short, NULL, NULL, NULL},
        {"test_short_on_patched_xen", test_short, NULL, NULL, &yes},
        cmocka_unit_test(test_short_for_a_decision),
        cmocka_unit_test(test_short_at_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
