/* By which clock the rows' times were written, and what happens to them when it is set. */
#ifndef SOLVEGATE_STORE_STORE_CLOCK_H
#define SOLVEGATE_STORE_STORE_CLOCK_H

#include "store/store_db.h"
#include "sys/clocks.h"

/* A leap of the wall clock, and the clocks after it. */
struct store_leap {
    int64_t by_ms;
    struct clocks now;
};

/* Every time that something depends on leaps with the clock, in the transaction that is open; a
 * result code of SQLite. */
int db_leap(struct store_db *db, const struct store_leap *leap);

/* Before rows are read: catches up with a leap since they were written, if the machine was not started again;
 * 0 or an error of ours. A full disk is no obstacle: then lifetimes are only clamped. */
int db_meet_clock(struct store_db *db, const struct clocks *now) MUST_CHECK;

/* What the rows' clock shows now; it is set anew when it drifted. A result code of SQLite. */
int db_wall_ms(struct store_db *db, int64_t *wall_ms);

#endif
