/* Shared by all subcommands: the table of commands and flags, walking the arguments, usage
 * mistakes. */
#ifndef SOLVEGATE_CLI_CLI_H
#define SOLVEGATE_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Help, manual page and completion are all written from these rows; a flag is described nowhere
 * else. */
struct cli_flag {
    char letter;            /* 0: only the long form */
    const char *name;       /* without the dashes; NULL ends a list */
    const char *value_name; /* NULL: it takes no value; "FILE" is completed as one */
    const char *words;      /* the allowed values, separated by blanks, or NULL */
    const char *help;
};

#define CLI_FLAG_JSON {.name = "json", .help = "print JSON, for programs"}

struct cli_example {
    const char *what; /* NULL ends a list */
    const char *line;
};

struct cli_args;

/* The headings of the list of commands. */
enum command_group { GROUP_RUN, GROUP_ASK, GROUP_WATCH, GROUP_MORE, GROUP_COUNT };

struct command {
    const char *name;
    enum command_group group;
    const char *summary;                /* one line, for the list; no full stop */
    const char *usage;                  /* after the name */
    const char *words;                  /* the allowed first arguments, or NULL */
    const char *details;                /* paragraphs that each end with a newline, or NULL */
    const struct cli_flag *flags;       /* or NULL */
    const struct cli_example *examples; /* or NULL */
    int (*run)(struct cli_args *args);  /* returns the exit code, one of <sysexits.h> */
};

/* Walks the arguments of one command. */
struct cli_args {
    const struct command *command;
    char **rest;        /* borrowed, ends with NULL */
    bool is_past_flags; /* "--" was seen */
};

struct cli_arg {
    const struct cli_flag *flag; /* NULL: a plain argument */
    char *value;                 /* of the flag, or the argument itself */
};

enum cli_result {
    CLI_END,
    CLI_ARG,
    CLI_WRONG, /* already told on stderr: return EX_USAGE */
    CLI_HELP,  /* --help was given and printed: return EX_OK */
};

enum cli_result cli_next(struct cli_args *args, struct cli_arg *arg);

/* For commands without plain arguments and flags. Returns CLI_END, CLI_WRONG or CLI_HELP. */
enum cli_result cli_expect_nothing(struct cli_args *args);

/* The exit code for a result that is not CLI_ARG. */
int cli_exit_code(enum cli_result result);

bool cli_is_flag(const struct cli_arg *arg, const char *name);

/* Prints "solvegate serve: TEXT" and where to find help. */
void cli_wrong(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* As cli_wrong, for an unexpected argument. */
enum cli_result cli_wrong_argument(const struct command *command, const char *argument);
/* As cli_wrong, for a word that is not in a blank-separated list; suggests the nearest one. */
enum cli_result cli_wrong_word(const struct command *command, const char *what, const char *word,
                               const char *words);

/* Takes the next word of a blank-separated list; returns its start, or NULL after the last. */
const char *cli_next_word(const char **words, size_t *len);
bool cli_has_word(const char *words, const char *word);

/* Every command has this flag besides those of its own list. */
extern const struct cli_flag cli_help_flag;

extern const struct command command_serve;
extern const struct command command_check;
extern const struct command command_solve;
extern const struct command command_explain;
extern const struct command command_bench;
extern const struct command command_stats;
extern const struct command command_flights;
extern const struct command command_pools;
extern const struct command command_nodes;
extern const struct command command_letters;
extern const struct command command_top;
extern const struct command command_hash_key;
extern const struct command command_store;
extern const struct command command_completion;
extern const struct command command_version;
extern const struct command command_help;

#endif
