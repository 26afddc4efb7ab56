/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

/* The connection to xenstore, behind XenCallsOps.store_*, which say what these return. A zeroed one is not open. */
typedef struct StoreLink {
    struct xs_handle *handle;
    bool had_socket; /* xenstored runs in this domain */
} StoreLink;

int store_link_open(StoreLink *link);
void store_link_close(StoreLink *link);
int store_link_name(StoreLink *link, domid_t domid, char **ret_name);
int store_link_fd(const StoreLink *link);
int store_link_event(StoreLink *link);
