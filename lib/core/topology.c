/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topology.h"

#include "status.h"

#include <string.h>

typedef struct CpuPlace {
    CpuRow row;
    cpuid_t cpu;
} CpuPlace;

static int compare_place(const void *a, const void *b)
{
    const CpuPlace *x = a, *y = b;
    int r = memcmp(&x->row, &y->row, sizeof(x->row)); /* any order will do that puts one core's CPUs together */

    return r ? r : (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Sets of CPUs that share a core, one a CPU; CPUs without a core number have no siblings but themselves. */
static int find_siblings(const Snapshot *s, Bitmap *siblings)
{
    CpuPlace *places = new_array(s->n_cpus, sizeof(*places));
    int r = places ? 0 : -ENOMEM;

    for (cpuid_t cpu = 0; r == 0 && cpu < s->n_cpus; cpu++)
        places[cpu] = (CpuPlace){.row = s->cpus[cpu], .cpu = cpu};
    if (r == 0)
        qsort(places, s->n_cpus, sizeof(*places), compare_place);
    for (size_t first = 0, end; r == 0 && first < s->n_cpus; first = end) {
        bool grouped = places[first].row.core != ROW_INVALID;

        for (end = first + 1; grouped && end < s->n_cpus; end++)
            if (memcmp(&places[first].row, &places[end].row, sizeof(CpuRow)) != 0)
                break;
        for (size_t i = first; r == 0 && i < end; i++)
            for (size_t j = first; r == 0 && j < end; j++)
                if (bitmap_isset(&s->online, places[i].cpu))
                    r = bitmap_set(&siblings[places[i].cpu], places[j].cpu);
    }
    free(places);
    return r;
}

static void write_nodes(JsonWriter *w, const Snapshot *s)
{
    jsonw_begin(w, "nodes", '[');
    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        if (!s->nodes[id].exists)
            continue;
        jsonw_begin(w, NULL, '{');
        status_write_node_identity(w, s, id);
        status_write_distances(w, s, id);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_cpus(JsonWriter *w, const Snapshot *s, const Bitmap *siblings)
{
    jsonw_begin(w, "cpus", '[');
    for (cpuid_t cpu = 0; cpu < s->n_cpus; cpu++) {
        jsonw_begin(w, NULL, '{');
        jsonw_u64(w, "cpu", cpu);
        jsonw_id(w, "core", s->cpus[cpu].core);
        jsonw_id(w, "socket", s->cpus[cpu].socket);
        jsonw_id(w, "node", s->cpus[cpu].node);
        jsonw_bool(w, "online", bitmap_isset(&s->online, cpu));
        jsonw_set(w, "siblings", &siblings[cpu]);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_pools(JsonWriter *w, const Snapshot *s)
{
    jsonw_begin(w, "pools", '[');
    for (size_t i = 0; i < s->n_pools; i++) {
        jsonw_begin(w, NULL, '{');
        jsonw_u64(w, "pool", s->pools[i].pool);
        jsonw_set(w, "cpus", &s->pools[i].cpus);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_dom0(JsonWriter *w, const Snapshot *s)
{
    if (!s->has_dom0_view) {
        jsonw_null(w, "dom0");
        return;
    }
    jsonw_begin(w, "dom0", '{');
    jsonw_u64(w, "nodes", s->dom0_nodes);
    jsonw_u64(w, "cpus", s->dom0_cpus);
    jsonw_end(w, '}');
}

static void write_document(JsonWriter *w, const Snapshot *s, const Bitmap *siblings)
{
    jsonw_begin(w, NULL, '{');
    jsonw_string(w, "format", "numad-xen-topology/1");
    status_write_host(w, s);
    write_nodes(w, s);
    write_cpus(w, s, siblings);
    status_write_devices(w, s);
    write_pools(w, s);
    write_dom0(w, s);
    jsonw_end(w, '}');
}

int topology_document(const Snapshot *s, char **ret_text)
{
    Bitmap *siblings = new_array(s->n_cpus, sizeof(*siblings));
    JsonWriter w = {0};
    int r = siblings ? find_siblings(s, siblings) : -ENOMEM;

    if (r == 0) {
        write_document(&w, s, siblings);
        r = text_take(&w.text, ret_text, NULL);
    }
    for (size_t i = 0; siblings && i < s->n_cpus; i++)
        bitmap_done(&siblings[i]);
    free(siblings);
    return r;
}
