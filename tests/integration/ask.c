/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/client/numadxen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/*
 * Calls libnumadxen as its users do: `ask ADDRESS|ssh:HOST status|topology|gather|hwloc|version|domains|memory
 * [DOMID]`, and tells of a child that the library has left behind.
 */

typedef int (*GetText)(numadx_client *client, char **ret_text);

static int print_text(numadx_client *client, GetText get)
{
    char *text = NULL;
    int r = get(client, &text);

    if (r == 0)
        puts(text);
    free(text);
    return r;
}

static int print_domains(numadx_client *client)
{
    numadx_domain *domains = NULL;
    size_t n = 0;
    int r = numadx_list_domains(client, &domains, &n);

    for (size_t i = 0; r == 0 && i < n; i++)
        printf("%" PRIu32 "|%s|%s|%" PRIu64 "\n", domains[i].domid, domains[i].name, domains[i].uuid, domains[i].bytes);
    numadx_domains_free(domains, n);
    return r;
}

static int print_memory(numadx_client *client, const char *domid)
{
    numadx_node_memory *nodes = NULL;
    size_t n = 0;
    int r = numadx_get_domain_memory(client, (uint32_t)strtoul(domid, NULL, 10), &nodes, &n);

    for (size_t i = 0; r == 0 && i < n; i++)
        printf("%" PRIu32 "|%" PRIu64 "\n", nodes[i].node, nodes[i].bytes);
    free(nodes);
    return r;
}

static int ask(numadx_client *client, const char *what, const char *argument)
{
    if (strcmp(what, "status") == 0)
        return print_text(client, numadx_get_status);
    if (strcmp(what, "topology") == 0)
        return print_text(client, numadx_get_topology);
    if (strcmp(what, "hwloc") == 0)
        return print_text(client, numadx_get_topology_xml);
    if (strcmp(what, "gather") == 0)
        return print_text(client, numadx_gather);
    if (strcmp(what, "version") == 0)
        return print_text(client, numadx_get_version);
    if (strcmp(what, "domains") == 0)
        return print_domains(client);
    return print_memory(client, argument);
}

static int connect_to(const char *where, numadx_client **ret_client)
{
    if (strncmp(where, "ssh:", 4) == 0)
        return numadx_open_remote(where + 4, ret_client);
    return numadx_open(*where ? where : NULL, ret_client);
}

int main(int argc, char **argv)
{
    numadx_client *client;
    int r;

    if (argc < 3)
        return 2;
    r = connect_to(argv[1], &client);
    if (r == 0)
        r = ask(client, argv[2], argc > 3 ? argv[3] : "0");
    if (r < 0)
        printf("%s: %s\n", strerrorname_np(-r), numadx_error(client));
    numadx_close(client);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        puts("a child is left");
    return r < 0;
}
