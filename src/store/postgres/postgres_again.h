/* A gateway that a shared store has forgotten, as after a restore from a backup, enters it again as who it was. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_AGAIN_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_AGAIN_H

#include "store/postgres/postgres_private.h"

/* Makes sure that the store knows this run and what it wrote. If it does not, the run is entered again and the port is
 * told that rows are lost. STORE_REFUSED: another gateway has its rows or its number. */
enum store_result pg_again_enter(struct postgres_store *store);

/* Notes which server this is, and which of its timelines. If it is not the one of the session before, a standby has
 * succeeded it: nothing new is claimed for a lease, since others may have lost claims even if none of ours is
 * lost. A role that may not know is told nothing. */
enum store_result pg_again_follow_history(struct postgres_store *store);

/* What it means that the node's row was not found: STORE_REFUSED, or STORE_RETRY if the store has only forgotten this
 * run, and whoever writes will enter it again. */
enum store_result pg_again_judge(struct postgres_store *store);

#endif
