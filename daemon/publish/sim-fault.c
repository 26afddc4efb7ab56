/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "sim-fault.h"

#include "sim-keys.h"

#include <string.h>

#define KEYS_MAX 4
#define ERRNO_MAX 4095u /* as the kernel's */
#define SLOW_MS_MAX (10u * 60u * 1000u)

typedef struct FaultKind {
    const char *name;
    SimKey keys[KEYS_MAX];
} FaultKind;

/* clang-format off */
static const FaultKind kinds[_SIM_FAULT_MAX] = {
    [SIM_FAULT_TAKE] = {"take", {{"node", 'u', true}, {"bytes", 't', true}}},
    [SIM_FAULT_GIVE] = {"give", {{"node", 'u', true}, {"bytes", 't', true}}},
    [SIM_FAULT_STOP_BUILD] = {"stop-build", {{"bytes", 't', true}}},
    [SIM_FAULT_RESUME_BUILD] = {"resume-build", {{"domid", 'u', true}}},
    [SIM_FAULT_FAIL_BUILD] = {"fail-build", {{"bytes", 't', true}}},
    [SIM_FAULT_READ] = {"read", {{"call", 's', true}, {"errno", 'u', false}, {"times", 'u', false}}},
    [SIM_FAULT_LOSE_EVENTS] = {"lose-events", {{NULL, '\0', false}}},
    [SIM_FAULT_SLOW] = {"slow", {{"ms", 'u', true}}},
    [SIM_FAULT_BUSY] = {"busy", {{"on", 'u', true}}},
};
/* clang-format on */

static int refuse_kind(char **ret_why)
{
    return sim_keys_refuse(ret_why, "kind",
                           "must be take, give, stop-build, resume-build, fail-build, read, lose-events, slow or busy");
}

static int take_call(const SimValue *value, SimFault *fault, char **ret_why)
{
    fault->memory = strcmp(value->text, "memory") == 0;
    return fault->memory || strcmp(value->text, "collection") == 0
               ? 0
               : sim_keys_refuse(ret_why, "call", "must be memory or collection");
}

static int take_number(const char *key, uint64_t number, SimFault *fault, char **ret_why)
{
    if (strcmp(key, "node") == 0)
        fault->node = (nodeid_t)number;
    else if (strcmp(key, "bytes") == 0 && number <= REQUEST_MEMORY_MAX)
        fault->bytes = number;
    else if (strcmp(key, "domid") == 0 && number < DOMAINS_MAX)
        fault->domid = (domid_t)number;
    else if (strcmp(key, "errno") == 0 && number >= 1 && number <= ERRNO_MAX)
        fault->error = (int)number;
    else if (strcmp(key, "times") == 0)
        fault->times = (uint32_t)number;
    else if (strcmp(key, "ms") == 0 && number <= SLOW_MS_MAX)
        fault->ms = (uint32_t)number;
    else if (strcmp(key, "on") == 0 && number <= 1)
        fault->on = number;
    else
        return sim_keys_refuse(ret_why, key, "%" PRIu64 " is out of range", number);
    return 0;
}

static int take_values(const FaultKind *kind, const SimValue *values, SimFault *fault, char **ret_why)
{
    int r = 0;

    for (size_t i = 0; r == 0 && kind->keys[i].name; i++)
        if (values[i].given)
            r = kind->keys[i].type == 's' ? take_call(&values[i], fault, ret_why)
                                          : take_number(kind->keys[i].name, values[i].number, fault, ret_why);
    return r;
}

int sim_fault_read(sd_bus_message *call, SimFault *fault, char **ret_why)
{
    SimValue values[SIM_KEYS_MAX];
    const char *name;
    int r = sd_bus_message_read_basic(call, 's', &name);

    if (r < 0)
        return r;
    *fault = (SimFault){.error = EIO, .times = 1};
    while (fault->kind < _SIM_FAULT_MAX && strcmp(name, kinds[fault->kind].name) != 0)
        fault->kind++;
    if (fault->kind == _SIM_FAULT_MAX)
        return refuse_kind(ret_why);
    r = sim_keys_read(call, kinds[fault->kind].keys, values, ret_why);
    return r == 0 ? take_values(&kinds[fault->kind], values, fault, ret_why) : r;
}
