/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonreader.h"
#include "rows.h"

/*
 * The parts of a host description, in the order they are read in: one that needs a number from another (how many
 * nodes, the highest CPU) comes after it. 0, -ENOMEM or JSON_E_REFUSED.
 *
 * A key that is left out has its default. One that is null says that the value is not known.
 */

#define HOSTDESC_MAX_SIZE (UINT64_C(1) << 56) /* bytes of anything */
#define HOSTDESC_MAX_MASKS (UINT64_C(1) << 30) /* bytes that the affinities of all vCPUs take, see hostdesc.h */

int hostdesc_read_nodes(JsonReader *reader, json_object *top, HostRows *rows); /* node_extra too */
int hostdesc_read_cpus(JsonReader *reader, json_object *top, HostRows *rows);
int hostdesc_read_firmware(JsonReader *reader, json_object *top, HostRows *rows);
int hostdesc_read_devices(JsonReader *reader, json_object *top, HostRows *rows);
int hostdesc_read_pools(JsonReader *reader, json_object *top, HostRows *rows);
int hostdesc_read_domains(JsonReader *reader, json_object *top, HostRows *rows);
/* Pools whose CPUs are not known count as pools for the domains alone; takes them out of the rows again. */
void hostdesc_drop_unknown_pools(json_object *top, HostRows *rows);
