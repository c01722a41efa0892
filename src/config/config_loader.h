/* The state of one loading: where we are, what was given, and every mistake so far. */
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

/* What is known of an option. */
struct seen {
    enum origin origin; /* the last that gave it */
    bool is_bad;        /* some value of it was a mistake, so that checks against it are skipped */
    uint32_t named;     /* bit per type that was given by name */
};

struct loader {
    struct config *config;
    const char *file_name; /* borrowed; NULL when there is no file */
    config_env_fn env;
    struct buf *mistakes; /* the caller's */
    size_t mistake_count;

    /* what is being read */
    enum origin origin;
    struct buf path; /* "clients[2].weight", a variable's or a flag's name */
    const struct option *option;
    void *base;  /* the config, client or pool that has its field */
    size_t item; /* place in a list */

    size_t listen_places[CONFIG_LISTEN_MAX]; /* where each address stood in its list */
    bool has_bad_clients;          /* there should be clients, but they could not be read */
    struct seen seen[OPTIONS_MAX]; /* by their places in the table */
};

/* Where the next values come from; path is "" for the top of a file. */
void loader_enter(struct loader *loader, enum origin origin, const char *path);

/* Adds a step to the path; what comes from a stranger is escaped. Returns the mark to go back to. */
size_t loader_push(struct loader *loader, struct slice key);
size_t loader_push_index(struct loader *loader, size_t index);
void loader_pop(struct loader *loader, size_t mark);

/* One line: "FILE: PATH: TEXT". Always returns false. */
bool loader_mistake(struct loader *loader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "expected X, found Y", without showing secrets; X is in the option's words when expected is NULL. Always false. */
bool loader_expected(struct loader *loader, const char *expected, const struct yyjson_val *found);

/* Did an earlier member of the object have this name already? Then it is told as a mistake. */
bool loader_is_repeated(struct loader *loader, struct yyjson_val *object, struct slice name,
                        const struct yyjson_val *value);

/* Goes to where an option was given, for mistakes that show only when everything is read. */
void loader_enter_option(struct loader *loader, const char *path);
/* Was nothing wrong with this option by itself? */
bool loader_is_good(const struct loader *loader, const char *path);

/* "SOLVEGATE_UPSTREAM_URL" for "upstream.url"; tail is "" or a type's name. */
#define VARIABLE_MAX 96
void loader_variable_name(const char *path, const char *tail, char out[VARIABLE_MAX]);

/* A given value as text, with ${NAME} replaced if it comes from the file; out keeps the bytes. False after telling a
 * mistake: the value is no text, too long, or has control characters. */
bool text_read(struct loader *loader, struct yyjson_val *value, char out[CONFIG_TEXT_MAX],
               struct slice *text);

/* Tells mistakes that show only when options are seen together. */
void check_together(struct loader *loader);

#endif
