/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hwlocxml-object.h"

#include <stdio.h>
#include <string.h>

/* --- sets --- */

static void add_hex_word(Text *text, uint32_t word)
{
    char digits[] = "0x00000000";

    for (size_t i = sizeof(digits) - 1; word; word >>= 4)
        digits[--i] = "0123456789abcdef"[word & 15];
    text_add_bytes(text, digits, sizeof(digits) - 1);
}

/* The commas around n - 1 words of 0. */
static void add_commas(Text *text, unsigned n)
{
    char commas[64];

    memset(commas, ',', sizeof(commas));
    for (; n > sizeof(commas); n -= sizeof(commas))
        text_add_bytes(text, commas, sizeof(commas));
    text_add_bytes(text, commas, n);
}

void set_text_finish(SetText *set)
{
    unsigned above = set->n_words; /* the last word that was written */

    set->text.size = 0;
    for (unsigned i = set->n_words; i-- > 0; set->words[i] = 0) {
        if (!set->words[i] && i > 0)
            continue;
        if (above != set->n_words)
            add_commas(&set->text, above - i);
        if (set->words[i])
            add_hex_word(&set->text, set->words[i]);
        else
            text_add(&set->text, "0x0");
        above = i;
    }
    if (set->n_words == 0)
        text_add(&set->text, "0x0");
    set->n_words = 0;
}

void set_text_add_nodes(SetText *set, const HwlocTree *tree, nodeid_t first)
{
    for (nodeid_t node = first; node != NODE_NONE; node = tree->next[node])
        set_text_add(set, node);
}

/* --- objects --- */

void hwloc_begin_object(HwlocWriter *w, const char *type, uint32_t os_index)
{
    xmlw_begin(&w->xml, "object");
    xmlw_attribute(&w->xml, "type", type);
    if (os_index != ROW_INVALID)
        xmlw_attribute_u64(&w->xml, "os_index", os_index);
}

void hwloc_add_sets(HwlocWriter *w, const Text *cpus, const Text *nodes)
{
    xmlw_attribute_raw(&w->xml, "cpuset", cpus);
    xmlw_attribute_raw(&w->xml, "complete_cpuset", cpus);
    xmlw_attribute_raw(&w->xml, "nodeset", nodes);
    xmlw_attribute_raw(&w->xml, "complete_nodeset", nodes);
}

void hwloc_add_gp_index(HwlocWriter *w)
{
    xmlw_attribute_u64(&w->xml, "gp_index", w->gp_index++);
}

void hwloc_end_object(HwlocWriter *w)
{
    xmlw_end(&w->xml, "object");
}

void hwloc_write_info(HwlocWriter *w, const char *name, const char *value)
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

    set_text_add(&w->nodes, id);
    set_text_finish(&w->nodes);
    hwloc_begin_object(w, "NUMANode", id);
    hwloc_add_sets(w, cpus, &w->nodes.text);
    hwloc_add_gp_index(w);
    xmlw_attribute_u64(&w->xml, "local_memory", has_present ? node->present : node->span);
    if (!has_present && node->span)
        hwloc_write_info(w, "LocalMemory", "what the node spans, holes in the address space included");
    if (node->pxm != VALUE_UNKNOWN) {
        snprintf(pxm, sizeof(pxm), "%" PRIu64, node->pxm);
        hwloc_write_info(w, "ProximityDomain", pxm);
    }
    hwloc_end_object(w);
}

void hwloc_write_nodes(HwlocWriter *w, nodeid_t first, const Text *cpus)
{
    for (nodeid_t node = first; node != NODE_NONE; node = w->tree.next[node])
        write_node(w, node, cpus);
}

/* --- devices --- */

#define PCI_BUS_TEXT 7 /* "0000:3b" */

/* Nobody told a device's class and maker: both are 0, and lstopo shows it with --whole-io. */
static void write_pci_device(HwlocWriter *w, const DeviceRow *device)
{
    hwloc_begin_object(w, "PCIDev", ROW_INVALID);
    hwloc_add_gp_index(w);
    xmlw_attribute(&w->xml, "pci_busid", device->pci);
    xmlw_attribute(&w->xml, "pci_type", "0000 [0000:0000] [0000:0000] 00");
    xmlw_attribute(&w->xml, "pci_link_speed", "0.000000");
    hwloc_end_object(w);
}

static void begin_bus(HwlocWriter *w, const DeviceRow *device)
{
    char range[32];

    snprintf(range, sizeof(range), "%.4s:[%.2s-%.2s]", device->pci, device->pci + 5, device->pci + 5);
    hwloc_begin_object(w, "Bridge", ROW_INVALID);
    hwloc_add_gp_index(w);
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

        if (bus && strncmp(bus->pci, device->pci, PCI_BUS_TEXT) != 0)
            hwloc_end_object(w);
        if (!bus || strncmp(bus->pci, device->pci, PCI_BUS_TEXT) != 0)
            begin_bus(w, device);
        bus = device;
        write_pci_device(w, device);
    }
    if (bus)
        hwloc_end_object(w);
}

void hwloc_write_devices(HwlocWriter *w, nodeid_t first)
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

void hwloc_write_other_devices(HwlocWriter *w)
{
    write_devices_of(w, w->s->n_nodes);
}

/* --- writer --- */

void hwloc_writer_done(HwlocWriter *w)
{
    text_done(&w->xml.text);
    text_done(&w->cpus.text);
    text_done(&w->nodes.text);
    hwloc_tree_done(&w->tree);
    free(w->device_of);
    free(w->next_device);
    w->device_of = w->next_device = NULL;
}

int hwloc_writer_init(HwlocWriter *ret_writer, const Snapshot *s)
{
    int r;

    *ret_writer = (HwlocWriter){.s = s, .gp_index = 1};
    r = hwloc_tree_init(&ret_writer->tree, s);
    if (r == 0)
        r = link_devices(ret_writer);
    if (r < 0)
        hwloc_writer_done(ret_writer);
    return r;
}
