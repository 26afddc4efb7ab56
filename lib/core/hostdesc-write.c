/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-write.h"

#include "base64.h"
#include "jsonwriter.h"
#include "utf8.h"

/*
 * The rows as they were read, in the long form, before any judgement: what is wrong with a host is wrong with its
 * capture. Each row stands on a line of its own, so that two captures can be compared with diff.
 */

/* Ends a line in front of the next value. */
static void new_line(JsonWriter *w)
{
    if (w->comma)
        text_add_bytes(&w->text, ",", 1);
    text_add_bytes(&w->text, "\n", 1);
    w->comma = false;
}

static void begin_rows(JsonWriter *w, const char *key)
{
    new_line(w);
    jsonw_begin(w, key, '[');
}

static void begin_row(JsonWriter *w)
{
    new_line(w);
    jsonw_begin(w, NULL, '{');
}

/* A text of bytes that somebody else chose. */
static void write_bytes(JsonWriter *w, const char *key, const char *bytes)
{
    _cleanup_free_ char *clean = bytes ? utf8_sanitize(bytes) : NULL;

    if (bytes && !clean)
        w->text.failed = true;
    jsonw_string(w, key, clean);
}

static void write_counts(JsonWriter *w, const char *key, const uint64_t *counts, size_t n)
{
    if (!counts) {
        jsonw_null(w, key);
        return;
    }
    jsonw_begin(w, key, '[');
    for (size_t i = 0; i < n; i++)
        jsonw_u64(w, NULL, counts[i]);
    jsonw_end(w, ']');
}

/* --- the host --- */

static void write_memory(JsonWriter *w, const HostRows *rows)
{
    new_line(w);
    jsonw_begin(w, "memory", '{');
    jsonw_known(w, "total", rows->total);
    jsonw_known(w, "free", rows->free);
    jsonw_known(w, "claimed", rows->claimed);
    jsonw_end(w, '}');
}

static void write_dom0(JsonWriter *w, const HostRows *rows)
{
    new_line(w);
    if (!rows->has_dom0_view) {
        jsonw_null(w, "dom0");
        return;
    }
    jsonw_begin(w, "dom0", '{');
    jsonw_u64(w, "nodes", rows->dom0_nodes);
    jsonw_u64(w, "cpus", rows->dom0_cpus);
    jsonw_end(w, '}');
}

static void write_head(JsonWriter *w, const HostRows *rows)
{
    new_line(w);
    jsonw_string(w, "format", "numad-xen-host/1");
    write_bytes(w, "xen_version", rows->xen_version);
    jsonw_u64(w, "page_size", rows->page_size);
    new_line(w);
    jsonw_begin(w, "features", '[');
    for (Feature f = 0; f < _FEATURE_MAX; f++)
        if (rows->features & FEATURE_BIT(f))
            jsonw_string(w, NULL, feature_to_text(f));
    jsonw_end(w, ']');
    jsonw_u64(w, "max_cpu_id", rows->max_cpu_id);
    write_memory(w, rows);
    write_dom0(w, rows);
}

