/* What a driver remembers of its store, to notice one that came back without rows that it had acknowledged, and to give
 * it back what no row tells: the secrets, and the clocks that times in rows follow. */
#ifndef SOLVEGATE_STORE_STORE_KEPT_H
#define SOLVEGATE_STORE_STORE_KEPT_H

#include "store/store_driver.h"

#define STORE_KEPT_SECRETS 8
#define STORE_KEPT_NAME_MAX 64

struct store_kept_secret {
    char name[STORE_KEPT_NAME_MAX]; /* "": free, as are those that follow */
    struct store_secret secret;
};

/* Each batch leaves its number in the store, counted from one that no other run has. A store that was emptied, restored
 * from a backup or succeeded by a replica that lacks the latest rows has another one. */
struct store_kept {
    struct store_kept_secret secrets[STORE_KEPT_SECRETS];
    struct store_mark mark;
    int64_t first;   /* of this run */
    int64_t written; /* by the latest batch that was acknowledged */
    int64_t sent;    /* with the latest batch; the store may have this one or the one before */
};

/* Chooses the run's first number. */
void store_kept_begin(struct store_kept *kept);
/* The number that goes with a batch. */
int64_t store_kept_send(struct store_kept *kept, const struct store_batch *batch);
void store_kept_written(struct store_kept *kept);
/* May a store that is complete have this number? */
bool store_kept_is_known(const struct store_kept *kept, int64_t number);

/* A secret without bytes is none. */
void store_kept_secret(struct store_kept *kept, const char *name,
                       const struct store_secret *secret);
void store_kept_mark(struct store_kept *kept, const struct clocks *now);

/* The store has got everything again that is kept here; the port has the rows written again. */
void store_kept_lost(struct store_backend *backend, const char *where);

void store_kept_close(struct store_kept *kept);

#endif
