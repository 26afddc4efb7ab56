/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client.h"

#include <stdio.h>
#include <string.h>

/*
 * sd_bus_call() ends when a signal is handled (a resized terminal), and its answer is lost then. A call that reserves
 * must not be made anew, so the answer is waited for here, whatever interrupts.
 */
typedef struct Wait {
    sd_bus_message *answer; /* an error, too */
} Wait;

int client_fail(numadx_client *client, int r, char *text)
{
    free(client->error);
    client->error = text;
    return r;
}

int client_fail_call(numadx_client *client, int r, const sd_bus_error *error, uint64_t patience_usec)
{
    BusPlace place = {client->address, client->host, (unsigned)(patience_usec / 1000000)};
    char *text = NULL;

    r = bus_error_explain(r, error, place, &text);
    return client_fail(client, r, text);
}

int client_fail_answer(numadx_client *client, const char *member, int r)
{
    char *text = NULL;

    if (asprintf(&text, "numad-xend's answer to %s makes no sense: is it of another version?", member) < 0)
        text = NULL;
    return client_fail(client, r == -ENOMEM ? r : -EBADMSG, text);
}

int client_new_call(numadx_client *client, const char *member, sd_bus_message **ret_call)
{
    int r;

    if (!client->bus)
        return client_fail_call(client, -ENOTCONN, NULL, ANSWER_USEC);
    r = sd_bus_message_new_method_call(client->bus, ret_call, BUS_NAME, BUS_PATH, BUS_INTERFACE, member);
    return r < 0 ? client_fail_call(client, r, NULL, ANSWER_USEC) : 0;
}

static int take_answer(sd_bus_message *answer, void *userdata, sd_bus_error *ret_error)
{
    Wait *wait = userdata;

    wait->answer = sd_bus_message_ref(answer);
    return 0;
}

/* Whatever else comes meanwhile, it does not take longer. */
static int wait_for(sd_bus *bus, uint64_t patience_usec, const Wait *wait)
{
    uint64_t deadline = now_usec() + patience_usec, now;
    int r;

    for (;;) {
        r = sd_bus_process(bus, NULL);
        if (r < 0 || wait->answer)
            return r < 0 ? r : 0;
        now = now_usec();
        if (now >= deadline)
            return -ETIMEDOUT;
        if (r == 0)
            r = sd_bus_wait(bus, deadline - now);
        if (r < 0 && r != -EINTR)
            return r;
    }
}

/* sd-bus makes up an error as the answer when the connection ends. */
static int send_and_wait(sd_bus *bus, sd_bus_message *call, uint64_t patience_usec, sd_bus_message **ret_answer)
{
    sd_bus_slot *slot = NULL;
    Wait wait = {0};
    int r;

    r = sd_bus_call_async(bus, &slot, call, take_answer, &wait, UINT64_MAX);
    if (r >= 0)
        r = wait_for(bus, patience_usec, &wait);
    sd_bus_slot_unref(slot);
    if (r >= 0 && !sd_bus_is_open(bus) && sd_bus_message_is_method_error(wait.answer, NULL))
        r = -ECONNRESET;
    if (r < 0) {
        sd_bus_message_unref(wait.answer);
        return r;
    }
    *ret_answer = wait.answer;
    return 0;
}

int client_call(numadx_client *client, int r, sd_bus_message *call, uint64_t patience_usec, const char *types,
                sd_bus_message **ret_answer)
{
    _cleanup_message_ sd_bus_message *answer = NULL;

    if (r >= 0)
        r = send_and_wait(client->bus, call, patience_usec, &answer);
    if (r < 0)
        return client_fail_call(client, r, NULL, patience_usec);
    if (sd_bus_message_is_method_error(answer, NULL))
        return client_fail_call(client, -EIO, sd_bus_message_get_error(answer), patience_usec);
    if (!sd_bus_message_has_signature(answer, types))
        return client_fail_answer(client, sd_bus_message_get_member(call), -EBADMSG);
    *ret_answer = TAKE_PTR(answer);
    return 0;
}

int client_take_text(numadx_client *client, sd_bus_message *answer, const char *member, char **ret_text)
{
    const char *text;
    int r = sd_bus_message_read_basic(answer, 's', &text);

    if (r < 0)
        return client_fail_answer(client, member, r);
    *ret_text = strdup(text);
    return *ret_text ? 0 : client_fail(client, -ENOMEM, NULL);
}
