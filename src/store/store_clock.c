#include "store/store_clock.h"

#include "store/store_sql.h"
#include "store/store_upkeep.h"

#include <sqlite3.h>

#define BOOT_ROOM 64
/* A row with a time beyond is damaged and never read; let alone added to. */
#define IN_REASON " BETWEEN 0 AND 140737488355328"
/* Small enough to be no leap when it is found at the next start, large enough to be rare. */
#define DRIFT_MS 100

/* Times that only people read stay as they were. */
static const char *const leaps[] = {
    "UPDATE solution SET born = max(born + ?1, 0), expires = max(expires + ?1, 0)"
    "  WHERE born" IN_REASON " AND expires" IN_REASON,
    "UPDATE flight SET created = max(created + ?1, 0) WHERE created" IN_REASON,
    "UPDATE attempt SET started = max(started + ?1, 0) WHERE started" IN_REASON,
    "UPDATE request SET expires = max(expires + ?1, 0) WHERE expires" IN_REASON,
    "UPDATE idempotency SET expires = max(expires + ?1, 0) WHERE expires" IN_REASON,
    "UPDATE letter SET fresh = max(fresh + ?1, 0) WHERE fresh > 0 AND fresh" IN_REASON,
};

/* How the clocks stood when they were looked at last. */
struct mark {
    struct clocks clocks;
    char boot[BOOT_ROOM];
    bool is_there;
};

static int read_mark(struct store_db *db, struct mark *mark)
{
    *mark = (struct mark){.is_there = false};
    sqlite3_stmt *const statement = sql_prepare(db->sqlite, "SELECT boot, even, wall FROM clock");
    if (statement == NULL)
        return SQLITE_ERROR;
    const int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        struct sql_in in = {.statement = statement};
        sql_take_string(&in, mark->boot, sizeof(mark->boot));
        mark->clocks.even_ms = sql_take_wall_ms(&in);
        mark->clocks.wall_ms = sql_take_wall_ms(&in);
        mark->is_there = !in.is_bad;
    }
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Runs it once, and it is gone. */
static int run(const struct sql_out *out)
{
    const int rc = out->rc == SQLITE_OK ? sqlite3_step(out->statement) : out->rc;
    (void)sqlite3_finalize(out->statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int move(struct store_db *db, const char *text, int64_t by_ms)
{
    struct sql_out out = {.statement = sql_prepare(db->sqlite, text)};
    if (out.statement == NULL)
        return SQLITE_ERROR;
    sql_put_i64(&out, by_ms);
    return run(&out);
}

static int write_mark(struct store_db *db, const struct clocks *now)
{
    static const char text[] = "REPLACE INTO clock (id, boot, even, wall) VALUES (1, ?, ?, ?)";
    struct sql_out out = {.statement = sql_prepare(db->sqlite, text)};
    if (out.statement == NULL)
        return SQLITE_ERROR;
    sql_put_word(&out, now->boot);
    sql_put_i64(&out, now->even_ms);
    sql_put_i64(&out, now->wall_ms);
    return run(&out);
}

int db_leap(struct store_db *db, const struct store_leap *leap)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof(leaps) / sizeof(leaps[0]) && rc == SQLITE_OK; i++)
        rc = move(db, leaps[i], leap->by_ms);
    return rc == SQLITE_OK ? write_mark(db, &leap->now) : rc;
}

static int64_t mark_wall_ms(const struct mark *mark, const struct clocks *now)
{
    return mark->clocks.wall_ms + now->even_ms - mark->clocks.even_ms;
}

static bool has_drifted(const struct mark *mark, const struct clocks *now)
{
    const int64_t drift_ms = now->wall_ms - mark_wall_ms(mark, now);
    return drift_ms > DRIFT_MS || drift_ms < -DRIFT_MS;
}

/* By how much it was set, or 0 for a fresh mark. */
static int set_mark(struct store_db *db, const struct clocks *now, int64_t leap_ms)
{
    const struct store_leap leap = {.by_ms = leap_ms, .now = *now};
    int rc = db_step(db->begin);
    if (rc == SQLITE_OK)
        rc = leap_ms == 0 ? write_mark(db, now) : db_leap(db, &leap);
    return rc == SQLITE_OK ? db_step(db->commit) : rc;
}

int db_meet_clock(struct store_db *db, const struct clocks *now)
{
    struct mark mark;
    int rc = read_mark(db, &mark);
    const bool is_same_boot =
        mark.is_there && now->boot[0] != '\0' && strcmp(mark.boot, now->boot) == 0;
    if (rc == SQLITE_OK && !(is_same_boot && !has_drifted(&mark, now)))
        rc = set_mark(db, now, is_same_boot ? clocks_leap_ms(&mark.clocks, now) : 0);
    if (rc == SQLITE_OK)
        return 0;
    const bool is_full = db_is_full(db, rc);
    sql_roll_back(db->sqlite);
    return is_full ? 0 : ERR_IO;
}

int db_wall_ms(struct store_db *db, int64_t *wall_ms)
{
    struct mark mark;
    const struct clocks now = clocks_read();
    const int rc = read_mark(db, &mark);
    if (rc != SQLITE_OK || !mark.is_there) {
        *wall_ms = now.wall_ms;
        return rc;
    }
    *wall_ms = mark_wall_ms(&mark, &now);
    /* A leap that the loop has not told of yet is none of ours. */
    const bool is_leap = clocks_leap_ms(&mark.clocks, &now) != 0;
    return has_drifted(&mark, &now) && !is_leap ? write_mark(db, &now) : rc;
}
