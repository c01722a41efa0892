/* The table of all options: each row describes one completely, from its name to the field that it
 * fills. */
#ifndef SOLVEGATE_CONFIG_CONFIG_OPTIONS_H
#define SOLVEGATE_CONFIG_CONFIG_OPTIONS_H

#include "config/config.h"

enum option_kind {
    /* kept as owned texts */
    OPTION_TEXT,
    OPTION_SECRET, /* never shown in a message */
    OPTION_URL,
    OPTION_ADDRESS,
    OPTION_HOST,
    OPTION_STORE, /* a URL that may hold a password: never shown in a message either */
    OPTION_PREFIX,
    /* kept in place */
    OPTION_NAME,
    OPTION_KEY,
    OPTION_KEY_HASH,
    OPTION_NETWORK,
    OPTION_NOTICE_HOST,
    OPTION_ERROR, /* an error class for an error code */
    /* kept as numbers */
    OPTION_FLAG,
    OPTION_COUNT, /* or one of its words, if it has any */
    OPTION_DURATION,
    OPTION_SIZE,
    OPTION_SHARE, /* 0 to 1, in thousandths */
    OPTION_PRICE, /* in millionths */
    OPTION_WORD,
    OPTION_BIT, /* each item of the list is a word that sets its bits */
    OPTION_KIND_COUNT
};

enum option_shape {
    SHAPE_ONE,
    SHAPE_LIST,     /* the environment separates items by commas */
    SHAPE_PER_TYPE, /* one value per type; types that are not named follow "default" */
    SHAPE_MAP,      /* an object from error codes to values; not in the environment */
};

/* The struct that holds the field. */
enum option_home { HOME_CONFIG, HOME_CLIENT, HOME_POOL };

struct option_word {
    const char *text; /* NULL ends the list */
    unsigned value;
};

struct option_preset {
    uint64_t number; /* kept, by kinds that are numbers */
    const char
        *text; /* for people, "" where it follows from the number; NULL: there is no default */
};

struct option_type {
    enum type type; /* TYPE_COUNT ends the list */
    struct option_preset preset;
};

struct option {
    const char
        *path; /* "upstream.url"; a client's begin with "clients[].", a pool's with "pools[]." */
    enum option_kind kind;
    bool is_live; /* a reload changes it; else it needs a restart */
    enum option_shape shape;
    enum option_home home;
    size_t offset;                   /* in struct config, config_client or config_pool */
    size_t bytes;                    /* of one value */
    size_t count_offset;             /* of the length of a list or map, which is a pointer */
    uint64_t min, max;               /* of numbers, milliseconds or bytes; of lists: how many */
    const struct option_word *words; /* the words it accepts */
    const char *at_most, *below;     /* the option that bounds it, inclusive and exclusive */
    struct option_preset preset;
    const struct option_type *types; /* defaults of single types, or NULL */
    const char *help;                /* one sentence */
};

#define CLIENT_OPTION_PREFIX "clients[]."
#define POOL_OPTION_PREFIX "pools[]."
/* Capacity of the loader's array of options. */
#define OPTIONS_MAX 128

extern const struct option option_table[];
extern const size_t option_count;

/* The option prefix + name ("upstream." and "url"), or NULL. */
const struct option *option_find(struct slice prefix, struct slice name);

/* True if any option is below this prefix ("upstream."). */
bool option_has_below(struct slice prefix);

/* The option's word with this text, or NULL. */
const struct option_word *option_word(const struct option *option, struct slice text);

/* The config's word for a type, which must be below TYPE_COUNT. */
const char *option_type_name(size_t type);

/* Describes a valid value: "a duration of 1s to 1h, like \"5s\"". */
void option_write_expected(const struct option *option, struct buf *out);

/* Writes "did you mean X?" with a comma before it, or nothing, for an unknown name below prefix. */
void option_write_suggestion(struct slice prefix, struct slice name, struct buf *out);

#endif
