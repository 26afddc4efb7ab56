/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pci.h"

#include <dirent.h>
#include <stdio.h>

#define DEVICES "/sys/bus/pci/devices"

/* Reads exactly n lower-case hexadecimal digits and what follows them; *text moves on. */
static bool take_hex(const char **text, unsigned n, char end, unsigned *ret_value)
{
    *ret_value = 0;
    for (; n > 0; n--, (*text)++) {
        char c = **text;

        if (c >= '0' && c <= '9')
            *ret_value = *ret_value * 16 + (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *ret_value = *ret_value * 16 + (unsigned)(c - 'a') + 10;
        else
            return false;
    }
    if (**text != end)
        return false;
    (*text)++;
    return true;
}

bool pci_address_from_text(const char *text, PciAddress *ret_address)
{
    unsigned segment, bus, device, function;

    if (!take_hex(&text, 4, ':', &segment) || !take_hex(&text, 2, ':', &bus) || !take_hex(&text, 2, '.', &device) ||
        !take_hex(&text, 1, '\0', &function) || device > 31 || function > 7)
        return false;
    *ret_address = (PciAddress){(uint16_t)segment, (uint8_t)bus, (uint8_t)(device << 3 | function)};
    return true;
}

void pci_address_to_text(PciAddress address, char text[PCI_ADDRESS_TEXT])
{
    snprintf(text, PCI_ADDRESS_TEXT, "%04x:%02x:%02x.%u", address.segment, address.bus, address.devfn >> 3u,
             address.devfn & 7u);
}

int pci_address_compare(PciAddress a, PciAddress b)
{
    uint32_t x = (uint32_t)a.segment << 16 | (uint32_t)a.bus << 8 | a.devfn;
    uint32_t y = (uint32_t)b.segment << 16 | (uint32_t)b.bus << 8 | b.devfn;

    return (x > y) - (x < y);
}

static int compare(const void *a, const void *b)
{
    return pci_address_compare(*(const PciAddress *)a, *(const PciAddress *)b);
}

static void close_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static int read_names(DIR *dir, PciAddress *devices, size_t *ret_n)
{
    const struct dirent *entry;

    while (errno = 0, (entry = readdir(dir))) {
        PciAddress address;

        if (!pci_address_from_text(entry->d_name, &address))
            continue;
        if (*ret_n == PCI_DEVICES_MAX)
            return PCI_E_MORE;
        devices[(*ret_n)++] = address;
    }
    return -errno;
}

int pci_read_devices(const char *root, PciAddress **ret_devices, size_t *ret_n)
{
    _cleanup_free_ char *path = NULL, *buffer = new_array(PCI_DEVICES_MAX, sizeof(PciAddress));
    _cleanup_(close_dir) DIR *dir = NULL;
    PciAddress *devices = (PciAddress *)(void *)buffer;
    int r;

    *ret_n = 0;
    if (asprintf(&path, "%s" DEVICES, root) < 0)
        path = NULL;
    if (!path || !buffer)
        return -ENOMEM;
    dir = opendir(path);
    if (!dir && errno != ENOENT)
        return -errno;
    r = dir ? read_names(dir, devices, ret_n) : 0;
    if (r < 0)
        return r;
    qsort(devices, *ret_n, sizeof(*devices), compare);
    *ret_devices = devices;
    buffer = NULL;
    return r;
}
