/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/hwloc-facts.h"

#include <hwloc/distances.h>
#include <stdio.h>
#include <unistd.h>

/* --- loading --- */

/* What hwloc prints while it loads; NULL when that is nothing. */
static char *load_aloud(hwloc_topology_t topology, int *ret)
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    static char text[4096];
    size_t n;

    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    *ret = hwloc_topology_load(topology);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    return n ? text : NULL;
}

hwloc_topology_t facts_load(const char *xml)
{
    hwloc_topology_t topology;
    const char *said;
    int r;

    setenv("HWLOC_XML_VERBOSE", "1", 1);
    setenv("HWLOC_HIDE_ERRORS", "0", 1);
    setenv("HWLOC_DEBUG_CHECK", "1", 1);
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
    assert_int_equal(hwloc_topology_set_xmlbuffer(topology, xml, (int)strlen(xml) + 1), 0);
    said = load_aloud(topology, &r);
    if (r != 0 || said)
        fail_msg("hwloc says %d: %s", r, said ? said : "nothing");
    hwloc_topology_check(topology);
    return topology;
}

/* --- sets --- */

static void add_to(hwloc_bitmap_t set, const Bitmap *from)
{
    BITMAP_FOREACH (i, from)
        hwloc_bitmap_set(set, i);
}

static void assert_set(hwloc_const_bitmap_t got, const Bitmap *wanted, const char *what, unsigned of)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    char *texts[2];

    add_to(set, wanted);
    if (!hwloc_bitmap_isequal(got, set)) {
        hwloc_bitmap_list_asprintf(&texts[0], got);
        hwloc_bitmap_list_asprintf(&texts[1], set);
        fail_msg("%s of %u: {%s}, wanted {%s}", what, of, texts[0], texts[1]);
    }
    hwloc_bitmap_free(set);
}

char *facts_node_cpus(hwloc_topology_t topology, nodeid_t node)
{
    hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(topology, node);
    char *text = NULL;

    assert_non_null(object);
    assert_true(hwloc_bitmap_list_asprintf(&text, object->cpuset) >= 0);
    return text;
}

/* --- CPUs --- */

static void assert_machine(hwloc_topology_t topology, const Snapshot *s)
{
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    _cleanup_bitmap_ Bitmap all = {0};
    const char *version = hwloc_obj_get_info_by_name(root, "XenVersion");

    assert_set(root->cpuset, &s->online, "online CPUs", 0);
    assert_int_equal(bitmap_copy(&all, &s->online), 0);
    assert_int_equal(bitmap_set_range(&all, 0, s->max_cpu_id), 0);
    assert_set(root->complete_cpuset, &all, "all CPUs", 0);
    assert_set(hwloc_topology_get_allowed_cpuset(topology), &s->online, "allowed CPUs", 0);
    assert_string_equal(hwloc_obj_get_info_by_name(root, "Backend"), "Xen");
    assert_int_equal(hwloc_obj_get_info_by_name(root, "Simulated") != NULL, s->simulated);
    assert_int_equal(version != NULL, s->xen_version != NULL);
}

/* All online CPUs that agree in the fields that are wanted. */
static void collect(Bitmap *set, const Snapshot *s, const CpuRow *row, bool node, bool core)
{
    BITMAP_FOREACH (cpu, &s->online)
        if (s->cpus[cpu].socket == row->socket && (!node || s->cpus[cpu].node == row->node) &&
            (!core || s->cpus[cpu].core == row->core))
            assert_int_equal(bitmap_set(set, cpu), 0);
}

static void assert_core(hwloc_topology_t topology, const Snapshot *s, hwloc_obj_t pu)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    const CpuRow *row = &s->cpus[pu->os_index];
    _cleanup_bitmap_ Bitmap siblings = {0};

    if (row->core == ROW_INVALID) {
        assert_null(core);
        return;
    }
    assert_non_null(core);
    assert_int_equal(core->os_index, row->core);
    if (hwloc_bitmap_first(core->cpuset) != (int)pu->os_index) /* once a core is enough */
        return;
    collect(&siblings, s, row, true, true);
    assert_set(core->cpuset, &siblings, "siblings", pu->os_index);
}

