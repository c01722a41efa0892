/* A small world to load configurations in: an environment of the test's own and the mistakes as one text. */
#ifndef SOLVEGATE_TESTS_CONFIG_WORLD_H
#define SOLVEGATE_TESTS_CONFIG_WORLD_H

#include "config/config.h"

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
/* A file that is good but for what is put in, with the one thing that has no default. */
#define FILE_WITH(members) "{\"upstream\": {\"key\": \"vendor\"}, " members "}"

struct world {
    struct config config;
    struct buf mistakes;
    int code;
};

/* Pairs of name and value, ended by NULL; the world's environment has nothing else. NULL empties it. */
void world_set_environment(const char *const *pairs);

/* Loads a text as the file "gate.json". */
void world_load(struct world *world, const char *text);
void world_load_bytes(struct world *world, struct slice text);
void world_load_flags(struct world *world, const char *text, const struct config_flag *flags,
                      size_t count);
void world_close(struct world *world);

/* Loads, compares all mistakes with the expected lines, and closes. */
void world_expect(const char *text, const char *mistakes);

/* The mistakes as a text with a NUL. */
const char *world_mistakes(struct world *world);

#endif
