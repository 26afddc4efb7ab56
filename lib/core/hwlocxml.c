/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hwlocxml.h"

#include "hwlocxml-tree.h"
#include "xmlwriter.h"

#include <stdio.h>
#include <string.h>

/*
 * What hwloc's reader asks for beyond its DTD: `type` is an object's first attribute; an object has its infos first,
 * then memory, CPU and I/O objects; children stand in the order of their lowest CPU; a NUMA node has its parent's
 * CPUs; the nodes of an object are those of the objects above it, its own, and those below; the length of a list of
 * numbers is exact.
 */

#define SET_WORDS (MAX(CPUS_MAX, NODES_MAX) / 32)

/* A set in the making, and its text as hwloc writes it: words of 32 bits from the highest, empty for 0. */
typedef struct SetText {
    uint32_t words[SET_WORDS];
    unsigned n_words; /* those above are 0 */
    Text text;
} SetText;

typedef struct HwlocWriter {
    XmlWriter xml;
    const Snapshot *s;
    HwlocTree tree;
    SetText cpus, nodes;
    uint64_t gp_index;     /* of the next object */
    uint32_t *device_of;   /* by node, and last those of no node: index of the first device, UINT32_MAX */
    uint32_t *next_device; /* by device: the next one of the same node */
} HwlocWriter;

/* --- sets --- */

static void set_add(SetText *set, unsigned number)
{
    set->words[number / 32] |= UINT32_C(1) << number % 32;
    set->n_words = MAX(set->n_words, number / 32 + 1);
}

static void add_hex_word(Text *text, uint32_t word)
{
    char digits[] = "0x00000000";

    for (size_t i = sizeof(digits) - 1; word; word >>= 4)
        digits[--i] = "0123456789abcdef"[word & 15];
    text_add_bytes(text, digits, sizeof(digits) - 1);
}

/* Makes the text of what was added and empties the set. */
static void set_finish(SetText *set)
{
    set->text.size = 0;
    for (unsigned i = set->n_words; i-- > 0; set->words[i] = 0) {
        if (set->words[i])
            add_hex_word(&set->text, set->words[i]);
        else if (i == 0)
            text_add(&set->text, "0x0");
        if (i > 0)
            text_add_bytes(&set->text, ",", 1);
    }
    if (set->n_words == 0)
        text_add(&set->text, "0x0");
    set->n_words = 0;
}

static void set_add_cpus(SetText *set, const CpuPlace *cpus, size_t n)
{
    for (size_t i = 0; i < n; i++)
        set_add(set, cpus[i].id[PLACE_CPU]);
}

static void set_add_nodes(SetText *set, const HwlocTree *tree, nodeid_t first)
{
    for (nodeid_t node = first; node != NODE_NONE; node = tree->next[node])
        set_add(set, node);
}

/* --- objects --- */

static void begin_object(HwlocWriter *w, const char *type, uint32_t os_index)
{
    xmlw_begin(&w->xml, "object");
    xmlw_attribute(&w->xml, "type", type);
    if (os_index != ROW_INVALID)
        xmlw_attribute_u64(&w->xml, "os_index", os_index);
}

static void add_sets(HwlocWriter *w, const Text *cpus, const Text *nodes)
{
    xmlw_attribute_raw(&w->xml, "cpuset", cpus);
    xmlw_attribute_raw(&w->xml, "complete_cpuset", cpus);
    xmlw_attribute_raw(&w->xml, "nodeset", nodes);
    xmlw_attribute_raw(&w->xml, "complete_nodeset", nodes);
}

static void add_gp_index(HwlocWriter *w)
{
    xmlw_attribute_u64(&w->xml, "gp_index", w->gp_index++);
}

static void end_object(HwlocWriter *w)
{
    xmlw_end(&w->xml, "object");
}

static void write_info(HwlocWriter *w, const char *name, const char *value)
{
    xmlw_begin(&w->xml, "info");
    xmlw_attribute(&w->xml, "name", name);
    xmlw_attribute(&w->xml, "value", value);
    xmlw_end(&w->xml, "info");
}

