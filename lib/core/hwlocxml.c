/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hwlocxml.h"

#include "hwlocxml-object.h"

/*
 * What hwloc's reader asks for beyond its DTD: `type` is an object's first attribute; an object has its infos first,
 * then memory, CPU and I/O objects; children stand in the order of their lowest CPU; a NUMA node has its parent's
 * CPUs; the nodes of an object are those of the objects above it, its own, and those below; the length of a list of
 * numbers is exact.
 */

/* --- CPUs --- */

static void add_cpus(SetText *set, const CpuPlace *cpus, size_t n)
{
    for (size_t i = 0; i < n; i++)
        set_text_add(set, cpus[i].id[PLACE_CPU]);
}

static void write_pu(HwlocWriter *w, const CpuPlace *cpu, const Text *nodes)
{
    add_cpus(&w->cpus, cpu, 1);
    set_text_finish(&w->cpus);
    hwloc_begin_object(w, "PU", cpu->id[PLACE_CPU]);
    hwloc_add_sets(w, &w->cpus.text, nodes);
    hwloc_add_gp_index(w);
    hwloc_end_object(w);
}

static void write_core(HwlocWriter *w, const CpuPlace *cpus, size_t n, const Text *nodes)
{
    if (cpu_place_has_core(cpus)) {
        add_cpus(&w->cpus, cpus, n);
        set_text_finish(&w->cpus);
        hwloc_begin_object(w, "Core", cpus->id[PLACE_CORE]);
        hwloc_add_sets(w, &w->cpus.text, nodes);
        hwloc_add_gp_index(w);
    }
    for (size_t i = 0; i < n; i++)
        write_pu(w, &cpus[i], nodes);
    if (cpu_place_has_core(cpus))
        hwloc_end_object(w);
}

/* How many CPUs from the first on are in its object on that level. */
static size_t object_length(const CpuPlace *cpus, size_t n, unsigned level)
{
    size_t i = 1;

    while (i < n && cpus[i].first[level] == cpus->first[level])
        i++;
    return i;
}

static nodeid_t nodes_on(const HwlocWriter *w, const CpuPlace *cpu, unsigned level)
{
    return cpu->branch[level] ? w->tree.on_branch[level][cpu->first[level]] : NODE_NONE;
}

/* The nodes of an object on that level and of those above it. */
static void add_own_nodes(HwlocWriter *w, const CpuPlace *cpu, unsigned level)
{
    set_text_add_nodes(&w->nodes, &w->tree, w->tree.on_machine);
    for (unsigned i = 0; i <= level; i++)
        set_text_add_nodes(&w->nodes, &w->tree, nodes_on(w, cpu, i));
}

static void write_children(HwlocWriter *w, const CpuPlace *cpus, size_t n, unsigned level, const Text *nodes);

static void write_branch(HwlocWriter *w, const CpuPlace *cpus, size_t n, unsigned level)
{
    _cleanup_text_ Text nodes = {0}; /* what a core right below has: not what other branches below have */
    bool package = cpus->branch[level] == BRANCH_PACKAGE;

    add_own_nodes(w, cpus, level);
    set_text_finish(&w->nodes);
    text_add_bytes(&nodes, w->nodes.text.data, w->nodes.text.size);
    add_own_nodes(w, cpus, level);
    for (size_t i = 0; level == TREE_OUTER && i < n; i += object_length(cpus + i, n - i, TREE_INNER))
        set_text_add_nodes(&w->nodes, &w->tree, nodes_on(w, &cpus[i], TREE_INNER));
    set_text_finish(&w->nodes);
    add_cpus(&w->cpus, cpus, n);
    set_text_finish(&w->cpus);
    hwloc_begin_object(w, package ? "Package" : "Group", package ? cpus->id[PLACE_SOCKET] : ROW_INVALID);
    hwloc_add_sets(w, &w->cpus.text, &w->nodes.text);
    hwloc_add_gp_index(w);
    if (!package) /* hwloc's number for a group around memory */
        xmlw_attribute_u64(&w->xml, "kind", 1001);
    hwloc_write_nodes(w, nodes_on(w, cpus, level), &w->cpus.text);
    write_children(w, cpus, n, level + 1, &nodes);
    hwloc_write_devices(w, nodes_on(w, cpus, level));
    hwloc_end_object(w);
}

/* `nodes` are those of the object above. */
static void write_children(HwlocWriter *w, const CpuPlace *cpus, size_t n, unsigned level, const Text *nodes)
{
    for (size_t i = 0, length; i < n; i += length) {
        length = object_length(cpus + i, n - i, level);
        if (level == TREE_CORE)
            write_core(w, cpus + i, length, nodes);
        else if (cpus[i].branch[level])
            write_branch(w, cpus + i, length, level);
        else
            write_children(w, cpus + i, length, level + 1, nodes);
    }
}

/* --- Machine --- */

/* hwloc knows no unknown distance: a matrix is whole, or it is not told. */
static bool has_all_distances(const Snapshot *s)
{
    for (nodeid_t from = 0; from < s->n_nodes; from++)
        for (nodeid_t to = 0; to < s->n_nodes; to++)
            if (s->nodes[from].exists && s->nodes[to].exists && snapshot_distance(s, from, to) == DISTANCE_NONE)
                return false;
    return true;
}

