/* One flight as a timeline, for people. */
#ifndef SOLVEGATE_CLI_FLIGHT_SHOW_H
#define SOLVEGATE_CLI_FLIGHT_SHOW_H

#include "cli/remote.h"

/* Fetches what is known of a key, or of its first digits, and shows it. Returns the exit code. */
int flight_show(const struct command *command, struct remote *remote, const char *key);

#endif
