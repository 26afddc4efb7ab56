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
    {"place", "--vcpus N --memory SIZE [OPTION...]", "where a new domain is to go; reserves it",
     "The domain:\n"
     "  --vcpus N          its vCPUs, as many as it may ever have\n"
     "  --memory SIZE      as it starts; SIZE in bytes, or with K, M, G or T\n"
     "  --max-memory SIZE  what it may grow to\n"
     "  --name S, --uuid U by which the domain is known when it comes\n"
     "  --type pv|pvh|hvm\n"
     "  --threads N        of a core of the guest, which get a core of the host together\n"
     "Where:\n"
     "  --policy P         balance, pack, interleave or any; else as the daemon is set\n"
     "  --nodes LIST       that are to give the memory, if they can\n"
     "  --cpus LIST        that the vCPUs must not leave\n"
     "  --pool N           its CPU pool\n"
     "  --near PCI         close to that device, like 0000:3b:00.0\n"
     "  --strict           exactly so, vCPUs bound to the CPUs, or not at all\n"
     "Then:\n"
     "  --ttl MS           how long it stays reserved for the domain to come\n"
     "  --dry-run          reserve nothing\n"
     "  --explain          show what else was weighed\n"
     "  --format F         text, json (numad-xen-placement/1), or xl: lines of an xl.cfg\n",
     place_run},
    {"reservations", "[--json]", "what is reserved for domains to come",
     "  --json       print the document numad-xen-reservations/1\n", reservations_run},
    {"commit", "TOKEN DOMID", "say that the domain is built that was reserved for",
     "  TOKEN        as place said it\n"
     "  DOMID        of the domain\n",
     commit_run},
    {"release", "TOKEN", "give up what was reserved or promised", "  TOKEN        as place said it\n", release_run},
    {"gather", "DIR [--anonymize]", "capture the host, to look at it elsewhere",
     "  DIR          a folder, made where there is none; the capture is DIR/host.json,\n"
     "               and --host DIR shows it\n"
     "  --anonymize  without names and UUIDs of domains, and makers of the firmware\n",
     gather_run},
    {"sim", "create | destroy | balloon | fault ...", "domains of a simulated host",
     "  create [OPTION...]      start a domain and print its domid:\n"
     "    --memory SIZE, --vcpus N, --max-memory SIZE, --name S, --uuid U,\n"
     "    --type pv|pvh|hvm, --state S, --pool N, --hard CPUS, --soft CPUS,\n"
     "    --node-affinity NODES\n"
     "    --token TOKEN         as place has reserved it; commits it too\n"
     "  destroy DOMID\n"
     "  balloon DOMID SIZE      what it is to have\n"
     "  fault KIND [KEY=VALUE...]\n"
     "                          take or give node=N bytes=SIZE; stop-build or fail-build\n"
     "                          bytes=SIZE; resume-build domid=N; read call=memory or\n"
     "                          collection [errno=N] [times=N]; lose-events; slow ms=N;\n"
     "                          busy on=1 or 0\n",
     sim_run},
    {0},
};

const Command *command_find(const char *name)
{
    for (const Command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
