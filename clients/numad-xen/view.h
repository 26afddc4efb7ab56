/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "value.h"

/*
 * The documents as the commands read them: every field checked once, unknown ones VALUE_UNKNOWN, NAN or NULL. Rows
 * without a usable id are left out. A view borrows its texts from the document it holds.
 */

typedef struct HostView {
    Bytes backend, xen_version;
    bool simulated;
    uint64_t page_size, max_cpu_id, online_cpus;
    uint64_t total, free, claimed;
    struct json_object *features; /* array of texts */
    struct json_object *warnings; /* array of { code, text } */
} HostView;

typedef struct NodeView {
    nodeid_t id;
    Bytes kind;
    Bitmap cpus;
    Bytes cpus_text; /* as the document has it */
    uint64_t pxm, cores;
    uint64_t span, present, free, low, dirty, claimed, reserved, available; /* not in a topology */
    double vcpus;
    struct json_object *distances; /* array by node id */
} NodeView;

typedef struct NodeViews {
    NodeView *items; /* by id */
    size_t n;
} NodeViews;

typedef struct NodeBytes {
    nodeid_t node;
    uint64_t bytes;
} NodeBytes;

typedef struct DomainView {
    uint32_t domid;
    Bytes name, type, state;
    uint64_t n_vcpus, n_online; /* n_online: VALUE_UNKNOWN when the vCPUs could not be read */
    uint64_t pool, total;
    bool has_nodes;   /* whether it is known where the memory is */
    NodeBytes *nodes; /* owned, by node */
    size_t n_nodes;
    bool has_home;
    Bitmap home; /* nodes whose CPUs its online vCPUs would use */
    double locality;
    bool placed; /* by numad-xen */
    int kept;    /* whether its memory is where it was promised: 1, 0, or -1 when that is not known */
} DomainView;

typedef struct PoolView {
    uint64_t pool;
    Bitmap cpus;
    Bytes cpus_text;
} PoolView;

typedef struct StatusView {
    struct json_object *document, *topology; /* topology may be NULL */
    Bytes time;
    HostView host;
    NodeViews nodes;
    DomainView *domains; /* by domid */
    size_t n_domains;
    struct json_object *reservations;
} StatusView;

/* topology: the document of the same moment, for the pools; NULL: every domain may use every CPU. */
int status_view_new(const char *status, const char *topology, StatusView **ret_view, char **ret_error);
StatusView *status_view_free(StatusView *view); /* takes NULL, returns NULL */
DEFINE_CLEANUP(StatusView *, status_view_free)

typedef struct CpuView {
    uint64_t cpu, core, socket, node;
    bool online;
    Bytes siblings;
} CpuView;

typedef struct TopologyView {
    struct json_object *document;
    HostView host;
    NodeViews nodes;
    CpuView *cpus; /* by node, socket, core, CPU */
    size_t n_cpus;
    PoolView *pools; /* by id */
    size_t n_pools;
    struct json_object *devices;
    uint64_t dom0_nodes, dom0_cpus;
} TopologyView;

int topology_view_new(const char *topology, TopologyView **ret_view, char **ret_error);
TopologyView *topology_view_free(TopologyView *view);
DEFINE_CLEANUP(TopologyView *, topology_view_free)

typedef struct VcpuSets {
    Bytes hard, soft; /* sets as text */
} VcpuSets;

typedef struct PlacementView {
    struct json_object *document;
    Bytes token, reason;
    Bitmap nodes;
    NodeBytes *memory; /* as the document has it */
    size_t n_memory;
    VcpuSets *vcpus; /* index = vCPU */
    size_t n_vcpus;
    uint64_t overhead, expires_ms;
    double locality;
    struct json_object *candidates; /* NULL: not asked for */
} PlacementView;

int placement_view_new(const char *placement, PlacementView **ret_view, char **ret_error);
PlacementView *placement_view_free(PlacementView *view);
DEFINE_CLEANUP(PlacementView *, placement_view_free)
/* Puts another document's candidates in; NULL: takes them out. 0 or -ENOMEM. */
int placement_view_set_candidates(PlacementView *view, const PlacementView *from);

/* Parts that views share. 0 or -ENOMEM. */
HostView host_view_read(struct json_object *document);
bool host_view_warns(const HostView *host, const char *code);
int node_views_read(struct json_object *document, NodeViews *ret_nodes);
void node_views_done(NodeViews *nodes);
const NodeView *node_views_find(const NodeViews *nodes, nodeid_t id);
int pool_views_read(struct json_object *document, PoolView **ret_pools, size_t *ret_n);
PoolView *pool_views_free(PoolView *pools, size_t n);
/* The domains of a status; the pools may be none. */
int domain_views_read(struct json_object *document, const NodeViews *nodes, const PoolView *pools, size_t n_pools,
                      DomainView **ret_domains, size_t *ret_n);
void domain_views_free(DomainView *domains, size_t n);

/* Memory of a node that a person would call its total: what is present, or what it spans when that is not known. */
uint64_t node_view_total(const NodeView *node);
/* Bytes of a domain on a node, VALUE_UNKNOWN when not known. */
uint64_t domain_view_on(const DomainView *domain, nodeid_t node);
/* Distance from a node to another, VALUE_UNKNOWN. */
uint64_t node_view_distance(const NodeView *node, nodeid_t to);
