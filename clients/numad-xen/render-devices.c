/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "display.h"

#include <stdio.h>

#define DEVICES_MAX 16u /* of a node; where there are more, those of a bus are told together */
#define BUS_MIN 4u      /* devices of a bus that are told together */

/* Addresses of the devices of one node, in the document's order, which is by address. */
typedef struct Devices {
    Bytes *items; /* owned */
    size_t n;
} Devices;

static void devices_of(const TopologyView *view, uint64_t node, Devices *devices)
{
    devices->n = 0;
    for (size_t i = 0; i < value_count(view->devices); i++) {
        struct json_object *row = value_at(view->devices, i);
        Bytes pci = value_bytes(row, "pci");

        if (value_u64(row, "node") == node && pci.data)
            devices->items[devices->n++] = pci;
    }
}

/* Length of "0000:3b:" in "0000:3b:00.0"; 0: the address is no such one. */
static size_t bus_length(Bytes pci)
{
    const char *colon = pci.data ? memrchr(pci.data, ':', pci.size) : NULL;

    return colon ? (size_t)(colon - pci.data) + 1 : 0;
}

static bool same_bus(Bytes a, Bytes b)
{
    size_t n = bus_length(a);

    return n && n == bus_length(b) && memcmp(a.data, b.data, n) == 0;
}

static void add_escaped(const char *data, size_t size, Text *to)
{
    _cleanup_free_ char *text = display_escape(data, size, DISPLAY_ASCII);

    text_add(to, text ? text : "-");
}

/* Adds the devices of one bus, or one device; returns how many. */
static size_t add_bus(const Bytes *items, size_t n, bool fold, Text *to)
{
    size_t end = 1, bus = bus_length(items[0]);

    while (fold && end < n && same_bus(items[0], items[end]))
        end++;
    text_add(to, to->size ? " " : "");
    add_escaped(items[0].data, items[0].size, to);
    if (end < BUS_MIN)
        return 1;
    text_add(to, "..");
    add_escaped(items[end - 1].data + bus, items[end - 1].size - bus, to);
    text_printf(to, "(%zu)", end);
    return end;
}

static bool add_devices_of(uint64_t node, const Devices *devices, unsigned width, Text *to)
{
    _cleanup_text_ Text list = {0};
    _cleanup_free_ char *string = NULL;
    bool fold = devices->n > DEVICES_MAX;
    char label[32];

    if (!devices->n)
        return false;
    for (size_t i = 0; i < devices->n;)
        i += add_bus(&devices->items[i], devices->n - i, fold, &list);
    snprintf(label, sizeof(label), "%-4s  ", display_number(node).text);
    if (text_take(&list, &string, NULL) < 0)
        to->failed = true;
    else
        render_entry(label, string, width, to);
    return fold;
}

void render_devices(const TopologyView *view, const Screen *screen, unsigned width, Text *to)
{
    size_t n = value_count(view->devices);
    Devices devices = {.items = new_array(n, sizeof(*devices.items))};
    bool folded = false;

    if (!n || !devices.items) {
        to->failed = to->failed || !devices.items;
        free(devices.items);
        return;
    }
    render_heads(screen, "NODE  PCI DEVICES", to);
    for (size_t i = 0; i < view->nodes.n; i++) {
        devices_of(view, view->nodes.items[i].id, &devices);
        folded |= add_devices_of(view->nodes.items[i].id, &devices, width, to);
    }
    devices_of(view, VALUE_UNKNOWN, &devices);
    folded |= add_devices_of(VALUE_UNKNOWN, &devices, width, to);
    if (folded)
        render_note(screen, width, to, "0000:3b:00.0..0f.7(128) are 128 devices of one bus, the first and the last.");
    free(devices.items);
}
