/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "jsonreader.h"
#include "rows.h"

/* Reads `domains` of a host description whose nodes, CPUs and pools are in `rows` already. */
int hostdesc_read_domains(JsonReader *reader, json_object *top, HostRows *rows);
