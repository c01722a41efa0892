/* A gateway that a shared store has forgotten, as after a restore from a backup, enters it again as who it was. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_AGAIN_H
#define SOLVEGATE_STORE_REDIS_REDIS_AGAIN_H

#include "store/redis/redis_private.h"

/* Makes sure that the store knows this run and what it wrote. If it does not, the run is entered again and the port is
 * told that rows are lost. STORE_REFUSED: another gateway has its rows or its number. */
enum store_result again_enter(struct redis_store *store);

/* What a script's "fenced" means: STORE_REFUSED, or STORE_RETRY if the store has only forgotten this run, and whoever
 * writes will enter it again. STORE_DONE: it did not say so. */
enum store_result again_judge(struct redis_store *store, const struct redis_reply *reply);

/* The script. */
extern const char redis_again_source[];

#endif
