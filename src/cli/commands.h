/* The table of all commands, and how one is found in it. */
#ifndef SOLVEGATE_CLI_COMMANDS_H
#define SOLVEGATE_CLI_COMMANDS_H

#include "cli/cli.h"

/* All commands, most often needed first; NULL ends the list. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);
/* The command with the nearest name, for a suggestion, or NULL. */
const struct command *command_nearest(const char *name);
const char *command_group_title(enum command_group group);

#endif
