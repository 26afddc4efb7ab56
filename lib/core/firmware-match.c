/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "firmware-match.h"

int firmware_match(Snapshot *snapshot, const Firmware *firmware)
{
    return 0;
}