/* --- memory --- */

static void write_node(HwlocWriter *w, nodeid_t id, const Text *cpus)
{
    const Node *node = &w->s->nodes[id];
    bool has_present = node->present != VALUE_UNKNOWN;
    char pxm[24];

    set_add(&w->nodes, id);
    set_finish(&w->nodes);
    begin_object(w, "NUMANode", id);
    add_sets(w, cpus, &w->nodes.text);
    add_gp_index(w);
    xmlw_attribute_u64(&w->xml, "local_memory", has_present ? node->present : node->span);
    if (!has_present && node->span)
        write_info(w, "LocalMemory", "what the node spans, holes in the address space included");
    if (node->pxm != VALUE_UNKNOWN) {
        snprintf(pxm, sizeof(pxm), "%" PRIu64, node->pxm);
        write_info(w, "ProximityDomain", pxm);
    }
    end_object(w);
}

static void write_nodes(HwlocWriter *w, nodeid_t first, const Text *cpus)
{
    for (nodeid_t node = first; node != NODE_NONE; node = w->tree.next[node])
        write_node(w, node, cpus);
}

/* --- devices --- */

#define PCI_BUS_TEXT 7 /* "0000:3b" */

/* Whether it is "0000:3b:00.0", as hwloc wants it. */
static bool is_pci_address(const char *text)
{
    static const char form[] = "xxxx:xx:xx.x";

    if (strlen(text) != sizeof(form) - 1)
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'x' ? !strchr("0123456789abcdefABCDEF", text[i]) : text[i] != form[i])
            return false;
    return true;
}

/* Nobody told a device's class and maker: both are 0, and lstopo shows it with --whole-io. */
static void write_pci_device(HwlocWriter *w, const DeviceRow *device)
{
    begin_object(w, "PCIDev", ROW_INVALID);
    add_gp_index(w);
    xmlw_attribute(&w->xml, "pci_busid", device->pci);
    xmlw_attribute(&w->xml, "pci_type", "0000 [0000:0000] [0000:0000] 00");
    xmlw_attribute(&w->xml, "pci_link_speed", "0.000000");
    end_object(w);
}

/* A device whose address hwloc would not understand. */
static void write_other_device(HwlocWriter *w, const DeviceRow *device)
{
    begin_object(w, "Misc", ROW_INVALID);
    xmlw_attribute(&w->xml, "name", device->pci);
    add_gp_index(w);
    end_object(w);
}

static void begin_bus(HwlocWriter *w, const DeviceRow *device)
{
    char range[32];

    snprintf(range, sizeof(range), "%.4s:[%.2s-%.2s]", device->pci, device->pci + 5, device->pci + 5);
    begin_object(w, "Bridge", ROW_INVALID);
    add_gp_index(w);
    xmlw_attribute(&w->xml, "bridge_type", "0-1");
    xmlw_attribute_u64(&w->xml, "depth", 0);
    xmlw_attribute(&w->xml, "bridge_pci", range);
}

/* The devices of a node, under a host bridge for each bus: Xen does not tell of the bridges between. */
static void write_devices_of(HwlocWriter *w, size_t node)
{
    const DeviceRow *bus = NULL;

    for (uint32_t i = w->device_of[node]; i != UINT32_MAX; i = w->next_device[i]) {
        const DeviceRow *device = &w->s->devices[i];

        if (!is_pci_address(device->pci))
            continue;
        if (bus && strncmp(bus->pci, device->pci, PCI_BUS_TEXT) != 0)
            end_object(w);
        if (!bus || strncmp(bus->pci, device->pci, PCI_BUS_TEXT) != 0)
            begin_bus(w, device);
        bus = device;
        write_pci_device(w, device);
    }
    if (bus)
        end_object(w);
    for (uint32_t i = w->device_of[node]; i != UINT32_MAX; i = w->next_device[i])
        if (!is_pci_address(w->s->devices[i].pci))
            write_other_device(w, &w->s->devices[i]);
}

