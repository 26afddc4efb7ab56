/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the calls of numadxen.h share: the connection, making a call and waiting for its answer, and what is told when
 * it fails.
 */

#include "bus-error.h"
#include "lib/core/base.h"
#include "numadxen.h"
#include "ready.h"

#define EXPORT __attribute__((visibility("default")))

#define BUS_NAME "org.numadxen.NumadXen1"
#define BUS_PATH "/org/numadxen/NumadXen1"
#define BUS_INTERFACE "org.numadxen.NumadXen1"

struct numadx_client {
    sd_bus *bus;   /* NULL when it could not be reached */
    char *address; /* NULL: the machine's system bus */
    char *host;    /* whose system bus it is, over ssh; NULL: not another host's */
    pid_t ssh;     /* then, the process that holds the connection */
    char *error;
};

DEFINE_CLEANUP(sd_bus_message *, sd_bus_message_unref)
#define _cleanup_message_ _cleanup_(sd_bus_message_unref_p)

/* A place's decision waits for others' requests and may one day wait for a person; all else is answered at once. */
#define DECISION_USEC (30 * 1000000ull)

/* Each returns its r, or what that means, for the caller to return. `text` is taken over; NULL: memory is short. */
int client_fail(numadx_client *client, int r, char *text);
int client_fail_call(numadx_client *client, int r, const sd_bus_error *error, uint64_t patience_usec);
int client_fail_answer(numadx_client *client, const char *member, int r);

/* A call to be filled with its arguments. 0 or a negative errno, which is told. */
int client_new_call(numadx_client *client, const char *member, sd_bus_message **ret_call);
/*
 * Sends it and waits for its answer, through signals that interrupt: it is never made twice. `r` is what filling it
 * came to. The answer has the signature `types`. 0 or a negative errno, which is told.
 */
int client_call(numadx_client *client, int r, sd_bus_message *call, uint64_t patience_usec, const char *types,
                sd_bus_message **ret_answer);
/* Of an answer that is one text; owned. */
int client_take_text(numadx_client *client, sd_bus_message *answer, const char *member, char **ret_text);
