/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command.h"

#include <string.h>

const Command commands[] = {
    {"status", "[--json] [--watch]", "host, nodes, domains and warnings at a glance",
     "  --json       print the document numad-xen-status/1\n"
     "  --watch      show it again every second, until q or Ctrl-C\n",
     status_run},
    {"topology", "[--json | --hwloc]", "the host as the hypervisor sees it",
     "  --json       print the document numad-xen-topology/1\n"
     "  --hwloc      print hwloc XML, for lstopo -i FILE and hwloc's other tools\n",
     topology_run},
    {"numastat", "[-d DOMID|NAME] [--pages]", "each domain's memory on each node",
     "  -d DOMID|NAME  only this domain\n"
     "  --pages        print lines like DOM8: NODE1: PAGES: 262144\n",
     numastat_run},
    {"doctor", "[--json]", "what numad-xend needs on this host and what is missing",
     "  --json       print the document numad-xen-doctor/1\n", doctor_run},
    {"gather", "DIR [--anonymize]", "capture the host, to look at it elsewhere",
     "  DIR          a folder, made where there is none; the capture is DIR/host.json,\n"
     "               and --host DIR shows it\n"
     "  --anonymize  without names and UUIDs of domains, and makers of the firmware\n",
     gather_run},
    {0},
};

const Command *command_find(const char *name)
{
    for (const Command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
