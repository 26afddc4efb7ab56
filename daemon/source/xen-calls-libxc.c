/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xen-calls-store.h"
#include "xen-calls.h"

#include "lib/core/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xencall.h>
#include <xenctrl.h>
#include <xentoollog.h>

/*
 * The one file that knows the hypervisor's libraries: their -1 and errno become -errno, their structures ours. libxc
 * and libxencall have a handle each. libxc sizes masks by what it read first (max_cpu_id, max_node_id never change
 * while a hypervisor runs), so masks are read into buffers of that size and cut or padded to what the caller wants.
 */

_Static_assert(XEN_DOMAIN_DYING == XEN_DOMINF_dying && XEN_DOMAIN_HVM == XEN_DOMINF_hvm_guest &&
                   XEN_DOMAIN_SHUTDOWN == XEN_DOMINF_shutdown && XEN_DOMAIN_PAUSED == XEN_DOMINF_paused &&
                   XEN_DOMAIN_BLOCKED == XEN_DOMINF_blocked && XEN_DOMAIN_RUNNING == XEN_DOMINF_running &&
                   XEN_DOMINF_shutdownshift == 16 && XEN_SHUTDOWN_CRASH == SHUTDOWN_crash &&
                   XEN_NO_VCPU == XEN_INVALID_MAX_VCPU_ID,
               "flags of a domain");
_Static_assert(sizeof(XenMemInfo) == sizeof(xc_meminfo_t) &&
                   offsetof(XenMemInfo, free) == offsetof(xc_meminfo_t, memfree),
               "numainfo fills our array");
_Static_assert(sizeof(XenCpuTopo) == sizeof(xc_cputopo_t) &&
                   offsetof(XenCpuTopo, socket) == offsetof(xc_cputopo_t, socket) &&
                   offsetof(XenCpuTopo, node) == offsetof(xc_cputopo_t, node),
               "cputopoinfo fills our array");
_Static_assert(ROW_INVALID == XEN_INVALID_NODE_ID && ROW_INVALID == XEN_INVALID_CORE_ID &&
                   ROW_INVALID == XEN_INVALID_SOCKET_ID,
               "what is not known");
#if defined(__x86_64__) || defined(__i386__)
_Static_assert(XEN_EMU_LAPIC == XEN_X86_EMU_LAPIC && XEN_EMU_IOAPIC == XEN_X86_EMU_IOAPIC &&
                   XEN_EMU_VPCI == XEN_X86_EMU_VPCI,
               "emulated devices");
#endif

typedef struct LibxcCalls {
    XenCalls calls;
    xentoollog_logger silent; /* errors are returned; nothing is written to stderr */
    xc_interface *xc;
    xencall_handle *call;
    uint8_t *masks[2]; /* of mask_size bytes each */
    size_t mask_size;
    void *heap_buffer; /* suitable for a hypercall, grows */
    size_t heap_size;
    StoreLink store;
} LibxcCalls;

static LibxcCalls *libxc_calls(const XenCalls *calls)
{
    return (LibxcCalls *)calls;
}

/* What libxc returned as ours; it must not have failed without a reason. */
static int result(int r)
{
    if (r >= 0)
        return r;
    return errno > 0 ? -errno : -EIO;
}

/* --- the hypervisor --- */

static int libxc_version(XenCalls *calls, char **ret_version)
{
    LibxcCalls *x = libxc_calls(calls);
    xen_extraversion_t extra = {0};
    int version = result(xc_version(x->xc, XENVER_version, NULL));
    int r;

    if (version < 0)
        return version;
    r = result(xc_version(x->xc, XENVER_extraversion, &extra));
    if (r < 0)
        return r;
    if (asprintf(ret_version, "%d.%d%.*s", version >> 16, version & 0xffff, (int)sizeof(extra), extra) < 0)
        return -ENOMEM;
    return 0;
}

static int libxc_commandline(XenCalls *calls, char **ret_text)
{
    xen_commandline_t text = {0};
    int r = result(xc_version(libxc_calls(calls)->xc, XENVER_commandline, &text));

    if (r < 0)
        return r;
    *ret_text = strndup(text, sizeof(text));
    return *ret_text ? 0 : -ENOMEM;
}

