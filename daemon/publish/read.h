/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Handlers that read the current snapshot and change nothing; userdata is the Bus. */
int read_get_status(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
int read_get_topology(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
int read_get_topology_xml(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
int read_list_domains(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);
int read_get_domain_memory(sd_bus_message *call, void *userdata, sd_bus_error *ret_error);

int read_property(sd_bus *sdbus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                  void *userdata, sd_bus_error *ret_error);
