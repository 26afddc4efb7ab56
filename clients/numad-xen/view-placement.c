/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view.h"

#include <string.h>

PlacementView *placement_view_free(PlacementView *view)
{
    if (!view)
        return NULL;
    json_object_put(view->document);
    bitmap_done(&view->nodes);
    free(view->memory);
    free(view->vcpus);
    free(view);
    return NULL;
}

static int read_nodes(struct json_object *rows, Bitmap *nodes)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < value_count(rows); i++) {
        uint64_t node = value_u64_of(value_at(rows, i));

        r = node < NODES_MAX ? bitmap_set(nodes, (unsigned)node) : 0;
    }
    return r;
}

static int read_memory(struct json_object *rows, PlacementView *view)
{
    size_t n = value_count(rows);

    view->memory = new_array(n, sizeof(*view->memory));
    if (!view->memory)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint64_t node = value_u64(value_at(rows, i), "node");

        if (node < NODES_MAX)
            view->memory[view->n_memory++] =
                (NodeBytes){.node = (nodeid_t)node, .bytes = value_u64(value_at(rows, i), "bytes")};
    }
    return 0;
}

static int read_vcpus(struct json_object *rows, PlacementView *view)
{
    size_t n = value_count(rows);

    view->vcpus = new_array(n, sizeof(*view->vcpus));
    if (!view->vcpus)
        return -ENOMEM;
    for (; view->n_vcpus < n; view->n_vcpus++) {
        struct json_object *row = value_at(rows, view->n_vcpus);

        view->vcpus[view->n_vcpus] = (VcpuSets){value_bytes(row, "hard"), value_bytes(row, "soft")};
    }
    return 0;
}

static int read_placement(PlacementView *view)
{
    int r;

    view->token = value_bytes(view->document, "token");
    view->reason = value_bytes(view->document, "reason");
    view->overhead = value_u64(view->document, "overhead");
    view->expires_ms = value_u64(view->document, "expires_ms");
    view->locality = value_ratio(view->document, "expected_locality");
    view->candidates = value_array(view->document, "candidates");
    r = read_nodes(value_array(view->document, "nodes"), &view->nodes);
    if (r == 0)
        r = read_memory(value_array(view->document, "memory"), view);
    return r < 0 ? r : read_vcpus(value_array(view->document, "vcpus"), view);
}

/* Takes the document over. */
static int make_view(struct json_object *document, PlacementView **ret_view)
{
    _cleanup_(placement_view_free_p) PlacementView *view = calloc(1, sizeof(*view));
    int r;

    if (!view) {
        json_object_put(document);
        return -ENOMEM;
    }
    view->document = document;
    r = read_placement(view);
    if (r < 0)
        return r;
    *ret_view = TAKE_PTR(view);
    return 0;
}

int placement_view_new(const char *placement, PlacementView **ret_view, char **ret_error)
{
    struct json_object *document;

    *ret_error = NULL;
    document = value_parse(placement, "numad-xen-placement/1", ret_error);
    return document ? make_view(document, ret_view) : -EBADMSG;
}

int placement_view_set_candidates(PlacementView *view, const PlacementView *from)
{
    view->candidates = from ? from->candidates : NULL;
    if (!view->candidates) {
        json_object_object_del(view->document, "candidates");
        return 0;
    }
    if (json_object_object_add(view->document, "candidates", json_object_get(view->candidates)) == 0)
        return 0;
    json_object_put(view->candidates);
    view->candidates = NULL;
    return -ENOMEM;
}
