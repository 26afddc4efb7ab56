/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/core/hostdesc.h"
#include "lib/core/status.h"

#include <json-c/json.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>

/*
 * Why documents are written by lib/core/jsonwriter and not as json-c trees: the status of a host of 1000 domains of
 * 4 vCPUs, written by the one, and by the other from a tree that is copied, printed and freed; CPU time of the least
 * of ten rounds, and the heap a tree takes.
 */

#define ROUNDS 10

static double now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static Snapshot *big_host(void)
{
    _cleanup_text_ Text text = {0};
    _cleanup_free_ char *error = NULL;
    Snapshot *snapshot = NULL;
    HostRows *rows = NULL;

    text_add(&text, "{\"format\":\"numad-xen-host/1\",\"features\":[\"node-pages\"],\"nodes\":[");
    for (unsigned i = 0; i < 8; i++)
        text_printf(&text, "%s{\"size\":68719476736,\"free\":1073741824,\"cpus\":\"%u-%u\"}", i ? "," : "", i * 32,
                    i * 32 + 31);
    text_add(&text, "],\"domains\":[");
    for (unsigned i = 0; i < 1000; i++)
        text_printf(&text,
                    "%s{\"domid\":%u,\"name\":\"guest%u\",\"node_pages\":[%u,0,0,9,0,0,0,0],\"vcpus\":[{},{},{},{}]}",
                    i ? "," : "", i, i, i + 1);
    text_add(&text, "]}");
    if (hostdesc_parse(text.data, text.size, &rows, &error) != 0 || snapshot_seal(rows, 1, -1, &snapshot) < 0)
        return NULL;
    return snapshot;
}

static double write_once(const Snapshot *snapshot)
{
    const Stats stats = {0};
    _cleanup_free_ char *text = NULL;
    double start = now_ms();

    return status_document(snapshot, &stats, &text) < 0 ? -1 : now_ms() - start;
}

static double tree_once(json_object *tree, size_t *ret_heap)
{
    size_t before = mallinfo2().uordblks;
    json_object *copy = NULL;
    double start = now_ms(), spent;

    if (json_object_deep_copy(tree, &copy, NULL) < 0)
        return -1;
    *ret_heap = mallinfo2().uordblks - before;
    (void)json_object_to_json_string_ext(copy, JSON_C_TO_STRING_PLAIN);
    json_object_put(copy);
    spent = now_ms() - start;
    return spent;
}

int main(void)
{
    const Stats stats = {0};
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = big_host();
    _cleanup_free_ char *text = NULL;
    double writer = 1e9, tree_ms = 1e9;
    json_object *tree;
    size_t heap = 0;

    if (!snapshot || status_document(snapshot, &stats, &text) < 0 || !(tree = json_tokener_parse(text)))
        return 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        writer = MIN(writer, write_once(snapshot));
        tree_ms = MIN(tree_ms, tree_once(tree, &heap));
    }
    printf("status of 1000 domains, %zu bytes: writer %.2f ms; json-c tree %.2f ms and %zu bytes of heap (%.1f x, %.1f "
           "x)\n",
           strlen(text), writer, tree_ms, heap, tree_ms / writer, (double)heap / (double)strlen(text));
    json_object_put(tree);
    return 0;
}
