/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "place.h"

#include "lib/core/account.h"
#include "lib/core/placement-document.h"

#include <stdio.h>
#include <string.h>

/* --- the daemon's answer --- */

static int set_nodes(numadx_request *to, const Bitmap *set)
{
    uint32_t *nodes = new_array(bitmap_weight(set), sizeof(*nodes));
    size_t n = 0;
    int r;

    if (!nodes)
        return -ENOMEM;
    BITMAP_FOREACH (node, set)
        nodes[n++] = node;
    r = numadx_request_set_nodes(to, nodes, n);
    free(nodes);
    return r;
}

static int set_cpus(numadx_request *to, const Bitmap *set)
{
    _cleanup_free_ char *text = bitmap_to_text(set);

    return text ? numadx_request_set_cpus(to, text) : -ENOMEM;
}

static int set_who(numadx_request *to, const PlacementRequest *from)
{
    char uuid[UUID_TEXT_SIZE];
    int r = 0;

    if (from->name)
        r = numadx_request_set_name(to, from->name);
    if (r == 0 && from->has_uuid)
        r = numadx_request_set_uuid(to, uuid_to_text(from->uuid, uuid));
    if (r == 0 && from->type != DOMAIN_TYPE_UNKNOWN)
        r = numadx_request_set_type(to, domain_type_to_text(from->type));
    return r;
}

static int set_where(numadx_request *to, const PlacementRequest *from)
{
    int r = 0;

    if (from->has_policy)
        r = numadx_request_set_policy(to, policy_to_text(from->policy));
    if (r == 0 && from->has_nodes)
        r = set_nodes(to, &from->nodes);
    if (r == 0 && from->has_cpus)
        r = set_cpus(to, &from->cpus);
    if (r == 0 && from->pool != ROW_NO_POOL)
        r = numadx_request_set_pool(to, from->pool);
    if (r == 0 && from->near)
        r = numadx_request_set_near(to, from->near);
    if (r == 0 && from->strict)
        r = numadx_request_set_strict(to, true);
    return r;
}

static int set_numbers(numadx_request *to, const PlacementRequest *from)
{
    int r = numadx_request_set_vcpus(to, from->vcpus);

    if (r == 0)
        r = numadx_request_set_memory(to, from->memory);
    if (r == 0 && from->max_memory)
        r = numadx_request_set_max_memory(to, from->max_memory);
    if (r == 0 && from->ttl_ms)
        r = numadx_request_set_ttl_ms(to, from->ttl_ms);
    if (r == 0 && from->threads_per_core)
        r = numadx_request_set_threads_per_core(to, from->threads_per_core);
    return r;
}

DEFINE_CLEANUP(numadx_request *, numadx_request_free)

/* NULL when memory is short. */
static numadx_request *make_request(const PlacementRequest *from)
{
    _cleanup_(numadx_request_free_p) numadx_request *request = numadx_request_new();

    if (!request || set_numbers(request, from) < 0 || set_who(request, from) < 0 || set_where(request, from) < 0)
        return NULL;
    return TAKE_PTR(request);
}

static int explain_by_daemon(Feed *feed, const PlacementRequest *request, char **ret_json)
{
    _cleanup_(numadx_request_free_p) numadx_request *asked = make_request(request);
    int r;

    if (!asked)
        return feed_fail(feed, NULL);
    r = feed_connect(feed);
    if (r != 0)
        return r;
    r = numadx_explain(feed->client, asked, ret_json);
    return r < 0 ? feed_fail_client(feed, r) : 0;
}

int feed_place(Feed *feed, const PlacementRequest *request, char **ret_token, char **ret_json)
{
    _cleanup_(numadx_request_free_p) numadx_request *asked = make_request(request);
    int r;

    if (!asked)
        return feed_fail(feed, NULL);
    r = feed_connect(feed);
    if (r != 0)
        return r;
    r = numadx_place(feed->client, asked, ret_token, ret_json);
    return r < 0 ? feed_fail_client(feed, r) : 0;
}

int feed_commit(Feed *feed, const char *token, uint32_t domid)
{
    int r = feed_connect(feed);

    if (r != 0)
        return r;
    r = numadx_commit(feed->client, token, domid);
    return r < 0 ? feed_fail_client(feed, r) : 0;
}

int feed_release(Feed *feed, const char *token)
{
    int r = feed_connect(feed);

    if (r != 0)
        return r;
    r = numadx_release(feed->client, token);
    return r < 0 ? feed_fail_client(feed, r) : 0;
}

/* --- a host description's --- */

/* As the daemon decides on a host where nothing is promised. */
static int account(Snapshot *sealed, Snapshot **ret_snapshot)
{
    const AccountOptions options = {.generation = sealed->generation, .time_us = sealed->time_us};
    _cleanup_(ledger_unref_p) Ledger *ledger = ledger_new();

    return ledger ? account_snapshot(sealed, NULL, ledger, &options, ret_snapshot) : -ENOMEM;
}

/* In the words of a daemon's refusal. Takes `why` over. */
static int fail_no_fit(Feed *feed, char *why)
{
    char *text = NULL;

    if (asprintf(&text, "no room: %s", why) < 0)
        text = NULL;
    free(why);
    feed_fail(feed, text);
    return STATUS_NOFIT;
}

static int explain_by_file(Feed *feed, const PlacementRequest *request, char **ret_json)
{
    const PlacementOptions options = {.policy = POLICY_BALANCE, .explain = true};
    _cleanup_(snapshot_unref_p) Snapshot *sealed = NULL, *snapshot = NULL;
    _cleanup_(placement_free_p) Placement *placement = NULL;
    char *why = NULL;
    int r = feed_seal(feed, &sealed);

    if (r != 0)
        return r;
    r = account(sealed, &snapshot);
    if (r == 0)
        r = placement_evaluate(snapshot, request, &options, &placement, &why);
    if (r == PLACEMENT_E_NOFIT)
        return fail_no_fit(feed, why);
    if (r == PLACEMENT_E_INVALID)
        return feed_fail(feed, why);
    if (r == 0)
        r = placement_document(placement, &(PlacementDocument){.expires_ms = VALUE_UNKNOWN}, ret_json);
    return r < 0 ? feed_fail(feed, NULL) : 0;
}

int feed_explain(Feed *feed, const PlacementRequest *request, char **ret_json)
{
    return (feed->globals->host ? explain_by_file : explain_by_daemon)(feed, request, ret_json);
}
