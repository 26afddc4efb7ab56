/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "number.h"
#include "report.h"
#include "sim.h"

#include <string.h>

/* What each key's value is, and how a person writes it. */
typedef enum Kind { TEXT, NUMBER, SIZE } Kind;

static const struct {
    const char *key;
    Kind kind;
} fault_keys[] = {
    {"node", NUMBER},  {"bytes", SIZE}, {"domid", NUMBER}, {"errno", NUMBER},
    {"times", NUMBER}, {"ms", NUMBER},  {"on", NUMBER},
};

enum { NAME = 1, UUID, TYPE, STATE, POOL, MEMORY, MAX_MEMORY, VCPUS, HARD, SOFT, NODE_AFFINITY, TOKEN };

static const struct option names[] = {
    {"name", required_argument, NULL, 100 + NAME},
    {"uuid", required_argument, NULL, 100 + UUID},
    {"type", required_argument, NULL, 100 + TYPE},
    {"state", required_argument, NULL, 100 + STATE},
    {"pool", required_argument, NULL, 100 + POOL},
    {"memory", required_argument, NULL, 100 + MEMORY},
    {"max-memory", required_argument, NULL, 100 + MAX_MEMORY},
    {"vcpus", required_argument, NULL, 100 + VCPUS},
    {"hard", required_argument, NULL, 100 + HARD},
    {"soft", required_argument, NULL, 100 + SOFT},
    {"node-affinity", required_argument, NULL, 100 + NODE_AFFINITY},
    {"token", required_argument, NULL, 100 + TOKEN},
    {0},
};

static const struct {
    const char *key;
    Kind kind;
} create_keys[] = {
    [NAME] = {"name", TEXT},
    [UUID] = {"uuid", TEXT},
    [TYPE] = {"type", TEXT},
    [STATE] = {"state", TEXT},
    [POOL] = {"pool", NUMBER},
    [MEMORY] = {"memory", SIZE},
    [MAX_MEMORY] = {"max_memory", SIZE},
    [VCPUS] = {"vcpus", NUMBER},
    [HARD] = {"hard", TEXT},
    [SOFT] = {"soft", TEXT},
    [NODE_AFFINITY] = {"node_affinity", TEXT},
    [TOKEN] = {"token", TEXT},
};

static int fill(const char *key, Kind kind, const char *text, numadx_sim_value *value)
{
    *value = (numadx_sim_value){.key = key, .type = kind == TEXT ? 's' : kind == SIZE ? 't' : 'u', .text = text};
    if (kind == SIZE && !size_from_text(text, &value->number)) {
        report("sim: %s: '%s': give " SIZE_ALLOWED, key, text);
        return STATUS_USAGE;
    }
    if (kind == NUMBER && (!number_from_text(text, &value->number) || value->number > UINT32_MAX)) {
        report("sim: %s: '%s': give a whole number", key, text);
        return STATUS_USAGE;
    }
    return 0;
}

static int take_word(SimOptions *options, const char *word)
{
    if (options->n_words == SIM_WORDS_MAX) {
        report("sim: '%s': too many arguments", word);
        return STATUS_USAGE;
    }
    options->words[options->n_words++] = word;
    return 0;
}

static int take_option(int option, const char *text, void *state)
{
    SimOptions *options = state;
    numadx_sim_value *value = options->values;

    if (option < 100)
        return take_word(options, text);
    option -= 100;
    while (value < options->values + options->n_values && strcmp(value->key, create_keys[option].key) != 0)
        value++;
    if (value == options->values + options->n_values)
        options->n_values++;
    if (option == TOKEN)
        options->token = text;
    return fill(create_keys[option].key, create_keys[option].kind, text, value);
}

int sim_options_read(const Command *command, Globals *globals, int argc, char **argv, SimOptions *options)
{
    int r;

    *options = (SimOptions){0};
    r = options_parse(command, globals, argc, argv, "-:", names, take_option, options);
    if (r != 0)
        return r;
    if (globals->host) {
        report("sim: --host: nothing runs on a file: start numad-xend --host FILE, and ask it");
        return STATUS_USAGE;
    }
    if (options->n_words == 0) {
        report("sim: give create, destroy, balloon or fault");
        return STATUS_USAGE;
    }
    if (options->n_values > 0 && strcmp(options->words[0], "create") != 0) {
        report("sim %s: takes no options", options->words[0]);
        return STATUS_USAGE;
    }
    return 0;
}

int sim_fault_value(char *word, numadx_sim_value *value)
{
    char *equals = strchr(word, '=');

    if (!equals || equals == word) {
        report("sim fault: '%s': give KEY=VALUE", word);
        return STATUS_USAGE;
    }
    *equals = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(fault_keys); i++)
        if (strcmp(word, fault_keys[i].key) == 0)
            return fill(fault_keys[i].key, fault_keys[i].kind, equals + 1, value);
    return fill(word, TEXT, equals + 1, value); /* one that the daemon may know */
}
