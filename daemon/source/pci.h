/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

/* The host's PCI devices, as Linux shows them to dom0, which owns them but for those that Xen hides. */
typedef struct PciAddress {
    uint16_t segment;
    uint8_t bus, devfn;
} PciAddress;

#define PCI_ADDRESS_TEXT sizeof("0000:00:00.0")
void pci_address_to_text(PciAddress address, char text[PCI_ADDRESS_TEXT]);
/* Only what Linux writes, "0000:3b:00.0"; false for anything else, so also for segments that Linux made up itself. */
bool pci_address_from_text(const char *text, PciAddress *ret_address);
int pci_address_compare(PciAddress a, PciAddress b);

#define PCI_DEVICES_MAX 8192u /* bounds the time it takes to list them */
#define PCI_E_MORE 1          /* there are more devices than that */
/*
 * The devices below `root` ("" for this system), in order; none when there is no PCI. *ret_devices is owned, also with
 * PCI_E_MORE. 0, PCI_E_MORE or -errno.
 */
int pci_read_devices(const char *root, PciAddress **ret_devices, size_t *ret_n);