static int libxc_physinfo(XenCalls *calls, XenPhysInfo *ret_info)
{
    xc_physinfo_t info = {0};
    int r = result(xc_physinfo(libxc_calls(calls)->xc, &info));

    if (r < 0)
        return r;
    *ret_info = (XenPhysInfo){
        .max_cpu_id = info.max_cpu_id,
        .max_node_id = info.max_node_id,
        .nr_cpus = info.nr_cpus,
        .total_pages = info.total_pages,
        .free_pages = info.free_pages,
        .outstanding_pages = info.outstanding_pages,
    };
    return 0;
}

static int libxc_numacount(XenCalls *calls, uint32_t *ret_n_nodes)
{
    unsigned n = 0;
    int r = result(xc_numainfo(libxc_calls(calls)->xc, &n, NULL, NULL));

    *ret_n_nodes = n;
    return r;
}

static int libxc_numainfo(XenCalls *calls, uint32_t *n, XenMemInfo *nodes, uint32_t *distances)
{
    unsigned room = *n;
    int r = result(xc_numainfo(libxc_calls(calls)->xc, &room, (xc_meminfo_t *)nodes, distances));

    *n = MIN(room, *n);
    return r;
}

static int libxc_cputopoinfo(XenCalls *calls, uint32_t *n, XenCpuTopo *cpus)
{
    unsigned room = *n;
    int r = result(xc_cputopoinfo(libxc_calls(calls)->xc, &room, (xc_cputopo_t *)cpus));

    *n = MIN(room, *n);
    return r;
}

static int libxc_availheap(XenCalls *calls, uint32_t node, unsigned max_width, uint64_t *ret_bytes)
{
    return result(xc_availheap(libxc_calls(calls)->xc, 0, (int)max_width, (int)node, ret_bytes));
}

/* --- domains --- */

static void convert_domain(XenDomInfo *to, const xc_domaininfo_t *from)
{
    *to = (XenDomInfo)
    {
        .domid = from->domain, .flags = from->flags, .tot_pages = from->tot_pages, .max_pages = from->max_pages,
        .outstanding_pages = from->outstanding_pages, .nr_online_vcpus = from->nr_online_vcpus,
        .max_vcpu_id = from->max_vcpu_id, .pool = from->cpupool,
#if defined(__x86_64__) || defined(__i386__)
        .emulation = from->arch_config.emulation_flags,
#endif
    };
    _Static_assert(sizeof(to->handle) == sizeof(from->handle), "handle");
    memcpy(to->handle, from->handle, sizeof(to->handle));
}

static int libxc_domains(XenCalls *calls, domid_t first, uint32_t room, XenDomInfo *ret_infos)
{
    _cleanup_free_ char *buffer = new_array(room, sizeof(xc_domaininfo_t));
    const xc_domaininfo_t *infos = (xc_domaininfo_t *)(void *)buffer;
    int n;

    if (!buffer)
        return -ENOMEM;
    n = result(xc_domain_getinfolist(libxc_calls(calls)->xc, first, room, (xc_domaininfo_t *)(void *)buffer));
    if (n < 0)
        return n;
    n = MIN((uint32_t)n, room);
    for (int i = 0; i < n; i++)
        convert_domain(&ret_infos[i], &infos[i]);
    return n;
}

static int libxc_vcpu_info(XenCalls *calls, domid_t domid, uint32_t vcpu, XenVcpuInfo *ret_info)
{
    xc_vcpuinfo_t info = {0};
    int r = result(xc_vcpu_getinfo(libxc_calls(calls)->xc, domid, vcpu, &info));

    if (r < 0)
        return r;
    *ret_info = (XenVcpuInfo){.online = info.online, .cpu = info.cpu, .cpu_time_ns = info.cpu_time};
    return 0;
}

static int prepare_masks(LibxcCalls *x)
{
    int cpus, nodes;

    if (x->mask_size)
        return 0;
    cpus = result(xc_get_cpumap_size(x->xc));
    nodes = result(xc_get_nodemap_size(x->xc));
    if (cpus < 0 || nodes < 0)
        return MIN(cpus, nodes);
    for (unsigned i = 0; i < ARRAY_SIZE(x->masks); i++) {
        free(x->masks[i]);
        x->masks[i] = calloc(1, (size_t)MAX(cpus, nodes) + 1);
        if (!x->masks[i])
            return -ENOMEM;
    }
    x->mask_size = (size_t)MAX(cpus, nodes) + 1;
    return 0;
}

