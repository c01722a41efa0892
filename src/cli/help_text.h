/* Help for people, written from the table of commands: the list, one command, the topics. */
#ifndef SOLVEGATE_CLI_HELP_TEXT_H
#define SOLVEGATE_CLI_HELP_TEXT_H

#include "cli/cli.h"

/* A row of the two tables below: an exit code or a variable, and its meaning. */
struct help_row {
    const char *name; /* NULL ends a list */
    const char *text;
};

extern const struct help_row help_exits[];
extern const struct help_row help_variables[];

/* The purpose of the program: heads the list of commands and the manual page. */
extern const char help_purpose[];

void help_write_command(const struct command *command, FILE *out);
void help_write_rows(const struct help_row *rows, FILE *out);

/* Writes the table itself as JSON, for tests and other programs to compare with. */
void help_write_json(FILE *out);

/* The list of all commands. */
void cli_write_overview(FILE *out);

#endif
