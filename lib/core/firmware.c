/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "firmware.h"

#include <string.h>

static int copy_bytes(const uint8_t *bytes, size_t size, uint8_t **ret_copy)
{
    if (!bytes)
        return 0;
    *ret_copy = new_array(size, 1);
    if (!*ret_copy)
        return -ENOMEM;
    memcpy(*ret_copy, bytes, size);
    return 0;
}

int firmware_new(const uint8_t *srat, size_t srat_size, const uint8_t *slit, size_t slit_size, Firmware **ret_firmware)
{
    _cleanup_(firmware_unref_p) Firmware *firmware = calloc(1, sizeof(*firmware));
    int r;

    if (!firmware)
        return -ENOMEM;
    *firmware = (Firmware){.refs = 1, .srat_size = srat_size, .slit_size = slit_size};
    if ((r = copy_bytes(srat, srat_size, &firmware->srat_bytes)) < 0 ||
        (r = copy_bytes(slit, slit_size, &firmware->slit_bytes)) < 0)
        return r;
    if ((srat && (r = srat_parse(srat, srat_size, &firmware->srat)) < 0) ||
        (slit && (r = slit_parse(slit, slit_size, &firmware->slit)) < 0))
        return r;
    if ((r = srat_nodes_make(&firmware->srat, &firmware->nodes)) < 0)
        return r;
    *ret_firmware = TAKE_PTR(firmware);
    return 0;
}

Firmware *firmware_ref(Firmware *firmware)
{
    if (firmware)
        firmware->refs++;
    return firmware;
}

void firmware_unref(Firmware *firmware)
{
    if (!firmware || --firmware->refs)
        return;
    srat_done(&firmware->srat);
    slit_done(&firmware->slit);
    srat_nodes_done(&firmware->nodes);
    free(firmware->srat_bytes);
    free(firmware->slit_bytes);
    free(firmware);
}