static void write_topology(JsonWriter *w, const HostRows *rows)
{
    if (rows->n_cpus == 0) { /* could not be read */
        new_line(w);
        jsonw_null(w, "topology");
        return;
    }
    begin_rows(w, "topology");
    for (cpuid_t cpu = 0; cpu < rows->n_cpus; cpu++) {
        begin_row(w);
        jsonw_u64(w, "cpu", cpu);
        jsonw_u64(w, "core", rows->cpus[cpu].core);
        jsonw_u64(w, "socket", rows->cpus[cpu].socket);
        jsonw_u64(w, "node", rows->cpus[cpu].node);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_distances(JsonWriter *w, const HostRows *rows, nodeid_t id)
{
    if (!rows->distances) {
        jsonw_null(w, "distances");
        return;
    }
    jsonw_begin(w, "distances", '[');
    for (nodeid_t to = 0; to < rows->n_nodes; to++)
        jsonw_u64(w, NULL, rows->distances[id * rows->n_nodes + to]);
    jsonw_end(w, ']');
}

static void write_nodes(JsonWriter *w, const HostRows *rows)
{
    begin_rows(w, "nodes");
    for (nodeid_t id = 0; id < rows->n_nodes; id++) {
        begin_row(w);
        jsonw_u64(w, "size", rows->nodes[id].size);
        jsonw_known(w, "free", rows->nodes[id].free);
        write_distances(w, rows, id);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
    begin_rows(w, "node_extra");
    for (nodeid_t id = 0; id < rows->n_nodes; id++) {
        const NodeRow *node = &rows->nodes[id];

        begin_row(w);
        jsonw_known(w, "present", node->present);
        jsonw_known(w, "low", node->low);
        jsonw_known(w, "dirty", node->dirty);
        jsonw_known(w, "claimed", node->claimed);
        if (node->fragments && node->fragments != VALUE_UNKNOWN) /* few hosts have an estimate */
            jsonw_u64(w, "fragments", node->fragments);
        write_counts(w, "free_chunks", node->free_chunks, node->n_free_chunks);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void write_table(JsonWriter *w, const char *key, const uint8_t *bytes, size_t size)
{
    new_line(w);
    if (!bytes) {
        jsonw_null(w, key);
        return;
    }
    jsonw_string(w, key, "");
    w->text.size--; /* the table goes in front of the closing quote */
    base64_encode(&w->text, bytes, size);
    text_add_bytes(&w->text, "\"", 1);
}

static void write_firmware(JsonWriter *w, const Firmware *firmware)
{
    write_table(w, "srat", firmware ? firmware->srat_bytes : NULL, firmware ? firmware->srat_size : 0);
    write_table(w, "slit", firmware ? firmware->slit_bytes : NULL, firmware ? firmware->slit_size : 0);
}

static void write_devices(JsonWriter *w, const HostRows *rows)
{
    begin_rows(w, "devices");
    for (size_t i = 0; i < rows->n_devices; i++) {
        begin_row(w);
        write_bytes(w, "pci", rows->devices[i].pci);
        jsonw_id(w, "node", rows->devices[i].node);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

/* --- pools --- */

static int compare_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static bool is_listed(const HostRows *rows, uint32_t pool)
{
    for (size_t i = 0; i < rows->n_pools; i++)
        if (rows->pools[i].pool == pool)
            return true;
    return false;
}

/*
 * A domain may be in a pool that is not among the rows: it was made after they were read, or they could not be. A
 * description names it, with CPUs that are not known.
 */
static void write_unlisted_pools(JsonWriter *w, const HostRows *rows)
{
    uint32_t *ids = new_array(rows->n_domains, sizeof(*ids));
    size_t n = 0;

    if (!ids) {
        w->text.failed = true;
        return;
    }
    for (size_t i = 0; i < rows->n_domains; i++)
        if (rows->domains[i].pool != ROW_NO_POOL && !is_listed(rows, rows->domains[i].pool))
            ids[n++] = rows->domains[i].pool;
    qsort(ids, n, sizeof(*ids), compare_id);
    if (rows->n_pools == 0 && n && ids[n - 1] == 0)
        n = 0; /* pool 0 alone is what a description without pools has */
    for (size_t i = 0; i < n; i++) {
        if (i && ids[i] == ids[i - 1])
            continue;
        begin_row(w);
        jsonw_u64(w, "pool", ids[i]);
        jsonw_null(w, "cpus");
        jsonw_end(w, '}');
    }
    free(ids);
}

/* Pools are read one after the other: a CPU that moved meanwhile is in two, and stays in the first. */
static int write_pool(JsonWriter *w, const PoolRow *pool, Bitmap *taken)
{
    _cleanup_bitmap_ Bitmap cpus = {0};
    int r = bitmap_copy(&cpus, &pool->cpus);

    if (r < 0)
        return r;
    BITMAP_FOREACH (cpu, taken)
        bitmap_clear(&cpus, cpu);
    begin_row(w);
    jsonw_u64(w, "pool", pool->pool);
    jsonw_set(w, "cpus", &cpus);
    jsonw_end(w, '}');
    return bitmap_or(taken, &cpus);
}

static void write_pools(JsonWriter *w, const HostRows *rows)
{
    _cleanup_bitmap_ Bitmap taken = {0};

    begin_rows(w, "pools");
    for (size_t i = 0; i < rows->n_pools; i++)
        if (write_pool(w, &rows->pools[i], &taken) < 0)
            w->text.failed = true;
    write_unlisted_pools(w, rows);
    jsonw_end(w, ']');
}

/* --- domains --- */

static void write_vcpu(JsonWriter *w, const VcpuRow *vcpu)
{
    jsonw_begin(w, NULL, '{');
    jsonw_set(w, "hard", &vcpu->hard);
    jsonw_set(w, "soft", &vcpu->soft);
    jsonw_id(w, "cpu", vcpu->cpu);
    jsonw_bool(w, "online", vcpu->online);
    jsonw_end(w, '}');
}

/* Where the vCPUs could not be read, how many there are may be known all the same. */
static void write_vcpus(JsonWriter *w, const DomainRow *domain)
{
    size_t n = domain->vcpus ? domain->vcpus->n : domain->n_vcpus;

    if (n == VCPUS_UNKNOWN) {
        jsonw_null(w, "vcpus");
        return;
    }
    jsonw_begin(w, "vcpus", '[');
    for (size_t i = 0; i < n; i++)
        if (domain->vcpus)
            write_vcpu(w, &domain->vcpus->rows[i]);
        else
            jsonw_null(w, NULL);
    jsonw_end(w, ']');
}

static void write_domain(JsonWriter *w, const HostRows *rows, const DomainRow *domain)
{
    char uuid[UUID_TEXT_SIZE];

    begin_row(w);
    jsonw_u64(w, "domid", domain->domid);
    write_bytes(w, "name", domain->name);
    jsonw_string(w, "uuid", domain_uuid_to_text(domain, uuid));
    jsonw_string(w, "type", domain_type_to_text(domain->type));
    jsonw_string(w, "state", domain_state_to_text(domain->state));
    jsonw_known(w, "total_pages", domain->total_pages);
    jsonw_known(w, "max_pages", domain->max_pages);
    jsonw_known(w, "claimed_pages", domain->claimed_pages);
    write_counts(w, "node_pages", domain->node_pages, rows->n_nodes);
    jsonw_u64(w, "pool", domain->pool);
    if (domain->has_node_affinity)
        jsonw_set(w, "node_affinity", &domain->node_affinity);
    else
        jsonw_null(w, "node_affinity");
    write_vcpus(w, domain);
    jsonw_end(w, '}');
}

/* --- all of it --- */

static void write_host(JsonWriter *w, const HostRows *rows)
{
    jsonw_begin(w, NULL, '{');
    write_head(w, rows);
    write_topology(w, rows);
    write_nodes(w, rows);
    write_firmware(w, rows->firmware);
    write_devices(w, rows);
    write_pools(w, rows);
    begin_rows(w, "domains");
}

void hostdesc_writer_init(HostdescWriter *writer, const HostRows *rows)
{
    *writer = (HostdescWriter){.rows = rows};
}

void hostdesc_writer_done(HostdescWriter *writer)
{
    text_done(&writer->json.text);
    *writer = (HostdescWriter){0};
}

int hostdesc_writer_step(HostdescWriter *writer, char **ret_text)
{
    const HostRows *rows = writer->rows;
    JsonWriter *w = &writer->json;
    size_t enough = w->text.size + HOSTDESC_STEP_BYTES;

    if (rows->n_nodes == 0)
        return -ENODATA;
    if (w->text.size == 0 && !w->text.failed)
        write_host(w, rows);
    for (; writer->domain < rows->n_domains; writer->domain++) {
        if (w->text.size >= enough)
            return 1;
        write_domain(w, rows, &rows->domains[writer->domain]);
    }
    jsonw_end(w, ']');
    jsonw_end(w, '}');
    return text_take(&w->text, ret_text, NULL);
}

int hostdesc_document(const HostRows *rows, char **ret_text)
{
    HostdescWriter writer;
    int r;

    hostdesc_writer_init(&writer, rows);
    do
        r = hostdesc_writer_step(&writer, ret_text);
    while (r > 0);
    hostdesc_writer_done(&writer);
    return r;
}