/* Hands a mask out, and leaves the buffer empty for the next one. */
static void take_mask(LibxcCalls *x, unsigned i, uint8_t *to, size_t n_bytes)
{
    memset(to, 0, n_bytes);
    memcpy(to, x->masks[i], MIN(n_bytes, x->mask_size));
    memset(x->masks[i], 0, x->mask_size);
}

static int libxc_vcpu_affinity(XenCalls *calls, domid_t domid, uint32_t vcpu, uint8_t *hard, uint8_t *soft,
                               size_t n_bytes)
{
    LibxcCalls *x = libxc_calls(calls);
    int r = prepare_masks(x);

    if (r < 0)
        return r;
    r = result(xc_vcpu_getaffinity(x->xc, domid, (int)vcpu, x->masks[0], x->masks[1],
                                   XEN_VCPUAFFINITY_HARD | XEN_VCPUAFFINITY_SOFT));
    take_mask(x, 0, hard, n_bytes);
    take_mask(x, 1, soft, n_bytes);
    return r;
}

static int libxc_node_affinity(XenCalls *calls, domid_t domid, uint8_t *nodes, size_t n_bytes)
{
    LibxcCalls *x = libxc_calls(calls);
    int r = prepare_masks(x);

    if (r < 0)
        return r;
    r = result(xc_domain_node_getaffinity(x->xc, domid, x->masks[0]));
    take_mask(x, 0, nodes, n_bytes);
    return r;
}

static int libxc_pool(XenCalls *calls, uint32_t *pool, uint8_t *cpus, size_t n_bytes)
{
    LibxcCalls *x = libxc_calls(calls);
    xc_cpupoolinfo_t *info;
    int r = prepare_masks(x);

    if (r < 0)
        return r;
    errno = 0;
    info = xc_cpupool_getinfo(x->xc, *pool);
    if (!info)
        return result(-1);
    *pool = info->cpupool_id;
    memcpy(x->masks[0], info->cpumap, (size_t)xc_get_cpumap_size(x->xc));
    xc_cpupool_infofree(x->xc, info);
    take_mask(x, 0, cpus, n_bytes);
    return 0;
}

static int libxc_free_cpus(XenCalls *calls, uint8_t *cpus, size_t n_bytes)
{
    LibxcCalls *x = libxc_calls(calls);
    xc_cpumap_t map;
    int r = prepare_masks(x);

    if (r < 0)
        return r;
    errno = 0;
    map = xc_cpupool_freeinfo(x->xc);
    if (!map)
        return result(-1);
    memcpy(x->masks[0], map, (size_t)xc_get_cpumap_size(x->xc));
    free(map);
    take_mask(x, 0, cpus, n_bytes);
    return 0;
}

/* --- XENMEM_numa_heap --- */

static int heap_room(LibxcCalls *x, size_t size)
{
    if (size <= x->heap_size)
        return 0;
    xencall_free_buffer(x->call, x->heap_buffer);
    x->heap_size = 0;
    x->heap_buffer = xencall_alloc_buffer(x->call, size);
    if (!x->heap_buffer)
        return -ENOMEM;
    x->heap_size = size;
    return 0;
}

/* Argument and records in one buffer that the hypervisor can always reach. */
static int libxc_numa_heap(XenCalls *calls, struct xen_numa_heap *arg, void *buffer, size_t size)
{
    LibxcCalls *x = libxc_calls(calls);
    struct xen_numa_heap *shared;
    int r = heap_room(x, sizeof(*shared) + size);

    if (r < 0)
        return r;
    shared = x->heap_buffer;
    *shared = *arg;
    shared->buffer.align = (uintptr_t)(shared + 1);
    r = result(xencall2(x->call, __HYPERVISOR_memory_op, XENMEM_numa_heap, (uintptr_t)shared));
    *arg = *shared;
    if (r >= 0 && size)
        memcpy(buffer, shared + 1, size);
    return MIN(r, 0);
}

/* --- PCI devices --- */

