/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-source.h"

/*
 * Which node each PCI device is on. dom0's kernel knows the devices, the hypervisor their nodes. Both hardly change,
 * and asking is slow (Xen looks each device up in a list, under a lock), so it is done when a collection is full, in
 * turn, and after a failure. A device whose node cannot be read keeps the one it had.
 */

#define BATCH 64u    /* devices in a call, after which Xen may stop anyway */
#define BATCH_COST 8 /* more than it seems, for the lists that Xen walks */

static const char nodes_call[] = "pcitopoinfo", list_call[] = "PCI devices of dom0";

static bool is_due(const XenSource *s)
{
    return s->full || s->devices.due || s->generation % XEN_TURN == 0;
}

static uint32_t known_node(const XenDevices *devices, PciAddress address)
{
    size_t low = 0, high = devices->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = pci_address_compare(devices->list[middle].address, address);

        if (order == 0)
            return devices->list[middle].node;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return ROW_INVALID;
}

/* The new list, each device with the node that it had. 0; 1: there is none, the old one holds; negative: as usual. */
static int begin(XenSource *s)
{
    XenDevices *devices = &s->devices;
    _cleanup_free_ char *buffer = NULL;
    PciAddress *addresses = NULL;
    size_t n = 0;
    int r = s->calls->ops->pci_devices(s->calls, &addresses, &n);

    buffer = (char *)addresses;
    xen_spend(s, 4 + (int)(n / 64));
    devices->due = r < 0; /* until it works */
    if (r < 0) {
        s->source.errors[ERROR_XEN]++;
        return xen_warn_unreadable(s, list_call, r) < 0 ? -ENOMEM : 1;
    }
    if (r == PCI_E_MORE && xen_answer_refused(s, list_call, "there are more than numad-xen can show") < 0)
        return -ENOMEM;
    free(devices->next);
    devices->next = new_array(n, sizeof(*devices->next));
    if (!devices->next)
        return -ENOMEM;
    devices->n_next = n;
    for (size_t i = 0; i < n; i++)
        devices->next[i] = (XenDevice){addresses[i], known_node(devices, addresses[i])};
    return 0;
}

static int explain(XenSource *s, int error)
{
    if (error != -ENOSYS && error != -EOPNOTSUPP)
        return xen_call_failed(s, ERROR_XEN, nodes_call, error);
    return xen_answer_refused(s, nodes_call, "this Xen has no such call, as one that is built without PCI");
}

/* 0: they are read, or could not be; negative: as usual. */
static int read_batch(XenSource *s)
{
    XenDevices *devices = &s->devices;
    PciAddress asked[BATCH] = {{0}};
    uint32_t nodes[BATCH];
    size_t n = MIN(BATCH, devices->n_next - s->cursor);
    int r;

    for (size_t i = 0; i < n; i++) {
        asked[i] = devices->next[s->cursor + i].address;
        nodes[i] = ROW_INVALID;
    }
    r = s->calls->ops->pci_nodes(s->calls, asked, n, nodes);
    xen_spend(s, BATCH_COST);
    if (r < 0) {
        s->cursor = devices->n_next; /* the others would fail as well */
        devices->due = true;
        return explain(s, r);
    }
    for (size_t i = 0; i < n; i++)
        devices->next[s->cursor + i].node = nodes[i];
    s->cursor += n;
    return 0;
}

/* 1: call again; 0: the list is up to date, or the old one holds; negative: as usual. */
static int read_devices(XenSource *s)
{
    XenDevices *devices = &s->devices;
    int r;

    if (!devices->next) {
        r = is_due(s) ? begin(s) : 1;
        if (r != 0)
            return MIN(r, 0);
    }
    while (s->cursor < devices->n_next) {
        if (s->budget <= 0)
            return 1;
        r = read_batch(s);
        if (r < 0)
            return r;
    }
    free(devices->list);
    devices->list = TAKE_PTR(devices->next);
    devices->n = devices->n_next;
    return 0;
}

static int fill_rows(XenSource *s)
{
    HostRows *rows = s->rows;

    rows->devices = new_array(s->devices.n, sizeof(*rows->devices));
    if (!rows->devices)
        return -ENOMEM;
    for (; rows->n_devices < s->devices.n; rows->n_devices++) {
        DeviceRow *row = &rows->devices[rows->n_devices];

        row->node = s->devices.list[rows->n_devices].node;
        row->pci = malloc(PCI_ADDRESS_TEXT);
        if (!row->pci)
            return -ENOMEM;
        pci_address_to_text(s->devices.list[rows->n_devices].address, row->pci);
    }
    xen_spend(s, (int)(s->devices.n / 256));
    return 0;
}

int xen_read_devices(XenSource *s)
{
    int r = read_devices(s);

    if (r != 0)
        return r;
    s->cursor = 0;
    return fill_rows(s);
}
