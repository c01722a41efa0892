/* Completion for shells, written from the same table as the help. */
#ifndef SOLVEGATE_CLI_COMPLETION_H
#define SOLVEGATE_CLI_COMPLETION_H

#include "base/buf.h"
#include "cli/cli.h"

/* True if the flag's value is a file. */
bool completion_is_file(const struct cli_flag *flag);

/* Adds the allowed first arguments of a command, separated by blanks: its words, and for `help` the
 * names of all commands. */
void completion_add_words(struct buf *out, const struct command *command);

/* Adds the text for use within single quotes of a POSIX shell; characters in signs, which are
 * special to the shell's completion language, get a backslash. */
void completion_add_quoted(struct buf *out, const char *text, const char *signs);

#endif