static void write_devices(HwlocWriter *w, nodeid_t first)
{
    for (nodeid_t node = first; node != NODE_NONE; node = w->tree.next[node])
        write_devices_of(w, node);
}

static int link_devices(HwlocWriter *w)
{
    const Snapshot *s = w->s;

    w->device_of = new_array(s->n_nodes + 1, sizeof(*w->device_of));
    w->next_device = new_array(s->n_devices, sizeof(*w->next_device));
    if (!w->device_of || !w->next_device)
        return -ENOMEM;
    memset(w->device_of, 0xff, (s->n_nodes + 1) * sizeof(*w->device_of));
    for (size_t i = s->n_devices; i-- > 0;) {
        uint32_t *head = &w->device_of[s->devices[i].node == ROW_INVALID ? s->n_nodes : s->devices[i].node];

        w->next_device[i] = *head;
        *head = (uint32_t)i;
    }
    return 0;
}

/* --- CPUs --- */

static void write_pu(HwlocWriter *w, const CpuPlace *cpu, const Text *nodes)
{
    set_add_cpus(&w->cpus, cpu, 1);
    set_finish(&w->cpus);
    begin_object(w, "PU", cpu->id[PLACE_CPU]);
    add_sets(w, &w->cpus.text, nodes);
    add_gp_index(w);
    end_object(w);
}

static void write_core(HwlocWriter *w, const CpuPlace *cpus, size_t n, const Text *nodes)
{
    if (cpu_place_has_core(cpus)) {
        set_add_cpus(&w->cpus, cpus, n);
        set_finish(&w->cpus);
        begin_object(w, "Core", cpus->id[PLACE_CORE]);
        add_sets(w, &w->cpus.text, nodes);
        add_gp_index(w);
    }
    for (size_t i = 0; i < n; i++)
        write_pu(w, &cpus[i], nodes);
    if (cpu_place_has_core(cpus))
        end_object(w);
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
    set_add_nodes(&w->nodes, &w->tree, w->tree.on_machine);
    for (unsigned i = 0; i <= level; i++)
        set_add_nodes(&w->nodes, &w->tree, nodes_on(w, cpu, i));
}

static void write_children(HwlocWriter *w, const CpuPlace *cpus, size_t n, unsigned level, const Text *nodes);

static void write_branch(HwlocWriter *w, const CpuPlace *cpus, size_t n, unsigned level)
{
    _cleanup_text_ Text nodes = {0}; /* what a core right below has: not what other branches below have */
    bool package = cpus->branch[level] == BRANCH_PACKAGE;

    add_own_nodes(w, cpus, level);
    set_finish(&w->nodes);
    text_add_bytes(&nodes, w->nodes.text.data, w->nodes.text.size);
    add_own_nodes(w, cpus, level);
    for (size_t i = 0; level == TREE_OUTER && i < n; i += object_length(cpus + i, n - i, TREE_INNER))
        set_add_nodes(&w->nodes, &w->tree, nodes_on(w, &cpus[i], TREE_INNER));
    set_finish(&w->nodes);
    set_add_cpus(&w->cpus, cpus, n);
    set_finish(&w->cpus);
    begin_object(w, package ? "Package" : "Group", package ? cpus->id[PLACE_SOCKET] : ROW_INVALID);
    add_sets(w, &w->cpus.text, &w->nodes.text);
    add_gp_index(w);
    if (!package) /* hwloc's number for a group around memory */
        xmlw_attribute_u64(&w->xml, "kind", 1001);
    write_nodes(w, nodes_on(w, cpus, level), &w->cpus.text);
    write_children(w, cpus, n, level + 1, &nodes);
    write_devices(w, nodes_on(w, cpus, level));
    end_object(w);
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
    write_info(w, "Backend", "Xen");
    if (w->s->xen_version)
        write_info(w, "XenVersion", w->s->xen_version);
    if (w->s->simulated)
        write_info(w, "Simulated", "1");
    if (!has_all_distances(w->s))
        write_info(w, "Distances", "left out: some are not known");
}

