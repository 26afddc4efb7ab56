/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "sim-domain.h"

#include "sim-keys.h"
#include "sim-token.h"

#include "lib/core/uuid.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-id128.h>

#define MASKS_MAX (UINT64_C(1) << 30) /* bytes of all vCPUs' sets, as a host description may have */

enum { NAME, UUID, TYPE, STATE, POOL, MEMORY, MAX_MEMORY, VCPUS, HARD, SOFT, NODE_AFFINITY, TOKEN };

static const SimKey keys[] = {
    [NAME] = {"name", 's', false},
    [UUID] = {"uuid", 's', false},
    [TYPE] = {"type", 's', false},
    [STATE] = {"state", 's', false},
    [POOL] = {"pool", 'u', false},
    [MEMORY] = {"memory", 't', false},
    [MAX_MEMORY] = {"max_memory", 't', false},
    [VCPUS] = {"vcpus", 'u', false},
    [HARD] = {"hard", 's', false},
    [SOFT] = {"soft", 's', false},
    [NODE_AFFINITY] = {"node_affinity", 's', false},
    [TOKEN] = {"token", 's', false},
    {NULL, '\0', false},
};

void sim_start_done(SimStart *start)
{
    for (size_t i = 0; i < start->n_placed; i++)
        bitmap_done(&start->placed[i]);
    free(start->placed);
    free(start->vcpus);
    bitmap_done(&start->all);
    bitmap_done(&start->hard);
    bitmap_done(&start->soft);
    bitmap_done(&start->nodes);
}

static int refuse(char **ret_why, int key, const char *what)
{
    return sim_keys_refuse(ret_why, keys[key].name, "%s", what);
}

static int read_name(const SimValue *value, SimDomain *domain, char **ret_why)
{
    size_t size = strlen(value->text);

    if (size == 0 || size > REQUEST_NAME_MAX)
        return sim_keys_refuse(ret_why, "name", "must have from 1 to %u bytes", REQUEST_NAME_MAX);
    domain->name = value->text;
    return 0;
}

static int read_uuid(const SimValue *value, SimDomain *domain, char **ret_why)
{
    if (!uuid_from_text(value->text, domain->uuid))
        return refuse(ret_why, UUID, "is no UUID");
    domain->has_uuid = true;
    return 0;
}

static int read_type(const SimValue *value, SimDomain *domain, char **ret_why)
{
    for (DomainType type = DOMAIN_TYPE_PV; type < _DOMAIN_TYPE_MAX; type++)
        if (strcmp(value->text, domain_type_to_text(type)) == 0) {
            domain->type = type;
            return 0;
        }
    return refuse(ret_why, TYPE, "must be pv, pvh or hvm");
}

static int read_state(const SimValue *value, SimDomain *domain, char **ret_why)
{
    for (DomainState state = 0; state < _DOMAIN_STATE_MAX; state++)
        if (strcmp(value->text, domain_state_to_text(state)) == 0) {
            domain->state = state;
            return 0;
        }
    return refuse(ret_why, STATE, "must be running, blocked, paused, shutdown, crashed or dying");
}

static int read_identity(const SimValue *values, SimDomain *domain, char **ret_why)
{
    int r = values[NAME].given ? read_name(&values[NAME], domain, ret_why) : 0;

    if (r == 0 && values[UUID].given)
        r = read_uuid(&values[UUID], domain, ret_why);
    if (r == 0 && values[TYPE].given)
        r = read_type(&values[TYPE], domain, ret_why);
    return r == 0 && values[STATE].given ? read_state(&values[STATE], domain, ret_why) : r;
}

static int read_quantities(const SimValue *values, SimDomain *domain, char **ret_why)
{
    if (values[MEMORY].given)
        domain->memory = values[MEMORY].number;
    if (values[VCPUS].given)
        domain->vcpus = (uint32_t)values[VCPUS].number;
    domain->max_memory = values[MAX_MEMORY].given ? values[MAX_MEMORY].number : MAX(domain->memory, domain->max_memory);
    if (domain->memory == 0 || domain->memory > REQUEST_MEMORY_MAX)
        return sim_keys_refuse(ret_why, "memory", "must be from 1 to %" PRIu64 " bytes", (uint64_t)REQUEST_MEMORY_MAX);
    if (domain->max_memory < domain->memory || domain->max_memory > REQUEST_MEMORY_MAX)
        return sim_keys_refuse(ret_why, "max_memory", "must be from memory to %" PRIu64 " bytes",
                               (uint64_t)REQUEST_MEMORY_MAX);
    if (domain->vcpus == 0 || domain->vcpus > REQUEST_VCPUS_MAX)
        return sim_keys_refuse(ret_why, "vcpus", "must be from 1 to %u", REQUEST_VCPUS_MAX);
    return 0;
}

