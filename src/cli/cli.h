/* What all subcommands share: the table of commands and flags, walking the arguments, usage mistakes. */
#ifndef SOLVEGATE_CLI_CLI_H
#define SOLVEGATE_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Help, manual page and completion are all written from these; nothing is said of a flag elsewhere. */
struct cli_flag {
    char letter;            /* 0: only the long form */
    const char *name;       /* without the dashes; NULL ends a list */
    const char *value_name; /* NULL: it takes no value; "FILE" is completed as one */
    const char *words;      /* the values there are, with blanks between, or NULL */
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
    const char *words;                  /* what its first argument may be, or NULL */
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
    CLI_WRONG, /* told on stderr already: return EX_USAGE */
    CLI_HELP,  /* --help was asked and given: return EX_OK */
};

enum cli_result cli_next(struct cli_args *args, struct cli_arg *arg);

/* For commands without plain arguments and with no flag but --json, which may be NULL if they have
 * none: CLI_END, CLI_WRONG or CLI_HELP. */
enum cli_result cli_expect_nothing(struct cli_args *args, bool *is_json);

/* The exit code for a result that is not CLI_ARG. */
int cli_exit_code(enum cli_result result);

bool cli_is_flag(const struct cli_arg *arg, const char *name);

/* "solvegate serve: TEXT", then where help is found. */
void cli_wrong(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for an argument that nobody expected. */
enum cli_result cli_wrong_argument(const struct command *command, const char *argument);
/* The same for a word of a list with blanks between, naming the one that was perhaps meant. */
enum cli_result cli_wrong_word(const struct command *command, const char *what, const char *word,
                               const char *words);

/* The next word of a list with blanks between, as its start and length; NULL after the last. */
const char *cli_next_word(const char **words, size_t *len);
bool cli_has_word(const char *words, const char *word);

/* The list of all commands. */
void cli_write_overview(FILE *out);

/* Every command has it, besides those of its own list. */
extern const struct cli_flag cli_help_flag;

/* All commands, in the order people need them; NULL ends the list. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);
/* The command that was perhaps meant, or NULL. */
const struct command *command_nearest(const char *name);
const char *command_group_title(enum command_group group);

extern const struct command command_serve;
extern const struct command command_check;
extern const struct command command_solve;
extern const struct command command_explain;
extern const struct command command_stats;
extern const struct command command_flights;
extern const struct command command_pools;
extern const struct command command_letters;
extern const struct command command_top;
extern const struct command command_hash_key;
extern const struct command command_completion;
extern const struct command command_version;
extern const struct command command_help;

#endif
