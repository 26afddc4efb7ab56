/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "place.h"

#include "lib/core/utf8.h"
#include "number.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

enum {
    OPTION_VCPUS = 1,
    OPTION_MEMORY,
    OPTION_MAX_MEMORY,
    OPTION_NAME,
    OPTION_UUID,
    OPTION_TYPE,
    OPTION_POLICY,
    OPTION_NODES,
    OPTION_CPUS,
    OPTION_POOL,
    OPTION_NEAR,
    OPTION_THREADS,
    OPTION_TTL,
    OPTION_STRICT,
    OPTION_DRY_RUN,
    OPTION_EXPLAIN,
    OPTION_FORMAT,
};

static const struct option names[] = {
    {"vcpus", required_argument, NULL, OPTION_VCPUS},
    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"max-memory", required_argument, NULL, OPTION_MAX_MEMORY},
    {"name", required_argument, NULL, OPTION_NAME},
    {"uuid", required_argument, NULL, OPTION_UUID},
    {"type", required_argument, NULL, OPTION_TYPE},
    {"policy", required_argument, NULL, OPTION_POLICY},
    {"nodes", required_argument, NULL, OPTION_NODES},
    {"cpus", required_argument, NULL, OPTION_CPUS},
    {"pool", required_argument, NULL, OPTION_POOL},
    {"near", required_argument, NULL, OPTION_NEAR},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"ttl", required_argument, NULL, OPTION_TTL},
    {"strict", no_argument, NULL, OPTION_STRICT},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"explain", no_argument, NULL, OPTION_EXPLAIN},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {0},
};

static const char *name_of(int option)
{
    const struct option *name = names;

    while (name->val != option)
        name++;
    return name->name;
}

static int refuse(int option, const char *value, const char *why)
{
    report("place: --%s: '%s': %s", name_of(option), value, why);
    return STATUS_USAGE;
}

/* --- values; each: 0 or an exit status --- */

static int take_number(int option, const char *value, uint64_t min, uint64_t max, uint64_t *ret_number)
{
    _cleanup_free_ char *why = NULL;

    if (number_from_text(value, ret_number) && *ret_number >= min && *ret_number <= max)
        return 0;
    if (asprintf(&why, "give a whole number from %" PRIu64 " to %" PRIu64, min, max) < 0)
        return report_no_memory();
    return refuse(option, value, why);
}

static int take_u32(int option, const char *value, uint32_t min, uint32_t max, uint32_t *ret)
{
    uint64_t number = 0;
    int r = take_number(option, value, min, max, &number);

    *ret = (uint32_t)number;
    return r;
}

static int take_size(int option, const char *value, uint64_t *ret_bytes)
{
    if (!size_from_text(value, ret_bytes))
        return refuse(option, value, "give " SIZE_ALLOWED);
    if (*ret_bytes == 0 || *ret_bytes > REQUEST_MEMORY_MAX)
        return refuse(option, value, "a domain has from 1 byte to 65536T");
    return 0;
}

static int take_set(int option, const char *value, unsigned highest, Bitmap *set, bool *ret_has)
{
    _cleanup_free_ char *why = NULL;
    int r = bitmap_parse(set, value, highest);

    *ret_has = true;
    switch (r) {
    case 0:
        return bitmap_isempty(set) ? refuse(option, value, "give at least one number, like 0-3,8") : 0;
    case BITMAP_E_SYNTAX:
        return refuse(option, value, "give numbers and ranges, like 0-3,8");
    case BITMAP_E_BACKWARD:
        return refuse(option, value, "a range that ends before it begins");
    case BITMAP_E_RANGE:
        if (asprintf(&why, "the highest number is %u", highest) < 0)
            return report_no_memory();
        return refuse(option, value, why);
    default:
        return report_no_memory();
    }
}

static bool is_utf8(const char *text)
{
    size_t n = 1;

    for (; *text && n; text += n)
        n = utf8_length((const unsigned char *)text);
    return !*text;
}

static int take_name(const char *value, PlacementRequest *request)
{
    if (!*value || strlen(value) > REQUEST_NAME_MAX || !is_utf8(value))
        return refuse(OPTION_NAME, value, "a name is UTF-8 text of 1 to 255 bytes");
    free(request->name);
    request->name = strdup(value);
    return request->name ? 0 : report_no_memory();
}

static int take_uuid(const char *value, PlacementRequest *request)
{
    request->has_uuid = uuid_from_text(value, request->uuid);
    return request->has_uuid ? 0 : refuse(OPTION_UUID, value, "give one like 01234567-89ab-cdef-0123-456789abcdef");
}

