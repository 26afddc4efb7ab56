/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lib/client/numadxen.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

/*
 * Calls libnumadxen as its users do: `ask ADDRESS|ssh:HOST status|topology|gather|hwloc|version|domains|memory|explain|
 * place|commit|release [DOMID|TOKEN [DOMID]]`, and tells of a child that the library has left behind. Requests are made
 * with every key there is, and while they wait a signal is handled every 20 ms.
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

static void on_alarm(int signal_number)
{
    (void)signal_number;
}

static void be_interrupted(void)
{
    const struct itimerval often = {.it_interval = {.tv_usec = 20000}, .it_value = {.tv_usec = 20000}};
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static int fill_where(numadx_request *request)
{
    static const uint32_t nodes[] = {1, 3};
    int r = numadx_request_set_policy(request, "pack");

    r = r < 0 ? r : numadx_request_set_nodes(request, nodes, 2);
    r = r < 0 ? r : numadx_request_set_cpus(request, "0-7");
    r = r < 0 ? r : numadx_request_set_pool(request, 0);
    r = r < 0 ? r : numadx_request_set_near(request, "0000:3b:00.0");
    return r < 0 ? r : numadx_request_set_strict(request, 1);
}

static int fill(numadx_request *request)
{
    int r = numadx_request_set_vcpus(request, 2);

    r = r < 0 ? r : numadx_request_set_memory(request, 1);
    r = r < 0 ? r : numadx_request_set_memory(request, 1ull << 40); /* the last one counts */
    r = r < 0 ? r : numadx_request_set_max_memory(request, 1ull << 41);
    r = r < 0 ? r : numadx_request_set_name(request, "a");
    r = r < 0 ? r : numadx_request_set_name(request, "web");
    r = r < 0 ? r : numadx_request_set_uuid(request, "01234567-89ab-cdef-0123-456789abcdef");
    r = r < 0 ? r : numadx_request_set_type(request, "pvh");
    r = r < 0 ? r : numadx_request_set_ttl_ms(request, 5000);
    r = r < 0 ? r : numadx_request_set_threads_per_core(request, 2);
    r = r < 0 ? r : fill_where(request);
    return r < 0 || numadx_request_set_name(request, "\xff") != -EINVAL ? -EDOM : 0;
}

static int place(numadx_client *client, int explain)
{
    numadx_request *request = numadx_request_new();
    char *token = NULL, *json = NULL;
    int r = fill(request);

    be_interrupted();
    if (r == 0)
        r = explain ? numadx_explain(client, request, &json) : numadx_place(client, request, &token, &json);
    if (r == 0)
        printf("%s%s%s\n", token ? token : "", token ? " " : "", json);
    numadx_request_free(request);
    free(token);
    free(json);
    return r;
}

static int ask(numadx_client *client, const char *what, const char *argument, const char *domid)
{
    if (strcmp(what, "explain") == 0 || strcmp(what, "place") == 0)
        return place(client, *what == 'e');
    if (strcmp(what, "commit") == 0)
        return numadx_commit(client, argument, (uint32_t)strtoul(domid, NULL, 10));
    if (strcmp(what, "release") == 0)
        return numadx_release(client, argument);
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
        r = ask(client, argv[2], argc > 3 ? argv[3] : "0", argc > 4 ? argv[4] : "0");
    if (r < 0)
        printf("%s: %s\n", strerrorname_np(-r), numadx_error(client));
    numadx_close(client);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        puts("a child is left");
    return r < 0;
}