static int read_set(const SimValue *value, int key, unsigned highest, Bitmap *set, char **ret_why)
{
    int r = bitmap_parse(set, value->text, highest);

    if (r == BITMAP_E_RANGE)
        return sim_keys_refuse(ret_why, keys[key].name, "the highest is %u", highest);
    return r > 0 ? refuse(ret_why, key, "must be a list as '0-3,8'") : r;
}

/* Both sets of all vCPUs, unless the token has some for each. */
static int begin_sets(const HostRows *rows, SimStart *start)
{
    int r = bitmap_set_range(&start->all, 0, rows->max_cpu_id);

    if (r < 0 || start->vcpus)
        return r;
    start->vcpus = new_array(1, sizeof(*start->vcpus));
    if (!start->vcpus)
        return -ENOMEM;
    start->vcpus[0] = (VcpuRow){.hard = start->all, .soft = start->all};
    start->domain.sets = start->vcpus;
    start->domain.n_sets = 1;
    return 0;
}

static int read_vcpu_sets(const SimValue *values, const HostRows *rows, SimStart *start, char **ret_why)
{
    int r = 0;

    if (values[HARD].given)
        r = read_set(&values[HARD], HARD, rows->max_cpu_id, &start->hard, ret_why);
    if (r == 0 && values[SOFT].given)
        r = read_set(&values[SOFT], SOFT, rows->max_cpu_id, &start->soft, ret_why);
    for (size_t i = 0; r == 0 && i < start->domain.n_sets; i++) {
        if (values[HARD].given)
            start->vcpus[i].hard = bitmap_isempty(&start->hard) ? start->all : start->hard;
        if (values[SOFT].given)
            start->vcpus[i].soft = bitmap_isempty(&start->soft) ? start->all : start->soft;
    }
    return r;
}

static int read_sets(const SimValue *values, const HostRows *rows, SimStart *start, char **ret_why)
{
    int r = begin_sets(rows, start);

    if (r == 0)
        r = read_vcpu_sets(values, rows, start, ret_why);
    if (r == 0 && values[NODE_AFFINITY].given) {
        r = read_set(&values[NODE_AFFINITY], NODE_AFFINITY, (unsigned)rows->n_nodes - 1, &start->nodes, ret_why);
        start->domain.node_affinity = &start->nodes;
    }
    return r;
}

static int read_pool(const SimValue *value, const HostRows *rows, SimDomain *domain, char **ret_why)
{
    if (value->given)
        domain->pool = (uint32_t)value->number;
    else if (domain->pool == 0)
        return 0;
    for (size_t i = 0; i < rows->n_pools; i++)
        if (rows->pools[i].pool == domain->pool)
            return 0;
    return sim_keys_refuse(ret_why, "pool", "there is no pool %" PRIu32, domain->pool);
}

/* A domain without a UUID is none that Xen's tools make. */
static int make_uuid(SimDomain *domain)
{
    sd_id128_t id;
    int r = domain->has_uuid ? 0 : sd_id128_randomize(&id);

    if (!domain->has_uuid && r >= 0)
        memcpy(domain->uuid, &id, sizeof(domain->uuid));
    domain->has_uuid = true;
    return r;
}

static int check_vcpus(const HostRows *rows, const SimDomain *domain, char **ret_why)
{
    uint64_t n = domain->vcpus, max = MASKS_MAX / (2 * ((rows->max_cpu_id + 1 + 7) / 8));
    int r;

    for (size_t i = 0; i < rows->n_domains; i++)
        n += rows->domains[i].vcpus ? rows->domains[i].vcpus->n : 0;
    if (n <= max)
        return 0;
    r = sim_keys_refuse(ret_why, "vcpus", "all domains together would have more than %" PRIu64, max);
    return r < 0 ? r : SIM_START_E_LIMIT;
}

int sim_start_read(sd_bus_message *call, const HostRows *rows, const Snapshot *snapshot, SimStart *start,
                   char **ret_why)
{
    SimValue values[SIM_KEYS_MAX];
    int r = sim_keys_read(call, keys, values, ret_why);

    if (r == 0 && values[TOKEN].given)
        r = sim_token_read(values[TOKEN].text, rows, snapshot, start, ret_why);
    if (r == 0)
        r = read_identity(values, &start->domain, ret_why);
    if (r == 0)
        r = read_quantities(values, &start->domain, ret_why);
    if (r == 0)
        r = read_sets(values, rows, start, ret_why);
    if (r == 0)
        r = read_pool(&values[POOL], rows, &start->domain, ret_why);
    if (r == 0)
        r = check_vcpus(rows, &start->domain, ret_why);
    return r == 0 ? make_uuid(&start->domain) : r;
}