static int take_type(const char *value, PlacementRequest *request)
{
    for (DomainType type = DOMAIN_TYPE_UNKNOWN + 1; type < _DOMAIN_TYPE_MAX; type++)
        if (strcmp(value, domain_type_to_text(type)) == 0) {
            request->type = type;
            return 0;
        }
    return refuse(OPTION_TYPE, value, "give pv, pvh or hvm");
}

static int take_policy(const char *value, PlacementRequest *request)
{
    request->has_policy = policy_from_text(value, &request->policy);
    return request->has_policy ? 0 : refuse(OPTION_POLICY, value, "give balance, pack, interleave or any");
}

static int take_near(const char *value, PlacementRequest *request)
{
    char pci[PCI_TEXT_SIZE];

    if (!placement_request_pci(value, pci))
        return refuse(OPTION_NEAR, value, "give a PCI address, like 0000:3b:00.0");
    free(request->near);
    request->near = strdup(pci);
    return request->near ? 0 : report_no_memory();
}

static int take_format(const char *value, PlaceOptions *options)
{
    static const char *const formats[_PLACE_FORMAT_MAX] = {
        [PLACE_TEXT] = "text",
        [PLACE_JSON] = "json",
        [PLACE_XL] = "xl",
    };

    for (PlaceFormat format = 0; format < _PLACE_FORMAT_MAX; format++)
        if (strcmp(value, formats[format]) == 0) {
            options->format = format;
            return 0;
        }
    return refuse(OPTION_FORMAT, value, "give text, json or xl");
}

/* --- options --- */

/* Of the domain itself. */
static int take_domain_option(int option, const char *value, PlacementRequest *request)
{
    switch (option) {
    case OPTION_VCPUS:
        return take_u32(option, value, 1, REQUEST_VCPUS_MAX, &request->vcpus);
    case OPTION_MEMORY:
        return take_size(option, value, &request->memory);
    case OPTION_MAX_MEMORY:
        return take_size(option, value, &request->max_memory);
    case OPTION_NAME:
        return take_name(value, request);
    case OPTION_UUID:
        return take_uuid(value, request);
    case OPTION_TYPE:
        return take_type(value, request);
    default: /* OPTION_THREADS */
        return take_u32(option, value, 1, REQUEST_THREADS_MAX, &request->threads_per_core);
    }
}

static int take_option(int option, const char *value, void *state)
{
    PlaceOptions *options = state;
    PlacementRequest *request = &options->request;

    switch (option) {
    case OPTION_POLICY:
        return take_policy(value, request);
    case OPTION_NODES:
        return take_set(option, value, NODES_MAX - 1, &request->nodes, &request->has_nodes);
    case OPTION_CPUS:
        return take_set(option, value, CPUS_MAX - 1, &request->cpus, &request->has_cpus);
    case OPTION_POOL:
        return take_u32(option, value, 0, UINT32_MAX - 1, &request->pool);
    case OPTION_NEAR:
        return take_near(value, request);
    case OPTION_TTL:
        return take_u32(option, value, REQUEST_TTL_MS_MIN, REQUEST_TTL_MS_MAX, &request->ttl_ms);
    case OPTION_STRICT:
        request->strict = true;
        return 0;
    case OPTION_DRY_RUN:
        options->dry_run = true;
        return 0;
    case OPTION_EXPLAIN:
        options->explain = true;
        return 0;
    case OPTION_FORMAT:
        return take_format(value, options);
    default:
        return take_domain_option(option, value, request);
    }
}

/* What no option shows alone. */
static int check(const PlaceOptions *options, const Globals *globals)
{
    const PlacementRequest *request = &options->request;

    if (!request->vcpus || !request->memory) {
        report("place: --%s is missing: say at least --vcpus and --memory, as --vcpus 4 --memory 8G",
               request->vcpus ? "memory" : "vcpus");
        return STATUS_USAGE;
    }
    if (request->max_memory && request->max_memory < request->memory) {
        report("place: --max-memory: less than --memory");
        return STATUS_USAGE;
    }
    if (globals->host && !options->dry_run) {
        report("place: --host: nothing can be reserved on a host description: add --dry-run");
        return STATUS_USAGE;
    }
    if (options->explain && options->format == PLACE_XL) {
        report("place: --explain and --format xl: give one, an xl.cfg has no candidates");
        return STATUS_USAGE;
    }
    return 0;
}

void place_options_done(PlaceOptions *options)
{
    placement_request_done(&options->request);
}

int place_options_read(const Command *command, Globals *globals, int argc, char **argv, PlaceOptions *ret_options)
{
    int r;

    *ret_options = (PlaceOptions){.request.pool = ROW_NO_POOL};
    r = options_parse(command, globals, argc, argv, ":", names, take_option, ret_options);
    return r != 0 ? r : check(ret_options, globals);
}
