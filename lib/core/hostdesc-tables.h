/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base.h"

/*
 * Copies of the firmware's tables that hold what is read of them and zeros for all else: who made them, reserved
 * fields, entries that are not enabled or of a type that is not used, initiators' handles, and what stands behind the
 * first fault. Nothing follows the end that a table says it has. Parsed, a copy gives what the table gave, fault
 * included; its checksum is right if the table's was. 0 or -ENOMEM.
 */
int hostdesc_copy_srat(const uint8_t *bytes, size_t size, uint8_t **ret_copy, size_t *ret_size);
int hostdesc_copy_slit(const uint8_t *bytes, size_t size, uint8_t **ret_copy, size_t *ret_size);
