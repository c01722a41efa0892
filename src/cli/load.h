/* Reads the configuration for a command and tells every mistake on stderr. */
#ifndef SOLVEGATE_CLI_LOAD_H
#define SOLVEGATE_CLI_LOAD_H

#include "config/config.h"

/* The commands' flag -c, --config FILE. */
#define LOAD_FLAG_CONFIG   \
    {.letter = 'c',        \
     .name = "config",     \
     .value_name = "FILE", \
     .help = "the configuration file, or - for standard input"}

/* file may be NULL: then only environment, flags and defaults count. Returns EX_OK or EX_CONFIG;
 * call config_close in both cases. */
int load_config(struct config *config, const char *file, const struct config_flag *flags,
                size_t flag_count);

/* As load_config, but writes a line per mistake into a buffer that it opens, and nothing to stderr. */
int load_config_quietly(struct config *config, const char *file, const struct config_flag *flags,
                        size_t flag_count, struct buf *mistakes);

/* The name of the file for messages. */
const char *load_file_name(const char *file);

/* Prints the reference of all options on stdout, as config_write_reference() or config_write_markdown() writes it;
 * returns the exit code. */
int load_print_reference(void (*write)(struct buf *out));

#endif
