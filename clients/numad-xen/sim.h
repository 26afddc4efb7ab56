/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "feed.h"

#define SIM_WORDS_MAX 16
#define SIM_VALUES_MAX 16

/* The command's words and, of create, its options. */
typedef struct SimOptions {
    const char *words[SIM_WORDS_MAX];
    size_t n_words;
    numadx_sim_value values[SIM_VALUES_MAX];
    size_t n_values;
    const char *token; /* NULL: none */
} SimOptions;

/* 0, an exit status above 0 (reported), or OPTION_END. */
int sim_options_read(const Command *command, Globals *globals, int argc, char **argv, SimOptions *ret_options);
/* "KEY=VALUE" of a fault, whose text it changes. 0 or an exit status (reported). */
int sim_fault_value(char *word, numadx_sim_value *ret_value);