static int libxc_pci_nodes(XenCalls *calls, const PciAddress *devices, size_t n, uint32_t *ret_nodes)
{
    _cleanup_free_ char *buffer = new_array(n, sizeof(physdev_pci_device_t));
    physdev_pci_device_t *asked = (physdev_pci_device_t *)(void *)buffer;
    int r;

    if (!asked)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        asked[i] = (physdev_pci_device_t){devices[i].segment, devices[i].bus, devices[i].devfn};
    r = result(xc_pcitopoinfo(libxc_calls(calls)->xc, (unsigned)n, asked, ret_nodes));
    for (size_t i = 0; r == 0 && i < n; i++)
        if (ret_nodes[i] == XEN_INVALID_DEV)
            ret_nodes[i] = XEN_INVALID_NODE_ID;
    return r;
}

static int dom0_pci_devices(XenCalls *calls, PciAddress **ret_devices, size_t *ret_n)
{
    return pci_read_devices("", ret_devices, ret_n);
}

static int dom0_firmware(XenCalls *calls, Firmware **ret_firmware, int ret_errors[_ACPI_TABLE_MAX])
{
    return acpi_read_firmware("", ret_firmware, ret_errors);
}

/* --- xenstore --- */

static int libxc_store_open(XenCalls *calls)
{
    return store_link_open(&libxc_calls(calls)->store);
}

static void libxc_store_close(XenCalls *calls)
{
    store_link_close(&libxc_calls(calls)->store);
}

static int libxc_store_name(XenCalls *calls, domid_t domid, char **ret_name)
{
    return store_link_name(&libxc_calls(calls)->store, domid, ret_name);
}

static int libxc_store_fd(const XenCalls *calls)
{
    return store_link_fd(&libxc_calls(calls)->store);
}

static int libxc_store_event(XenCalls *calls)
{
    return store_link_event(&libxc_calls(calls)->store);
}

/* --- open and close --- */

static void say_nothing(xentoollog_logger *logger, xentoollog_level level, int error, const char *context,
                        const char *format, va_list args)
{
}

static void show_nothing(xentoollog_logger *logger, const char *context, const char *doing, int percent,
                         unsigned long done, unsigned long total)
{
}

static void keep_logger(xentoollog_logger *logger)
{
}

static void libxc_free(XenCalls *calls)
{
    LibxcCalls *x = libxc_calls(calls);

    libxc_store_close(calls);
    if (x->call) {
        xencall_free_buffer(x->call, x->heap_buffer);
        xencall_close(x->call);
    }
    if (x->xc)
        xc_interface_close(x->xc);
    free(x->masks[0]);
    free(x->masks[1]);
    free(x);
}

static const XenCallsOps libxc_ops = {
    .version = libxc_version,
    .commandline = libxc_commandline,
    .physinfo = libxc_physinfo,
    .numacount = libxc_numacount,
    .numainfo = libxc_numainfo,
    .cputopoinfo = libxc_cputopoinfo,
    .availheap = libxc_availheap,
    .domains = libxc_domains,
    .vcpu_info = libxc_vcpu_info,
    .vcpu_affinity = libxc_vcpu_affinity,
    .node_affinity = libxc_node_affinity,
    .pool = libxc_pool,
    .free_cpus = libxc_free_cpus,
    .numa_heap = libxc_numa_heap,
    .pci_nodes = libxc_pci_nodes,
    .pci_devices = dom0_pci_devices,
    .firmware = dom0_firmware,
    .store_open = libxc_store_open,
    .store_close = libxc_store_close,
    .store_name = libxc_store_name,
    .store_fd = libxc_store_fd,
    .store_event = libxc_store_event,
    .free = libxc_free,
};

int xen_calls_open(XenCalls **ret_calls)
{
    _cleanup_(xen_calls_free_p) XenCalls *calls = NULL;
    LibxcCalls *x = calloc(1, sizeof(*x));

    if (!x)
        return -ENOMEM;
    x->calls.ops = &libxc_ops;
    calls = &x->calls;
    x->silent = (xentoollog_logger){say_nothing, show_nothing, keep_logger};
    errno = 0;
    x->xc = xc_interface_open(&x->silent, &x->silent, XC_OPENFLAG_NON_REENTRANT);
    if (!x->xc)
        return result(-1);
    x->call = xencall_open(&x->silent, XENCALL_OPENFLAG_NON_REENTRANT);
    if (!x->call)
        return result(-1);
    *ret_calls = TAKE_PTR(calls);
    return 0;
}
