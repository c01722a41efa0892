/* Completion for shells, written from the same table as the help. */
#ifndef SOLVEGATE_CLI_COMPLETION_H
#define SOLVEGATE_CLI_COMPLETION_H

#include "base/buf.h"
#include "cli/cli.h"

void completion_write_bash(struct buf *out);
void completion_write_zsh(struct buf *out);
void completion_write_fish(struct buf *out);

/* Is the flag's value a file? */
bool completion_is_file(const struct cli_flag *flag);

/* What the first argument of a command may be, with blanks between: its words, and for help the
 * names of all commands. */
void completion_add_words(struct buf *out, const struct command *command);

/* The text within single quotes of a POSIX shell; also without what the shell's own completion
 * language takes as a sign, each with a backslash before it. */
void completion_add_quoted(struct buf *out, const char *text, const char *signs);

#endif