static void begin_machine(HwlocWriter *w)
{
    const Snapshot *s = w->s;

    begin_object(w, "Machine", 0);
    set_add_cpus(&w->cpus, w->tree.cpus, w->tree.n_cpus);
    for (cpuid_t cpu = 0; cpu <= s->max_cpu_id && cpu < CPUS_MAX; cpu++) /* offline ones too */
        set_add(&w->cpus, cpu);
    set_finish(&w->cpus);
    xmlw_attribute_raw(&w->xml, "complete_cpuset", &w->cpus.text);
    set_add_cpus(&w->cpus, w->tree.cpus, w->tree.n_cpus);
    set_finish(&w->cpus);
    for (nodeid_t node = 0; node < s->n_nodes; node++)
        if (s->nodes[node].exists)
            set_add(&w->nodes, node);
    set_finish(&w->nodes);
    xmlw_attribute_raw(&w->xml, "cpuset", &w->cpus.text);
    xmlw_attribute_raw(&w->xml, "allowed_cpuset", &w->cpus.text);
    xmlw_attribute_raw(&w->xml, "nodeset", &w->nodes.text);
    xmlw_attribute_raw(&w->xml, "complete_nodeset", &w->nodes.text);
    xmlw_attribute_raw(&w->xml, "allowed_nodeset", &w->nodes.text);
    add_gp_index(w);
}

static int write_machine(HwlocWriter *w)
{
    _cleanup_text_ Text nodes = {0};

    begin_machine(w);
    write_machine_infos(w);
    write_nodes(w, w->tree.on_machine, &w->cpus.text);
    set_add_nodes(&w->nodes, &w->tree, w->tree.on_machine);
    set_finish(&w->nodes);
    text_add_bytes(&nodes, w->nodes.text.data, w->nodes.text.size);
    write_children(w, w->tree.cpus, w->tree.n_cpus, TREE_OUTER, &nodes);
    write_devices(w, w->tree.on_machine);
    write_devices_of(w, w->s->n_nodes);
    end_object(w);
    return nodes.failed ? -ENOMEM : 0;
}

/* --- distances --- */

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
        if (s->nodes[node].exists) {
            text_add_u64(&numbers, node);
            text_add_bytes(&numbers, " ", 1);
        }
    write_list(w, "indexes", &numbers);
    for (nodeid_t from = 0; from < s->n_nodes; from++) {
        if (!s->nodes[from].exists)
            continue;
        for (nodeid_t to = 0; to < s->n_nodes; to++)
            if (s->nodes[to].exists) {
                text_add_u64(&numbers, snapshot_distance(s, from, to));
                text_add_bytes(&numbers, " ", 1);
            }
        write_list(w, "u64values", &numbers);
    }
    xmlw_end(&w->xml, "distances2");
}

static int write_document(HwlocWriter *w)
{
    size_t n_existing = 0;
    int r;

    text_add(&w->xml.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">");
    xmlw_begin(&w->xml, "topology");
    xmlw_attribute(&w->xml, "version", "2.0");
    r = write_machine(w);
    for (nodeid_t node = 0; node < w->s->n_nodes; node++)
        n_existing += w->s->nodes[node].exists;
    if (r == 0 && n_existing > 1 && has_all_distances(w->s))
        write_distances(w, n_existing);
    xmlw_end(&w->xml, "topology");
    text_add(&w->xml.text, "\n");
    return r;
}

int hwloc_xml_document(const Snapshot *snapshot, char **ret_xml)
{
    HwlocWriter w = {.s = snapshot, .gp_index = 1};
    int r;

    r = hwloc_tree_init(&w.tree, snapshot);
    if (r == 0)
        r = link_devices(&w);
    if (r == 0)
        r = write_document(&w);
    if (r == 0)
        r = text_take(&w.xml.text, ret_xml, NULL);
    text_done(&w.xml.text);
    text_done(&w.cpus.text);
    text_done(&w.nodes.text);
    hwloc_tree_done(&w.tree);
    free(w.device_of);
    free(w.next_device);
    return r;
}
