/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "vtable.h"

#include "gather.h"
#include "place.h"
#include "read.h"

#define OPEN SD_BUS_VTABLE_UNPRIVILEGED /* who may call is the bus policy's to say */

const sd_bus_vtable bus_vtable[] = {
    SD_BUS_VTABLE_START(0),

    SD_BUS_PROPERTY("Version", "s", read_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Backend", "s", read_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Simulated", "b", read_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Generation", "t", read_property, 0, 0),
    SD_BUS_PROPERTY("Features", "as", read_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Nodes", "u", read_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),

    SD_BUS_METHOD_WITH_ARGS("GetStatus", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", status), read_get_status, OPEN),
    SD_BUS_METHOD_WITH_ARGS("GetTopology", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", topology), read_get_topology, OPEN),
    SD_BUS_METHOD_WITH_ARGS("GetTopologyXML", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", xml), read_get_topology_xml, OPEN),
    SD_BUS_METHOD_WITH_ARGS("ListDomains", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(usst)", domains), read_list_domains, OPEN),
    SD_BUS_METHOD_WITH_ARGS("GetDomainMemory", SD_BUS_ARGS("u", domid), SD_BUS_RESULT("a(ut)", nodes),
                            read_get_domain_memory, OPEN),
    SD_BUS_METHOD_WITH_ARGS("Gather", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", host), gather_call, OPEN),

    SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("a{sv}", request), SD_BUS_RESULT("s", placement), place_explain,
                            OPEN),
    SD_BUS_METHOD_WITH_ARGS("Place", SD_BUS_ARGS("a{sv}", request), SD_BUS_RESULT("s", token, "a{sv}", placement),
                            place_call, OPEN),
    SD_BUS_METHOD_WITH_ARGS("Commit", SD_BUS_ARGS("s", token, "u", domid), SD_BUS_NO_RESULT, place_commit, OPEN),
    SD_BUS_METHOD_WITH_ARGS("Release", SD_BUS_ARGS("s", token), SD_BUS_NO_RESULT, place_release, OPEN),

    SD_BUS_SIGNAL_WITH_ARGS("DomainPlaced", SD_BUS_ARGS("u", domid, "s", token), 0),
    SD_BUS_SIGNAL_WITH_ARGS("ReservationExpired", SD_BUS_ARGS("s", token), 0),
    SD_BUS_SIGNAL_WITH_ARGS("TopologyChanged", SD_BUS_ARGS("t", generation), 0),

    SD_BUS_VTABLE_END,
};
