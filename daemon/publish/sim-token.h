/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sim-domain.h"

/*
 * The domain of a pending reservation, as it was placed: memory, its nodes as node affinity, name, UUID, type, pool,
 * and the hard and soft set of each vCPU, as far as the host still has what they name. As sim_start_read().
 */
int sim_token_read(const char *token, const HostRows *rows, const Snapshot *snapshot, SimStart *start, char **ret_why);
