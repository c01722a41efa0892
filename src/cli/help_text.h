/* Help for people, written from the table of commands: the list, one command, the topics. */
#ifndef SOLVEGATE_CLI_HELP_TEXT_H
#define SOLVEGATE_CLI_HELP_TEXT_H

#include "cli/cli.h"

/* Rows of the two tables below: an exit code or a variable and what it means. */
struct help_row {
    const char *name; /* NULL ends a list */
    const char *text;
};

extern const struct help_row help_exits[];
extern const struct help_row help_variables[];

/* Said once, at the head of the list and of the manual page. */
extern const char help_purpose[];

void help_write_command(const struct command *command, FILE *out);
void help_write_rows(const struct help_row *rows, FILE *out);

/* The table itself as JSON: what a test or another program compares with. */
void help_write_json(FILE *out);

#endif
