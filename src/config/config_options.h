/* The table of all options: what the loader reads, what the defaults are and what the reference prints. */
#ifndef SOLVEGATE_CONFIG_CONFIG_OPTIONS_H
#define SOLVEGATE_CONFIG_CONFIG_OPTIONS_H

#include "config/config.h"

enum option_kind {
    /* one value; the environment may give it */
    OPTION_TEXT,
    OPTION_SECRET, /* never shown in a message */
    OPTION_URL,
    OPTION_FLAG,
    OPTION_COUNT,
    OPTION_SLOTS, /* a count or "auto" */
    OPTION_DURATION,
    OPTION_SIZE,
    OPTION_SHARE, /* 0 to 1, kept in thousandths */
    OPTION_WORD,
    /* lists; the environment separates by commas */
    OPTION_LISTEN,
    OPTION_NETWORKS,
    OPTION_HOOKS,
    OPTION_CLASSES,
    /* one value per type of captcha; types not named follow "default" */
    OPTION_DURATIONS,
    OPTION_PRICES,
    OPTION_REUSES,
    /* an object from error codes to classes */
    OPTION_ERRORS,
    /* of a client */
    OPTION_NAME,
    OPTION_KEY,
    OPTION_KEY_HASH,
    OPTION_SCOPES,
    OPTION_HOSTS,
    OPTION_KIND_COUNT
};

struct option_word {
    const char *text; /* NULL ends the list */
    unsigned value;
};

struct option {
    const char
        *path; /* "upstream.url"; a client's begin with "clients[].", a pool's with "pools[]." */
    enum option_kind kind;
    size_t offset;                   /* in struct config, or in struct config_client */
    size_t bytes;                    /* of the field; of an array of one per type: of the whole */
    uint64_t min, max;               /* of numbers, milliseconds or bytes */
    const struct option_word *words; /* of OPTION_WORD, OPTION_REUSES and OPTION_CLASSES */
    const char *preset;              /* the default as JSON, or NULL: zero */
    const char *help;                /* one sentence */
};

#define CLIENT_OPTION_PREFIX "clients[]."
#define POOL_OPTION_PREFIX "pools[]."
/* Room for what the loader remembers of each option. */
#define OPTIONS_MAX 112

extern const struct option options[];
extern const size_t option_count;

/* The option prefix + name ("upstream." and "url"), or NULL. */
const struct option *option_find(struct slice prefix, struct slice name);

/* Is there any option below this prefix ("upstream.")? */
bool option_has_below(struct slice prefix);

/* Does it belong to the items of a list of objects (a client's, a pool's)? */
bool option_is_item(const struct option *option);
/* Is its path below this prefix? Every option that is no item's is below "". */
bool option_is_below(const struct option *option, struct slice prefix);
bool option_is_list(const struct option *option);
bool option_is_per_type(const struct option *option);

/* The config's word for a type of captcha, below CAPTCHA_COUNT. */
const char *option_type_name(size_t type);

/* Writes what a value must look like: "a duration of 1s to 1h, like \"5s\"". */
void option_write_expected(const struct option *option, struct buf *out);

/* Writes "did you mean X?" with a comma before it, or nothing, for an unknown name below prefix. */
void option_write_suggestion(struct slice prefix, struct slice name, struct buf *out);

#endif
