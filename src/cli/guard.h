/* Protects the secrets of a process that holds them. */
#ifndef SOLVEGATE_CLI_GUARD_H
#define SOLVEGATE_CLI_GUARD_H

/* No core files, no tracing, no files for others to read. */
void guard_secrets(void);

#endif
