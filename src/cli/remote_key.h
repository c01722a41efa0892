/* The gateway's address and the client's key, from flags, environment and files. */
#ifndef SOLVEGATE_CLI_REMOTE_KEY_H
#define SOLVEGATE_CLI_REMOTE_KEY_H

#include "cli/remote.h"

void remote_init(struct remote *remote);

/* True if the flag is one of ours. */
bool remote_take_flag(struct remote *remote, const struct cli_arg *arg);

/* Finds the key; call it with what reading the arguments ended with, before the first call. True if
 * calls can be made; otherwise the command is over with this exit code, and what was wrong was told. */
bool remote_open(const struct command *command, struct remote *remote, enum cli_result result,
                 int *code);

#endif
