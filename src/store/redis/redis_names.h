/* The names of all rows of a kind, from its index, in the order of their keys; in pages, since a reply has a limit. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_NAMES_H
#define SOLVEGATE_STORE_REDIS_REDIS_NAMES_H

#include "store/redis/redis_private.h"

struct redis_name {
    int64_t number; /* the first column of the key, if it is a number */
    size_t at, len;
};

struct redis_names {
    struct redis_name *all; /* owned */
    size_t count, room;
    char *bytes; /* owned */
    size_t len, bytes_room;
    bool have_types; /* they end with a colon and a type */
};

/* Close the names in any case. */
enum store_result names_read(struct redis_store *store, enum record_kind kind,
                             struct redis_names *names);
/* The same from another sorted set. */
struct redis_key;
enum store_result names_read_from(struct redis_store *store, const struct redis_key *index,
                                  enum record_kind kind, struct redis_names *names);
/* The members of a set that nobody else changes meanwhile, in no order that means anything; they need not be names of
 * rows. */
enum store_result names_read_set(struct redis_store *store, const struct redis_key *set,
                                 struct redis_names *names);
void names_close(struct redis_names *names);
/* Asks for the scores of some rows in their index. */
void names_ask_scores(struct redis_store *store, enum record_kind kind, const struct slice *names,
                      size_t count);

struct slice names_at(const struct redis_names *names, size_t place);
/* Whether a row with this number is among them. */
bool names_have(const struct redis_names *names, int64_t number);

#endif
