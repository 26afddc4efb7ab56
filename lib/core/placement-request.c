/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement-request.h"

#include "uuid.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void placement_request_done(PlacementRequest *request)
{
    free(request->name);
    free(request->near);
    bitmap_done(&request->nodes);
    bitmap_done(&request->cpus);
    *request = (PlacementRequest){.pool = ROW_NO_POOL};
}

int placement_request_copy(const PlacementRequest *from, PlacementRequest *ret_copy)
{
    PlacementRequest copy = *from;

    copy.nodes = copy.cpus = (Bitmap){0};
    copy.name = from->name ? strdup(from->name) : NULL;
    copy.near = from->near ? strdup(from->near) : NULL;
    if ((from->name && !copy.name) || (from->near && !copy.near) || bitmap_copy(&copy.nodes, &from->nodes) < 0 ||
        bitmap_copy(&copy.cpus, &from->cpus) < 0) {
        placement_request_done(&copy);
        return -ENOMEM;
    }
    *ret_copy = copy;
    return 0;
}

static int invalid(char **ret_why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int invalid(char **ret_why, const char *format, ...)
{
    va_list arguments;
    int r;

    va_start(arguments, format);
    r = vasprintf(ret_why, format, arguments);
    va_end(arguments);
    return r < 0 ? -ENOMEM : REQUEST_E_INVALID;
}

static int check_size(const PlacementRequest *request, char **ret_why)
{
    if (request->vcpus == 0 || request->vcpus > REQUEST_VCPUS_MAX)
        return invalid(ret_why, "vcpus: %" PRIu32 ": a domain has from 1 to %u", request->vcpus, REQUEST_VCPUS_MAX);
    if (request->memory == 0 || request->memory > REQUEST_MEMORY_MAX)
        return invalid(ret_why, "memory: %" PRIu64 " bytes: a domain has from 1 to 2^56", request->memory);
    if (request->max_memory > REQUEST_MEMORY_MAX)
        return invalid(ret_why, "max_memory: %" PRIu64 " bytes: more than 2^56", request->max_memory);
    if (request->max_memory && request->max_memory < request->memory)
        return invalid(ret_why, "max_memory: %" PRIu64 " bytes: less than memory, %" PRIu64, request->max_memory,
                       request->memory);
    return 0;
}

int placement_request_check(const PlacementRequest *request, char **ret_why)
{
    int r = check_size(request, ret_why);

    if (r != 0)
        return r;
    if (request->name && (!*request->name || strlen(request->name) > REQUEST_NAME_MAX))
        return invalid(ret_why, "name: a name has from 1 to %u bytes", REQUEST_NAME_MAX);
    if (request->ttl_ms && (request->ttl_ms < REQUEST_TTL_MS_MIN || request->ttl_ms > REQUEST_TTL_MS_MAX))
        return invalid(ret_why, "ttl_ms: %" PRIu32 ": allowed is from %u to %u", request->ttl_ms, REQUEST_TTL_MS_MIN,
                       REQUEST_TTL_MS_MAX);
    if (request->threads_per_core > REQUEST_THREADS_MAX)
        return invalid(ret_why, "threads_per_core: %" PRIu32 ": a core has from 1 to %u", request->threads_per_core,
                       REQUEST_THREADS_MAX);
    if (request->has_nodes && bitmap_isempty(&request->nodes))
        return invalid(ret_why, "nodes: an empty set: name the nodes that may give memory, or leave it out");
    if (request->has_cpus && bitmap_isempty(&request->cpus))
        return invalid(ret_why, "cpus: an empty set: name the CPUs that may be used, or leave it out");
    return 0;
}

/* n digits that `end` follows; behind it, or NULL. */
static const char *take_hex(const char *text, unsigned n, char end, unsigned *ret_value)
{
    *ret_value = 0;
    while (n-- > 0) {
        int digit = hex_digit(*text++);

        if (digit < 0)
            return NULL;
        *ret_value = *ret_value << 4 | (unsigned)digit;
    }
    if (*text != end)
        return NULL;
    return end ? text + 1 : text;
}

bool placement_request_pci(const char *text, char ret[PCI_TEXT_SIZE])
{
    unsigned domain = 0, bus, slot, function;
    const char *rest = take_hex(text, 4, ':', &domain);

    if (!rest)
        domain = 0; /* it may be left out */
    rest = take_hex(rest ? rest : text, 2, ':', &bus);
    rest = rest ? take_hex(rest, 2, '.', &slot) : NULL;
    rest = rest ? take_hex(rest, 1, 0, &function) : NULL;
    if (!rest || slot > 0x1f || function > 7)
        return false;
    snprintf(ret, PCI_TEXT_SIZE, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff, slot, function);
    return true;
}