/* A package is a whole socket, or what it has in common with a node. */
static void assert_package(hwloc_topology_t topology, const Snapshot *s, hwloc_obj_t pu)
{
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
    const CpuRow *row = &s->cpus[pu->os_index];
    _cleanup_bitmap_ Bitmap socket = {0}, piece = {0};

    if (row->socket == ROW_INVALID) {
        assert_null(package);
        return;
    }
    assert_non_null(package);
    assert_int_equal(package->os_index, row->socket);
    if (hwloc_bitmap_first(package->cpuset) != (int)pu->os_index)
        return;
    collect(&socket, s, row, false, false);
    collect(&piece, s, row, true, false);
    if ((unsigned)hwloc_bitmap_weight(package->cpuset) == bitmap_weight(&socket))
        assert_set(package->cpuset, &socket, "socket", pu->os_index);
    else
        assert_set(package->cpuset, &piece, "piece of a socket", pu->os_index);
}

static void assert_cpus(hwloc_topology_t topology, const Snapshot *s)
{
    hwloc_obj_t pu = NULL;
    unsigned n = 0;

    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
        assert_true(bitmap_isset(&s->online, pu->os_index));
        assert_core(topology, s, pu);
        assert_package(topology, s, pu);
        n++;
    }
    assert_int_equal(n, bitmap_weight(&s->online));
}

/* --- nodes --- */

static void assert_nodes(hwloc_topology_t topology, const Snapshot *s)
{
    unsigned n = 0;

    for (nodeid_t id = 0; id < s->n_nodes; id++) {
        hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(topology, id);
        const Node *node = &s->nodes[id];

        assert_int_equal(object != NULL, node->exists);
        if (!object)
            continue;
        n++;
        assert_int_equal(object->attr->numanode.local_memory,
                         node->present == VALUE_UNKNOWN ? node->span : node->present);
        assert_int_equal(hwloc_obj_get_info_by_name(object, "ProximityDomain") != NULL, node->pxm != VALUE_UNKNOWN);
        if (!bitmap_isempty(&node->cpus)) /* hwloc ties others to something: the tables of cases tell to what */
            assert_set(object->cpuset, &node->cpus, "CPUs of node", id);
    }
    assert_int_equal(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), n);
}

static bool all_distances(const Snapshot *s)
{
    for (nodeid_t from = 0; from < s->n_nodes; from++)
        for (nodeid_t to = 0; to < s->n_nodes; to++)
            if (s->nodes[from].exists && s->nodes[to].exists && snapshot_distance(s, from, to) == DISTANCE_NONE)
                return false;
    return true;
}

static void assert_distances(hwloc_topology_t topology, const Snapshot *s)
{
    struct hwloc_distances_s *matrix;
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    unsigned n = 1, n_nodes = (unsigned)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);

    assert_int_equal(hwloc_obj_get_info_by_name(root, "Distances") != NULL, !all_distances(s));
    assert_int_equal(hwloc_distances_get(topology, &n, &matrix, 0, 0), 0);
    if (!all_distances(s) || n_nodes < 2) {
        assert_int_equal(n, 0);
        return;
    }
    assert_int_equal(n, 1);
    assert_int_equal(matrix->kind, HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY);
    assert_int_equal(matrix->nbobjs, n_nodes);
    for (unsigned i = 0; i < matrix->nbobjs; i++)
        for (unsigned j = 0; j < matrix->nbobjs; j++) {
            nodeid_t from = matrix->objs[i]->os_index, to = matrix->objs[j]->os_index;

            assert_int_equal(matrix->objs[i]->type, HWLOC_OBJ_NUMANODE);
            if (matrix->values[i * matrix->nbobjs + j] != snapshot_distance(s, from, to))
                fail_msg("distance of %u to %u", from, to);
        }
    hwloc_distances_release(topology, matrix);
}

/* --- devices --- */

static void assert_devices(hwloc_topology_t topology, const Snapshot *s)
{
    for (size_t i = 0; i < s->n_devices; i++) {
        const DeviceRow *device = &s->devices[i];
        hwloc_obj_t object = hwloc_get_pcidev_by_busidstring(topology, device->pci), above;

        if (!object)
            fail_msg("no device %s", device->pci);
        above = hwloc_get_non_io_ancestor_obj(topology, object);
        if (device->node == ROW_INVALID)
            assert_ptr_equal(above, hwloc_get_root_obj(topology));
        else
            assert_ptr_equal(above, hwloc_get_numanode_obj_by_os_index(topology, device->node)->parent);
    }
    assert_int_equal(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE), s->n_devices);
}

void facts_assert(hwloc_topology_t topology, const Snapshot *s)
{
    assert_machine(topology, s);
    assert_cpus(topology, s);
    assert_nodes(topology, s);
    assert_distances(topology, s);
    assert_devices(topology, s);
}
