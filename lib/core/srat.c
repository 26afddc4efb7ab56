/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "srat.h"

int srat_parse(const uint8_t *bytes, size_t size, Srat *ret_srat)
{
    *ret_srat = (Srat){0};
    return 0;
}

void srat_done(Srat *srat)
{
    free(srat->cpus);
    free(srat->ranges);
    free(srat->initiators);
    free(srat->fault);
    *srat = (Srat){0};
}
