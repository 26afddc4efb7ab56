/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "lib/core/hostdesc-write.h"
#include "lib/core/hostdesc.h"
#include "lib/core/hwlocxml.h"
#include "lib/core/status.h"
#include "lib/core/topology.h"

static bool has_nodes_and_cpus(const Snapshot *s)
{
    bool nodes = false;

    for (nodeid_t id = 0; id < s->n_nodes; id++)
        nodes |= s->nodes[id].exists;
    return nodes && !bitmap_isempty(&s->online);
}

/* A good host: all its documents can be written. Takes the rows over, gives its status. */
static char *write_documents(HostRows *rows)
{
    const Stats stats = {0};
    _cleanup_free_ char *topology = NULL, *xml = NULL;
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    char *status = NULL;

    FUZZ_HOLDS(snapshot_seal(rows, 1, -1, &snapshot) == 0);
    FUZZ_HOLDS(status_document(snapshot, &stats, &status) == 0);
    FUZZ_HOLDS(topology_document(snapshot, &topology) == 0);
    FUZZ_HOLDS(hwloc_xml_document(snapshot, &xml) == (has_nodes_and_cpus(snapshot) ? 0 : HWLOC_XML_E_EMPTY));
    return status;
}

/* A capture of the host is a good host description of the same host, and its capture is the same. */
static void check_capture(const char *capture, const char *status)
{
    _cleanup_free_ char *error = NULL, *again = NULL, *same = NULL;
    HostRows *rows = NULL;
    int r = hostdesc_parse(capture, strlen(capture), &rows, &error);

    if (r != 0)
        fprintf(stderr, "%s\n", error ? error : "");
    FUZZ_HOLDS(r == 0);
    FUZZ_HOLDS(hostdesc_document(rows, &again) == 0);
    same = write_documents(rows);
    if (strcmp(capture, again) != 0)
        fprintf(stderr, "%s\n%s\n", capture, again);
    FUZZ_HOLDS(strcmp(capture, again) == 0);
    if (strcmp(status, same) != 0)
        fprintf(stderr, "%s\n%s\n", status, same);
    FUZZ_HOLDS(strcmp(status, same) == 0);
}

/* Any bytes: refused with a reason, or a host. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *error = NULL, *capture = NULL, *status = NULL;
    HostRows *rows = NULL;
    int r = hostdesc_parse((const char *)data, size, &rows, &error);

    FUZZ_HOLDS(r != HOSTDESC_E_REFUSED || (error && *error));
    if (r != 0)
        return 0;
    FUZZ_HOLDS(hostdesc_document(rows, &capture) == 0);
    status = write_documents(rows);
    check_capture(capture, status);
    return 0;
}
