/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "status.h"

#include "ledger.h"

#include <stdio.h>
#include <time.h>

static void write_time(JsonWriter *w, const char *key, int64_t time_us)
{
    time_t seconds = (time_t)(time_us / 1000000);
    char text[40];
    struct tm tm;

    if (time_us < 0 || !gmtime_r(&seconds, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        jsonw_null(w, key);
    else
        jsonw_string(w, key, text);
}

static void write_warnings(JsonWriter *w, const WarningList *warnings)
{
    jsonw_begin(w, "warnings", '[');
    for (size_t i = 0; i < warnings->n; i++) {
        jsonw_begin(w, NULL, '{');
        jsonw_string(w, "code", warning_code_to_text(warnings->items[i].code));
        jsonw_string(w, "text", warnings->items[i].text);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

void status_write_host(JsonWriter *w, const Snapshot *s)
{
    jsonw_begin(w, "host", '{');
    jsonw_string(w, "backend", s->backend);
    jsonw_bool(w, "simulated", s->simulated);
    jsonw_string(w, "xen_version", s->xen_version);
    jsonw_u64(w, "page_size", s->page_size);
    jsonw_u64(w, "max_cpu_id", s->max_cpu_id);
    jsonw_u64(w, "online_cpus", bitmap_weight(&s->online));
    jsonw_begin(w, "features", '[');
    for (Feature f = 0; f < _FEATURE_MAX; f++)
        if (s->features & FEATURE_BIT(f))
            jsonw_string(w, NULL, feature_to_text(f));
    jsonw_end(w, ']');
    jsonw_begin(w, "memory", '{');
    jsonw_known(w, "total", s->total);
    jsonw_known(w, "free", s->free);
    jsonw_known(w, "claimed", s->claimed);
    jsonw_end(w, '}');
    write_warnings(w, &s->warnings);
    jsonw_end(w, '}');
}

void status_write_node_identity(JsonWriter *w, const Snapshot *s, nodeid_t id)
{
    const Node *node = &s->nodes[id];

    jsonw_u64(w, "node", id);
    jsonw_known(w, "pxm", node->pxm);
    jsonw_string(w, "kind", node_kind_to_text(node->kind));
    jsonw_set(w, "cpus", &node->cpus);
    jsonw_u64(w, "cores", node->cores);
}

void status_write_distances(JsonWriter *w, const Snapshot *s, nodeid_t id)
{
    jsonw_begin(w, "distances", '[');
    for (nodeid_t to = 0; to < s->n_nodes; to++)
        jsonw_id(w, NULL, snapshot_distance(s, id, to));
    jsonw_end(w, ']');
}

static void write_free_chunks(JsonWriter *w, const Node *node)
{
    if (!node->free_chunks) {
        jsonw_null(w, "free_chunks");
        return;
    }
    jsonw_begin(w, "free_chunks", '[');
    for (size_t order = 0; order < node->n_free_chunks; order++) {
        if (!node->free_chunks[order])
            continue;
        jsonw_begin(w, NULL, '{');
        jsonw_u64(w, "order", order);
        jsonw_u64(w, "count", node->free_chunks[order]);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_node(JsonWriter *w, const Snapshot *s, nodeid_t id)
{
    const Node *node = &s->nodes[id];

    jsonw_begin(w, NULL, '{');
    status_write_node_identity(w, s, id);
    jsonw_begin(w, "memory", '{');
    jsonw_u64(w, "span", node->span);
    jsonw_known(w, "present", node->present);
    jsonw_u64(w, "free", node->free);
    jsonw_known(w, "low", node->low);
    jsonw_known(w, "dirty", node->dirty);
    jsonw_known(w, "claimed", node->claimed);
    jsonw_u64(w, "reserved", node->reserved);
    jsonw_u64(w, "available", node->available);
    jsonw_end(w, '}');
    write_free_chunks(w, node);
    status_write_distances(w, s, id);
    jsonw_ratio(w, "vcpus", node->vcpus);
    jsonw_end(w, '}');
}

static void write_domain_memory(JsonWriter *w, const Snapshot *s, const DomainRow *row)
{
    jsonw_begin(w, "memory", '{');
    jsonw_known(w, "total", row->total_pages == VALUE_UNKNOWN ? VALUE_UNKNOWN : row->total_pages * s->page_size);
    if (row->node_pages) {
        jsonw_begin(w, "nodes", '[');
        for (nodeid_t id = 0; id < s->n_nodes; id++) {
            if (!row->node_pages[id])
                continue;
            jsonw_begin(w, NULL, '{');
            jsonw_u64(w, "node", id);
            jsonw_u64(w, "bytes", row->node_pages[id] * s->page_size);
            jsonw_end(w, '}');
        }
        jsonw_end(w, ']');
    } else
        jsonw_null(w, "nodes");
    jsonw_end(w, '}');
}

/* Those of a domain that has none are known, whoever read them. */
static void write_vcpus(JsonWriter *w, const DomainRow *row)
{
    const VcpuRows *vcpus = row->vcpus;

    if (!vcpus && row->n_vcpus) {
        jsonw_null(w, "vcpu_affinity");
        return;
    }
    jsonw_begin(w, "vcpu_affinity", '[');
    for (size_t i = 0; vcpus && i < vcpus->n; i++) {
        const VcpuRow *vcpu = &vcpus->rows[i];

        jsonw_begin(w, NULL, '{');
        jsonw_u64(w, "vcpu", i);
        jsonw_bool(w, "online", vcpu->online);
        jsonw_set(w, "hard", &vcpu->hard);
        jsonw_set(w, "soft", &vcpu->soft);
        jsonw_id(w, "cpu", vcpu->cpu);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_kept(JsonWriter *w, int kept)
{
    if (kept < 0)
        jsonw_null(w, "kept");
    else
        jsonw_bool(w, "kept", kept);
}

/* What was promised to the domain, if anything was. */
static void write_placement(JsonWriter *w, const Snapshot *s, const DomainRow *row)
{
    const Reservation *r = s->ledger ? ledger_find_domain(s->ledger, row->domid) : NULL;

    if (!r) {
        jsonw_null(w, "placement");
        return;
    }
    jsonw_begin(w, "placement", '{');
    jsonw_string(w, "token", r->token);
    jsonw_begin(w, "nodes", '[');
    for (size_t i = 0; i < r->n_memory; i++)
        jsonw_u64(w, NULL, r->memory[i].node);
    jsonw_end(w, ']');
    write_kept(w, reservation_kept(r, row->node_pages, s->n_nodes, s->page_size));
    jsonw_end(w, '}');
}

static void write_domain(JsonWriter *w, const Snapshot *s, const Domain *domain)
{
    const DomainRow *row = &domain->row;
    char uuid[UUID_TEXT_SIZE];

    jsonw_begin(w, NULL, '{');
    jsonw_u64(w, "domid", row->domid);
    jsonw_string(w, "name", row->name);
    jsonw_string(w, "uuid", domain_uuid_to_text(row, uuid));
    jsonw_string(w, "type", domain_type_to_text(row->type));
    jsonw_string(w, "state", domain_state_to_text(row->state));
    jsonw_known(w, "vcpus", row->n_vcpus == VCPUS_UNKNOWN ? VALUE_UNKNOWN : row->n_vcpus);
    jsonw_id(w, "pool", row->pool); /* null: in none */
    write_domain_memory(w, s, row);
    if (row->has_node_affinity)
        jsonw_set(w, "node_affinity", &row->node_affinity);
    else
        jsonw_null(w, "node_affinity");
    write_vcpus(w, row);
    jsonw_ratio(w, "locality", domain->locality);
    write_placement(w, s, row);
    jsonw_end(w, '}');
}

void status_write_devices(JsonWriter *w, const Snapshot *s)
{
    jsonw_begin(w, "devices", '[');
    for (size_t i = 0; i < s->n_devices; i++) {
        jsonw_begin(w, NULL, '{');
        jsonw_string(w, "pci", s->devices[i].pci);
        jsonw_id(w, "node", s->devices[i].node);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_reservation(JsonWriter *w, const Snapshot *s, const Reservation *r)
{
    char uuid[UUID_TEXT_SIZE];

    jsonw_begin(w, NULL, '{');
    jsonw_string(w, "token", r->token);
    jsonw_string(w, "name", r->name);
    jsonw_string(w, "uuid", r->has_uuid ? uuid_to_text(r->uuid, uuid) : NULL);
    jsonw_begin(w, "memory", '[');
    for (size_t i = 0; i < r->n_memory; i++) {
        jsonw_begin(w, NULL, '{');
        jsonw_u64(w, "node", r->memory[i].node);
        jsonw_u64(w, "bytes", r->memory[i].bytes);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
    jsonw_u64(w, "overhead", reservation_overhead(r));
    jsonw_id(w, "domid", r->domid);
    if (r->state == RESERVATION_PENDING)
        jsonw_u64(w, "expires_ms", (sub_saturating(r->expires_us, s->boottime_us) + 999) / 1000);
    else
        jsonw_null(w, "expires_ms"); /* it lasts as long as its domain is built */
    jsonw_end(w, '}');
}

static void write_reservations(JsonWriter *w, const Snapshot *s)
{
    jsonw_begin(w, "reservations", '[');
    for (size_t i = 0; s->ledger && i < s->ledger->n; i++)
        if (reservation_is_open(s->ledger->items[i]))
            write_reservation(w, s, s->ledger->items[i]);
    jsonw_end(w, ']');
}

static void write_histogram(JsonWriter *w, const char *key, const Histogram *h)
{
    jsonw_begin(w, key, '{');
    jsonw_u64(w, "count", h->count);
    jsonw_ratio(w, "sum", (double)h->sum_us / 1e6);
    jsonw_begin(w, "buckets", '[');
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        jsonw_begin(w, NULL, '{');
        if (i < HISTOGRAM_BOUNDS)
            jsonw_ratio(w, "le", (double)histogram_bound_us(i) / 1e6);
        else
            jsonw_null(w, "le");
        jsonw_u64(w, "count", h->buckets[i]);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
    jsonw_end(w, '}');
}

static void write_stats(JsonWriter *w, const Stats *stats)
{
    jsonw_begin(w, "stats", '{');
    write_time(w, "since", stats->since_us);
    jsonw_begin(w, "placements", '{');
    jsonw_u64(w, "placed", stats->placed);
    jsonw_u64(w, "nofit", stats->nofit);
    jsonw_u64(w, "invalid", stats->invalid);
    jsonw_u64(w, "limit", stats->limit);
    jsonw_end(w, '}');
    write_histogram(w, "placement_seconds", &stats->placement);
    write_histogram(w, "collection_seconds", &stats->collection);
    jsonw_begin(w, "collection_errors", '{');
    jsonw_u64(w, "xen", stats->errors_xen);
    jsonw_u64(w, "srat", stats->errors_srat);
    jsonw_u64(w, "hwloc", stats->errors_hwloc);
    jsonw_u64(w, "xenstore", stats->errors_xenstore);
    jsonw_end(w, '}');
    if (stats->last_collection_us < 0)
        jsonw_null(w, "last_collection");
    else
        jsonw_ratio(w, "last_collection", (double)stats->last_collection_us / 1e6);
    jsonw_end(w, '}');
}

static void write_head(JsonWriter *w, const Snapshot *s)
{
    jsonw_begin(w, NULL, '{');
    jsonw_string(w, "format", "numad-xen-status/1");
    jsonw_u64(w, "generation", s->generation);
    write_time(w, "time", s->time_us);
    status_write_host(w, s);
    jsonw_begin(w, "nodes", '[');
}

static void write_tail(JsonWriter *w, const Snapshot *s, const Stats *stats)
{
    jsonw_end(w, ']');
    status_write_devices(w, s);
    write_reservations(w, s);
    write_stats(w, stats);
    jsonw_end(w, '}');
}

void status_writer_init(StatusWriter *writer, const Snapshot *snapshot)
{
    *writer = (StatusWriter){.snapshot = snapshot};
    write_head(&writer->json, snapshot);
}

void status_writer_done(StatusWriter *writer)
{
    text_done(&writer->json.text);
    *writer = (StatusWriter){0};
}

int status_writer_step(StatusWriter *writer, const Stats *stats, char **ret_text, size_t *ret_size)
{
    const Snapshot *s = writer->snapshot;
    JsonWriter *w = &writer->json;
    size_t enough = w->text.size + STATUS_STEP_BYTES;

    for (; writer->node < s->n_nodes; writer->node++) {
        if (w->text.size >= enough)
            return 1;
        if (s->nodes[writer->node].exists)
            write_node(w, s, writer->node);
    }
    if (!writer->domains_begun) {
        jsonw_end(w, ']');
        jsonw_begin(w, "domains", '[');
        writer->domains_begun = true;
    }
    for (; writer->domain < s->n_domains; writer->domain++) {
        if (w->text.size >= enough)
            return 1;
        write_domain(w, s, &s->domains[writer->domain]);
    }
    write_tail(w, s, stats);
    return text_take(&w->text, ret_text, ret_size);
}

int status_document(const Snapshot *s, const Stats *stats, char **ret_text)
{
    StatusWriter writer;
    int r;

    status_writer_init(&writer, s);
    do
        r = status_writer_step(&writer, stats, ret_text, NULL);
    while (r > 0);
    status_writer_done(&writer);
    return r;
}
