/* The state of one load: the position, the values given so far, and every mistake. */
#ifndef SOLVEGATE_CONFIG_CONFIG_LOADER_H
#define SOLVEGATE_CONFIG_CONFIG_LOADER_H

#include "config/config_options.h"

struct yyjson_val;

enum origin {
    ORIGIN_PRESET, /* the table's default */
    ORIGIN_FILE,
    ORIGIN_ENVIRONMENT,
    ORIGIN_COMMAND_LINE,
};

/* The loader's notes about an option. */
struct seen {
    enum origin origin; /* the last source that gave it */
    bool is_bad;        /* one of its values was a mistake, so checks against it are skipped */
    uint32_t named;     /* one bit per type that was given by name */
};

struct loader {
    struct config *config;
    const char *file_name; /* borrowed; NULL when there is no file */
    config_env_fn env;
    struct buf *mistakes; /* the caller's */
    size_t mistake_count;

    /* of the value being read */
    enum origin origin;
    struct buf path; /* "clients[2].weight", a variable's or a flag's name */
    const struct option *option;
    void *base;  /* the config, client or pool that holds the field */
    size_t item; /* index in a list */

    size_t listen_places[CONFIG_LISTEN_MAX]; /* the position of each address in its list */
    bool has_bad_clients;                    /* clients were given but could not be read */
    struct seen seen[OPTIONS_MAX];           /* indexed like the table */
};

/* Sets the source of the next values; path is "" for the top of a file. */
void loader_enter(struct loader *loader, enum origin origin, const char *path);

/* Adds a step to the path, escaped, since it may be any text. Returns the mark for going back. */
size_t loader_push(struct loader *loader, struct slice key);
size_t loader_push_index(struct loader *loader, size_t index);
void loader_pop(struct loader *loader, size_t mark);

/* Adds one line: "FILE: PATH: TEXT". Always returns false. */
bool loader_mistake(struct loader *loader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tells "expected X, found Y" without showing secrets; X describes the option if expected is NULL.
 * Always returns false. */
bool loader_expected(struct loader *loader, const char *expected, const struct yyjson_val *found);

/* True, after telling the mistake, if an earlier member of the object has the same name. */
bool loader_is_repeated(struct loader *loader, struct yyjson_val *object, struct slice name,
                        const struct yyjson_val *value);

/* Goes to where an option was given, for mistakes that show only after everything is read. */
void loader_enter_option(struct loader *loader, const char *path);
/* True if the file, a variable or a flag has given this option. */
bool loader_is_given(const struct loader *loader, const char *path);
/* True if this option by itself had no mistake. */
bool loader_is_good(const struct loader *loader, const char *path);

/* "SOLVEGATE_UPSTREAM_URL" for "upstream.url"; tail is "" or a type's name. */
#define VARIABLE_MAX 96
void loader_variable_name(const char *path, const char *tail, char out[VARIABLE_MAX]);

/* Reads a value as text, with ${NAME} replaced if it comes from the file; out keeps the bytes.
 * False after telling a mistake: the value is not a text, too long, or has control characters. */
bool text_read(struct loader *loader, struct yyjson_val *value, char out[CONFIG_TEXT_MAX],
               struct slice *text);

#endif
