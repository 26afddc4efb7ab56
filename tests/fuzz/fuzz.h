/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entry point; tests/fuzz/replay.c calls it for each file of the corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
