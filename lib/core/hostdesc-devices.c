/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostdesc-parts.h"

#include <ctype.h>

#define MAX_DEVICES 65536

static const char *const device_keys[] = {"pci", "node", NULL};

/* Whether it is an address like 0000:3b:1f.7, which is made lower case. */
static bool parse_address(char *pci)
{
    static const char pattern[] = "xxxx:xx:1x.7"; /* x: any digit; 1, 7: at most that */

    if (strlen(pci) != sizeof(pattern) - 1)
        return false;
    for (size_t i = 0; pattern[i]; i++) {
        pci[i] = (char)tolower((unsigned char)pci[i]);
        if (pattern[i] == 'x'                    ? !isxdigit((unsigned char)pci[i])
            : isdigit((unsigned char)pattern[i]) ? pci[i] < '0' || pci[i] > pattern[i]
                                                 : pci[i] != pattern[i])
            return false;
    }
    return true;
}

static int read_address(JsonReader *reader, const JsonPath *path, json_object *object, DeviceRow *device)
{
    const char *pci = NULL;
    int r = json_get_string(reader, path, object, "pci", &pci);

    if (r == 0 && !pci)
        r = json_refuse(reader, path, "needs a pci address");
    if (r != 0)
        return r;
    device->pci = strdup(pci);
    if (!device->pci)
        return -ENOMEM;
    if (!parse_address(device->pci))
        return json_refuse(reader, &(JsonPath){.up = path, .key = "pci"}, "'%s' is not an address like 0000:3b:00.0",
                           pci);
    return 0;
}

static int compare_device(const void *a, const void *b)
{
    return strcmp(((const DeviceRow *)a)->pci, ((const DeviceRow *)b)->pci);
}

static int check_devices(JsonReader *reader, HostRows *rows)
{
    qsort(rows->devices, rows->n_devices, sizeof(*rows->devices), compare_device);
    for (size_t i = 1; i < rows->n_devices; i++)
        if (compare_device(&rows->devices[i - 1], &rows->devices[i]) == 0)
            return json_refuse(reader, &(JsonPath){.key = "devices"}, "%s is named twice", rows->devices[i].pci);
    return 0;
}

int hostdesc_read_devices(JsonReader *reader, json_object *top, HostRows *rows)
{
    JsonPath up = {.key = "devices"};
    json_object *array = json_member(top, "devices");
    int r = array ? json_check_array(reader, &up, array, MAX_DEVICES) : 0;

    if (!array || r != 0)
        return r;
    rows->devices = new_array(json_object_array_length(array), sizeof(*rows->devices));
    if (!rows->devices)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
        JsonPath path = {.up = &up, .index = i};
        json_object *object = json_object_array_get_idx(array, i);
        DeviceRow *device = &rows->devices[rows->n_devices++];

        device->node = ROW_INVALID;
        r = json_check_object(reader, &path, object, device_keys);
        if (r == 0)
            r = read_address(reader, &path, object, device);
        if (r == 0)
            r = json_get_u32(reader, &path, object, "node", UINT32_MAX, &device->node);
    }
    return r != 0 ? r : check_devices(reader, rows);
}
