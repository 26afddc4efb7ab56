/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement.h"
#include "request.h"

#include <string.h>

static int call_with_request(numadx_client *client, const char *member, const numadx_request *request,
                             uint64_t patience_usec, const char *types, sd_bus_message **ret_answer)
{
    _cleanup_message_ sd_bus_message *call = NULL;
    int r = client_new_call(client, member, &call);

    return r < 0 ? r : client_call(client, request_append(request, call), call, patience_usec, types, ret_answer);
}

EXPORT int numadx_explain(numadx_client *client, const numadx_request *request, char **ret_json)
{
    _cleanup_message_ sd_bus_message *answer = NULL;
    int r = call_with_request(client, "Explain", request, ANSWER_USEC, "s", &answer);

    return r < 0 ? r : client_take_text(client, answer, "Explain", ret_json);
}

EXPORT int numadx_place(numadx_client *client, const numadx_request *request, char **ret_token, char **ret_json)
{
    _cleanup_message_ sd_bus_message *answer = NULL;
    _cleanup_free_ char *copy = NULL;
    const char *token;
    int r;

    r = call_with_request(client, "Place", request, DECISION_USEC, "sa{sv}", &answer);
    if (r < 0)
        return r;
    r = sd_bus_message_read_basic(answer, 's', &token);
    if (r >= 0 && !(copy = strdup(token)))
        r = -ENOMEM;
    if (r >= 0)
        r = placement_json(answer, token, ret_json);
    if (r < 0)
        return client_fail_answer(client, "Place", r);
    *ret_token = TAKE_PTR(copy);
    return 0;
}

EXPORT int numadx_commit(numadx_client *client, const char *token, uint32_t domid)
{
    _cleanup_message_ sd_bus_message *call = NULL, *answer = NULL;
    int r = client_new_call(client, "Commit", &call);

    if (r < 0)
        return r;
    r = sd_bus_message_append(call, "su", token, domid);
    return client_call(client, r, call, ANSWER_USEC, "", &answer);
}

EXPORT int numadx_release(numadx_client *client, const char *token)
{
    _cleanup_message_ sd_bus_message *call = NULL, *answer = NULL;
    int r = client_new_call(client, "Release", &call);

    if (r < 0)
        return r;
    r = sd_bus_message_append_basic(call, 's', token);
    return client_call(client, r, call, ANSWER_USEC, "", &answer);
}
