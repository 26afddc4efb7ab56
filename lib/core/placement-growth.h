/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement-parts.h"

/* Between placement-aim.c, what sets are to be grown, and placement-growth.c, which grows them. */

typedef enum Aim { AIM_LEAST, AIM_EVEN, AIM_ALL, _AIM_MAX } Aim;

uint64_t growth_memory(const PlacementSearch *q); /* bytes that a set needs */
uint64_t growth_room(const PlacementSearch *q);   /* vCPUs that it needs CPUs for, at the level */

int growth_begin(PlacementSearch *q, const Stage *stage); /* 0 or -ENOMEM */
bool growth_begin_level(PlacementSearch *q);              /* false: it cannot be reached */
bool growth_next_aim(PlacementSearch *q);                 /* false: there is none */
bool growth_is_start(const PlacementSearch *q, uint16_t site);
