#include "cli/commands.h"

#include "cli/cli.h"
#include "config/nearest.h"

#include <string.h>

const struct command *const commands[] = {
    &command_serve,      &command_check, &command_hash_key, &command_store,   &command_solve,
    &command_explain,    &command_bench, &command_top,      &command_stats,   &command_flights,
    &command_letters,    &command_pools, &command_nodes,    &command_version, &command_help,
    &command_completion, NULL,
};

const char *command_group_title(enum command_group group)
{
    static const char *const titles[GROUP_COUNT] = {
        [GROUP_RUN] = "Run a gateway",
        [GROUP_ASK] = "Ask a running gateway",
        [GROUP_WATCH] = "Watch a running gateway",
        [GROUP_MORE] = "Other",
    };
    return titles[group];
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const struct command *command_nearest(const char *name)
{
    struct nearest nearest;
    nearest_init(&nearest, slice_from(name));
    for (size_t i = 0; commands[i] != NULL; i++)
        nearest_offer(&nearest, slice_from(commands[i]->name));
    return slice_is_given(nearest.best) ? command_find(nearest.best.data) : NULL;
}
