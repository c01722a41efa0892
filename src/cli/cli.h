/* What all subcommands share: the table of flags, walking the arguments, usage mistakes and help. */
#ifndef SOLVEGATE_CLI_CLI_H
#define SOLVEGATE_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cli_flag {
    char letter;            /* 0: only the long form; a letter of 0 and no name end a list */
    const char *name;       /* without the dashes */
    const char *value_name; /* NULL: it takes no value */
    const char *help;
};

struct cli_args;

struct command {
    const char *name;
    const char *summary;               /* one line, for the list */
    const char *usage;                 /* after the name */
    const char *details;               /* further lines of its help, or NULL */
    const struct cli_flag *flags;      /* or NULL */
    int (*run)(struct cli_args *args); /* returns the exit code, one of <sysexits.h> */
};

/* Walks the arguments of one command. */
struct cli_args {
    const struct command *command;
    char **rest;        /* borrowed, ends with NULL */
    bool is_past_flags; /* "--" was seen */
};

struct cli_arg {
    const struct cli_flag *flag; /* NULL: a plain argument */
    const char *value;           /* of the flag, or the argument itself */
};

enum cli_result {
    CLI_END,
    CLI_ARG,
    CLI_WRONG, /* told on stderr already: return EX_USAGE */
    CLI_HELP,  /* --help was asked and given: return EX_OK */
};

enum cli_result cli_next(struct cli_args *args, struct cli_arg *arg);

/* For commands without any flags or arguments: CLI_END, CLI_WRONG or CLI_HELP. */
enum cli_result cli_expect_nothing(struct cli_args *args);

/* The exit code for a result that is not CLI_ARG. */
int cli_exit_code(enum cli_result result);

/* "solvegate serve: TEXT", then where help is found. */
void cli_wrong(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Help of one command, and the list of all. */
void cli_write_help(const struct command *command, FILE *out);
void cli_write_overview(FILE *out);

/* All commands, in the order people need them; NULL ends the list. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);
/* The command that was perhaps meant, or NULL. */
const struct command *command_nearest(const char *name);

extern const struct command command_serve;
extern const struct command command_check;
extern const struct command command_letters;
extern const struct command command_hash_key;
extern const struct command command_version;
extern const struct command command_help;

#endif
