/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * libnumadxen: asks numad-xend over D-Bus (org.numadxen.NumadXen1). Functions return 0 or a negative errno and put
 * what a person should read into the client's error text. -ENOTCONN: no bus or no daemon; -ETIMEDOUT: no answer in
 * time; -EACCES: not permitted; -ENOENT: no such domain; -EOPNOTSUPP: the hypervisor cannot say;
 * -EBUSY: too many requests or reservations; -EBADMSG: an answer that makes no sense. Of placing alone, with the
 * daemon's words in the error text: -ENOSPC: no room for the domain, and why, node by node; -EINVAL: what was asked for
 * makes no sense or is not of this host; -ENOKEY: no such token; -EKEYEXPIRED: its time was over.
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

/*
 * What a domain that is about to be built needs. An empty request asks for nothing: set at least vcpus and memory.
 * Setting a thing again replaces it; what was not set is the daemon's choice. Texts are copied. Each returns 0,
 * -ENOMEM, or -EINVAL for a text that is no UTF-8; the daemon judges the values when it is asked.
 */
typedef struct numadx_request numadx_request;

numadx_request *numadx_request_new(void);                                   /* NULL when memory is short */
void numadx_request_free(numadx_request *request);                          /* takes NULL */
int numadx_request_set_vcpus(numadx_request *request, uint32_t vcpus);      /* its maximum: each gets a set of CPUs */
int numadx_request_set_memory(numadx_request *request, uint64_t bytes);     /* without what Xen needs beside */
int numadx_request_set_max_memory(numadx_request *request, uint64_t bytes); /* else as memory */
/* By these the domain is known when it comes: by its UUID, "01234567-89ab-...", or without one by its name. */
int numadx_request_set_name(numadx_request *request, const char *name);
int numadx_request_set_uuid(numadx_request *request, const char *uuid);
int numadx_request_set_type(numadx_request *request, const char *type);     /* "pv", "pvh", "hvm" */
int numadx_request_set_policy(numadx_request *request, const char *policy); /* "balance", "pack", "interleave", "any" */
/* n node ids that may give memory: a preference, unless strict. */
int numadx_request_set_nodes(numadx_request *request, const uint32_t *nodes, size_t n);
int numadx_request_set_cpus(numadx_request *request, const char *cpus); /* a hard set, "0-3,8" */
int numadx_request_set_pool(numadx_request *request, uint32_t pool);
int numadx_request_set_near(numadx_request *request, const char *pci); /* a device, "0000:3b:00.0" */
int numadx_request_set_strict(numadx_request *request, int strict);    /* exactly so or not at all */
int numadx_request_set_ttl_ms(numadx_request *request, uint32_t ttl_ms);
int numadx_request_set_threads_per_core(numadx_request *request, uint32_t threads); /* of the guest */

/*
 * Where the domain would go now: the document numad-xen-placement/1 (JSON) with its candidates. Reserves nothing, and
 * anyone may ask. Free *ret_json with free().
 */
int numadx_explain(numadx_client *client, const numadx_request *request, char **ret_json);
/*
 * Decides and reserves. *ret_token names the reservation, which ends with its TTL unless a domain of the request's UUID
 * (or name) comes; *ret_json is the document numad-xen-placement/1. Free both with free(). Waits for 30 s, for other
 * requests are decided together with this one. After -ETIMEDOUT and -ENOTCONN it may have been reserved all the same,
 * and ends with its TTL.
 */
int numadx_place(numadx_client *client, const numadx_request *request, char **ret_token, char **ret_json);
/* The domain is built: the reservation becomes its placement. The same again does nothing. -ENOENT: no such domain. */
int numadx_commit(numadx_client *client, const char *token, uint32_t domid);
/* Gives up what was reserved, or, once committed, the promise. */
int numadx_release(numadx_client *client, const char *token);

/*
 * A simulated host (numad-xend --host FILE), for trying things and for tests; -EOPNOTSUPP: this host is a real one.
 * Keys and what they mean: proto/org.numadxen.NumadXen1.Sim.xml.
 */
typedef struct numadx_sim_value {
    const char *key;
    char type; /* of D-Bus: 's' is in text, 'u' and 't' in number */
    const char *text;
    uint64_t number;
} numadx_sim_value;

int numadx_sim_create(numadx_client *client, const numadx_sim_value *values, size_t n, uint32_t *ret_domid);
int numadx_sim_destroy(numadx_client *client, uint32_t domid);
int numadx_sim_balloon(numadx_client *client, uint32_t domid, uint64_t bytes);
int numadx_sim_fault(numadx_client *client, const char *kind, const numadx_sim_value *values, size_t n);

#ifdef __cplusplus
}
#endif
