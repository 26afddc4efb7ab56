/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "status.h"

#include <stdio.h>
#include <time.h>

static void write_time(JsonWriter *w, const char *key, int64_t time_us)
{
    time_t seconds = (time_t)(time_us / 1000000);
    char text[40];
    struct tm tm;

    if (time_us < 0 || !gmtime_r(&seconds, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        json_null(w, key);
    else
        json_string(w, key, text);
}

static void write_warnings(JsonWriter *w, const WarningList *warnings)
{
    json_begin(w, "warnings", '[');
    for (size_t i = 0; i < warnings->n; i++) {
        json_begin(w, NULL, '{');
        json_string(w, "code", warning_code_to_text(warnings->items[i].code));
        json_string(w, "text", warnings->items[i].text);
        json_end(w, '}');
    }
    json_end(w, ']');
}

void status_write_host(JsonWriter *w, const Snapshot *s)
{
    json_begin(w, "host", '{');
    json_string(w, "backend", s->backend);
    json_bool(w, "simulated", s->simulated);
    json_string(w, "xen_version", s->xen_version);
    json_u64(w, "page_size", s->page_size);
    json_u64(w, "max_cpu_id", s->max_cpu_id);
    json_u64(w, "online_cpus", bitmap_weight(&s->online));
    json_begin(w, "features", '[');
    for (Feature f = 0; f < _FEATURE_MAX; f++)
        if (s->features & FEATURE_BIT(f))
            json_string(w, NULL, feature_to_text(f));
    json_end(w, ']');
    json_begin(w, "memory", '{');
    json_known(w, "total", s->total);
    json_known(w, "free", s->free);
    json_known(w, "claimed", s->claimed);
    json_end(w, '}');
    write_warnings(w, &s->warnings);
    json_end(w, '}');
}

void status_write_node_identity(JsonWriter *w, const Snapshot *s, nodeid_t id)
{
    const Node *node = &s->nodes[id];

    json_u64(w, "node", id);
    json_known(w, "pxm", node->pxm);
    json_string(w, "kind", node_kind_to_text(node->kind));
    json_set(w, "cpus", &node->cpus);
    json_u64(w, "cores", node->cores);
}

void status_write_distances(JsonWriter *w, const Snapshot *s, nodeid_t id)
{
    json_begin(w, "distances", '[');
    for (nodeid_t to = 0; to < s->n_nodes; to++)
        json_id(w, NULL, snapshot_distance(s, id, to));
    json_end(w, ']');
}

static void write_free_chunks(JsonWriter *w, const Node *node)
{
    if (!node->free_chunks) {
        json_null(w, "free_chunks");
        return;
    }
    json_begin(w, "free_chunks", '[');
    for (size_t order = 0; order < node->n_free_chunks; order++) {
        if (!node->free_chunks[order])
            continue;
        json_begin(w, NULL, '{');
        json_u64(w, "order", order);
        json_u64(w, "count", node->free_chunks[order]);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void write_node(JsonWriter *w, const Snapshot *s, nodeid_t id)
{
    const Node *node = &s->nodes[id];

    json_begin(w, NULL, '{');
    status_write_node_identity(w, s, id);
    json_begin(w, "memory", '{');
    json_u64(w, "span", node->span);
    json_known(w, "present", node->present);
    json_u64(w, "free", node->free);
    json_known(w, "low", node->low);
    json_known(w, "dirty", node->dirty);
    json_known(w, "claimed", node->claimed);
    json_u64(w, "reserved", node->reserved);
    json_u64(w, "available", node->available);
    json_end(w, '}');
    write_free_chunks(w, node);
    status_write_distances(w, s, id);
    json_ratio(w, "vcpus", node->vcpus);
    json_end(w, '}');
}

static void write_domain_memory(JsonWriter *w, const Snapshot *s, const DomainRow *row)
{
    json_begin(w, "memory", '{');
    json_known(w, "total", row->total_pages == VALUE_UNKNOWN ? VALUE_UNKNOWN : row->total_pages * s->page_size);
    if (row->node_pages) {
        json_begin(w, "nodes", '[');
        for (nodeid_t id = 0; id < s->n_nodes; id++) {
            if (!row->node_pages[id])
                continue;
            json_begin(w, NULL, '{');
            json_u64(w, "node", id);
            json_u64(w, "bytes", row->node_pages[id] * s->page_size);
            json_end(w, '}');
        }
        json_end(w, ']');
    } else
        json_null(w, "nodes");
    json_end(w, '}');
}

static void write_vcpus(JsonWriter *w, const VcpuRows *vcpus)
{
    if (!vcpus) {
        json_null(w, "vcpu_affinity");
        return;
    }
    json_begin(w, "vcpu_affinity", '[');
    for (size_t i = 0; i < vcpus->n; i++) {
        const VcpuRow *vcpu = &vcpus->rows[i];

        json_begin(w, NULL, '{');
        json_u64(w, "vcpu", i);
        json_bool(w, "online", vcpu->online);
        json_set(w, "hard", &vcpu->hard);
        json_set(w, "soft", &vcpu->soft);
        json_id(w, "cpu", vcpu->cpu);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void write_domain(JsonWriter *w, const Snapshot *s, const Domain *domain)
{
    const DomainRow *row = &domain->row;
    char uuid[DOMAIN_UUID_TEXT];

    json_begin(w, NULL, '{');
    json_u64(w, "domid", row->domid);
    json_string(w, "name", row->name);
    json_string(w, "uuid", domain_uuid_to_text(row, uuid));
    json_string(w, "type", domain_type_to_text(row->type));
    json_string(w, "state", domain_state_to_text(row->state));
    json_u64(w, "vcpus", row->n_vcpus);
    json_u64(w, "pool", row->pool);
    write_domain_memory(w, s, row);
    if (row->has_node_affinity)
        json_set(w, "node_affinity", &row->node_affinity);
    else
        json_null(w, "node_affinity");
    write_vcpus(w, row->vcpus);
    json_ratio(w, "locality", domain->locality);
    json_null(w, "placement");
    json_end(w, '}');
}

void status_write_devices(JsonWriter *w, const Snapshot *s)
{
    json_begin(w, "devices", '[');
    for (size_t i = 0; i < s->n_devices; i++) {
        json_begin(w, NULL, '{');
        json_string(w, "pci", s->devices[i].pci);
        json_id(w, "node", s->devices[i].node);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void write_histogram(JsonWriter *w, const char *key, const Histogram *h)
{
    json_begin(w, key, '{');
    json_u64(w, "count", h->count);
    json_ratio(w, "sum", (double)h->sum_us / 1e6);
    json_begin(w, "buckets", '[');
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        json_begin(w, NULL, '{');
        if (i < HISTOGRAM_BOUNDS)
            json_ratio(w, "le", (double)histogram_bound_us(i) / 1e6);
        else
            json_null(w, "le");
        json_u64(w, "count", h->buckets[i]);
        json_end(w, '}');
    }
    json_end(w, ']');
    json_end(w, '}');
}

static void write_stats(JsonWriter *w, const Stats *stats)
{
    json_begin(w, "stats", '{');
    write_time(w, "since", stats->since_us);
    json_begin(w, "placements", '{');
    json_u64(w, "placed", stats->placed);
    json_u64(w, "nofit", stats->nofit);
    json_u64(w, "invalid", stats->invalid);
    json_u64(w, "limit", stats->limit);
    json_end(w, '}');
    write_histogram(w, "placement_seconds", &stats->placement);
    write_histogram(w, "collection_seconds", &stats->collection);
    json_begin(w, "collection_errors", '{');
    json_u64(w, "xen", stats->errors_xen);
    json_u64(w, "srat", stats->errors_srat);
    json_u64(w, "hwloc", stats->errors_hwloc);
    json_u64(w, "xenstore", stats->errors_xenstore);
    json_end(w, '}');
    if (stats->last_collection_us < 0)
        json_null(w, "last_collection");
    else
        json_ratio(w, "last_collection", (double)stats->last_collection_us / 1e6);
    json_end(w, '}');
}

int status_document(const Snapshot *s, const Stats *stats, char **ret_text)
{
    JsonWriter w = {0};

    json_begin(&w, NULL, '{');
    json_string(&w, "format", "numad-xen-status/1");
    json_u64(&w, "generation", s->generation);
    write_time(&w, "time", s->time_us);
    status_write_host(&w, s);
    json_begin(&w, "nodes", '[');
    for (nodeid_t id = 0; id < s->n_nodes; id++)
        if (s->nodes[id].exists)
            write_node(&w, s, id);
    json_end(&w, ']');
    json_begin(&w, "domains", '[');
    for (size_t i = 0; i < s->n_domains; i++)
        write_domain(&w, s, &s->domains[i]);
    json_end(&w, ']');
    status_write_devices(&w, s);
    json_begin(&w, "reservations", '[');
    json_end(&w, ']');
    write_stats(&w, stats);
    json_end(&w, '}');
    return text_take(&w.text, ret_text, NULL);
}
