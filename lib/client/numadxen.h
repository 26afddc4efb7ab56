/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * libnumadxen: asks numad-xend over D-Bus (org.numadxen.NumadXen1). Functions return 0 or a negative errno and put
 * what a person should read into the client's error text. -ENOTCONN: no bus or no daemon; -ETIMEDOUT: no answer in
 * time; -EACCES: not permitted; -ENOENT: no such domain; -EOPNOTSUPP: the hypervisor cannot say;
 * -EBUSY: too many requests; -EBADMSG: an answer that makes no sense.
 */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct numadx_client numadx_client;

/*
 * Connects to the bus at `address`, NULL for the system bus. *ret_client is filled on failure too, to ask
 * numadx_error() (NULL only when memory is short); close it in any case.
 */
int numadx_open(const char *address, numadx_client **ret_client);
/*
 * The same for the system bus of another host, `host` being [USER@]HOST. Runs `ssh -xT -- HOST systemd-stdio-bridge`, a
 * child of the caller that numadx_close() ends; ssh may ask for a password on the terminal, for a minute. -EINVAL:
 * nothing that may stand on ssh's command line.
 */
int numadx_open_remote(const char *host, numadx_client **ret_client);
void numadx_close(numadx_client *client); /* takes NULL */
/* What went wrong in the last failed call: "what: why". Valid until the next call; never NULL. */
const char *numadx_error(const numadx_client *client);

/* The documents numad-xen-status/1 and numad-xen-topology/1 (JSON). Free *ret_json with free(). */
int numadx_get_status(numadx_client *client, char **ret_json);
int numadx_get_topology(numadx_client *client, char **ret_json);
/* The host's topology as hwloc v2 XML, which hwloc_topology_set_xmlbuffer() reads. Free *ret_xml with free(). */
int numadx_get_topology_xml(numadx_client *client, char **ret_xml);
/*
 * A capture of the host: all that the daemon's sources read, as a host description, numad-xen-host/1 (JSON). For root
 * and the user that the daemon runs as. Free *ret_json with free().
 */
int numadx_gather(numadx_client *client, char **ret_json);
/* The daemon's version, "0.1.0". Free with free(). */
int numadx_get_version(numadx_client *client, char **ret_version);

typedef struct numadx_domain {
    uint32_t domid;
    char *name; /* "" when it has none */
    char *uuid; /* "" when it has none */
    uint64_t bytes;
} numadx_domain;

/* By domid. Free with numadx_domains_free(). */
int numadx_list_domains(numadx_client *client, numadx_domain **ret_domains, size_t *ret_n);
void numadx_domains_free(numadx_domain *domains, size_t n);

typedef struct numadx_node_memory {
    uint32_t node;
    uint64_t bytes;
} numadx_node_memory;

/* Nodes with at least one page of the domain, by node. Free with free(). */
int numadx_get_domain_memory(numadx_client *client, uint32_t domid, numadx_node_memory **ret_nodes, size_t *ret_n);

#ifdef __cplusplus
}
#endif