static void write_machine_infos(HwlocWriter *w)
{
    hwloc_write_info(w, "Backend", "Xen");
    if (w->s->xen_version)
        hwloc_write_info(w, "XenVersion", w->s->xen_version);
    if (w->s->simulated)
        hwloc_write_info(w, "Simulated", "1");
    if (!has_all_distances(w->s))
        hwloc_write_info(w, "Distances", "left out: some are not known");
}

static void begin_machine(HwlocWriter *w)
{
    const Snapshot *s = w->s;

    hwloc_begin_object(w, "Machine", 0);
    add_cpus(&w->cpus, w->tree.cpus, w->tree.n_cpus);
    for (cpuid_t cpu = 0; cpu <= s->max_cpu_id && cpu < CPUS_MAX; cpu++) /* offline ones too */
        set_text_add(&w->cpus, cpu);
    set_text_finish(&w->cpus);
    xmlw_attribute_raw(&w->xml, "complete_cpuset", &w->cpus.text);
    add_cpus(&w->cpus, w->tree.cpus, w->tree.n_cpus);
    set_text_finish(&w->cpus);
    for (nodeid_t node = 0; node < s->n_nodes; node++)
        if (s->nodes[node].exists)
            set_text_add(&w->nodes, node);
    set_text_finish(&w->nodes);
    xmlw_attribute_raw(&w->xml, "cpuset", &w->cpus.text);
    xmlw_attribute_raw(&w->xml, "allowed_cpuset", &w->cpus.text);
    xmlw_attribute_raw(&w->xml, "nodeset", &w->nodes.text);
    xmlw_attribute_raw(&w->xml, "complete_nodeset", &w->nodes.text);
    xmlw_attribute_raw(&w->xml, "allowed_nodeset", &w->nodes.text);
    hwloc_add_gp_index(w);
}

static void write_machine(HwlocWriter *w)
{
    _cleanup_text_ Text nodes = {0}; /* what a branch-less core has */

    begin_machine(w);
    write_machine_infos(w);
    hwloc_write_nodes(w, w->tree.on_machine, &w->cpus.text);
    set_text_add_nodes(&w->nodes, &w->tree, w->tree.on_machine);
    set_text_finish(&w->nodes);
    text_add_bytes(&nodes, w->nodes.text.data, w->nodes.text.size);
    write_children(w, w->tree.cpus, w->tree.n_cpus, TREE_OUTER, &nodes);
    hwloc_write_devices(w, w->tree.on_machine);
    hwloc_write_other_devices(w);
    hwloc_end_object(w);
}

/* --- distances --- */

/* A million of them on the largest host. */
static void add_number(Text *numbers, uint32_t value)
{
    char digits[] = "4294967295 ";
    size_t i = sizeof(digits) - 2;

    do
        digits[--i] = (char)('0' + value % 10);
    while (value /= 10);
    text_add_bytes(numbers, digits + i, sizeof(digits) - 1 - i);
}

static void write_list(HwlocWriter *w, const char *element, Text *numbers)
{
    xmlw_begin(&w->xml, element);
    xmlw_attribute_u64(&w->xml, "length", numbers->size);
    xmlw_content_raw(&w->xml, numbers);
    xmlw_end(&w->xml, element);
    numbers->size = 0;
}

static void write_distances(HwlocWriter *w, size_t n_existing)
{
    const Snapshot *s = w->s;
    _cleanup_text_ Text numbers = {0};

    xmlw_begin(&w->xml, "distances2");
    xmlw_attribute(&w->xml, "type", "NUMANode");
    xmlw_attribute_u64(&w->xml, "nbobjs", n_existing);
    xmlw_attribute_u64(&w->xml, "kind", 1 + 4); /* from the system below, means latency */
    xmlw_attribute(&w->xml, "name", "NUMALatency");
    xmlw_attribute(&w->xml, "indexing", "os");
    for (nodeid_t node = 0; node < s->n_nodes; node++)
        if (s->nodes[node].exists)
            add_number(&numbers, node);
    write_list(w, "indexes", &numbers);
    for (nodeid_t from = 0; from < s->n_nodes; from++) {
        if (!s->nodes[from].exists)
            continue;
        for (nodeid_t to = 0; to < s->n_nodes; to++)
            if (s->nodes[to].exists)
                add_number(&numbers, snapshot_distance(s, from, to));
        write_list(w, "u64values", &numbers);
    }
    xmlw_end(&w->xml, "distances2");
}

static size_t count_existing(const Snapshot *s)
{
    size_t n = 0;

    for (nodeid_t node = 0; node < s->n_nodes; node++)
        n += s->nodes[node].exists;
    return n;
}

static void write_document(HwlocWriter *w, size_t n_existing)
{
    text_add(&w->xml.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">");
    xmlw_begin(&w->xml, "topology");
    xmlw_attribute(&w->xml, "version", "2.0");
    write_machine(w);
    if (n_existing > 1 && has_all_distances(w->s)) /* hwloc ignores a matrix of one */
        write_distances(w, n_existing);
    xmlw_end(&w->xml, "topology");
    text_add(&w->xml.text, "\n");
}

int hwloc_xml_document(const Snapshot *snapshot, char **ret_xml)
{
    size_t n_existing = count_existing(snapshot);
    _cleanup_hwloc_writer_ HwlocWriter w = {0};
    int r;

    if (n_existing == 0 || bitmap_isempty(&snapshot->online))
        return HWLOC_XML_E_EMPTY;
    r = hwloc_writer_init(&w, snapshot);
    if (r < 0)
        return r;
    write_document(&w, n_existing);
    return text_take(&w.xml.text, ret_xml, NULL);
}
