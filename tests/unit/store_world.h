/* A store in a directory of its own with a loop, and records full of random things. */
#ifndef SOLVEGATE_TESTS_STORE_WORLD_H
#define SOLVEGATE_TESTS_STORE_WORLD_H

#include "base/rand.h"
#include "store/store.h"
#include "store_kit.h"

#include <limits.h>
#include <uv.h>

#define WORLD_CLIENTS 2
#define WORLD_NOW INT64_C(1900000000000)

struct store_world {
    const struct store_kit *kit;
    const struct store_driver *driver; /* the kit's, unless a test wraps it */
    char directory[PATH_MAX / 4];
    struct rand rand;
    uv_loop_t loop;
    struct clocks clocks; /* the next load's: WORLD_NOW, an hour after a start of the machine */
    unsigned patience_ms; /* of the next opening; 0: the driver's own */
    bool allow_async;     /* likewise */
    unsigned beat_ms;     /* likewise; short, since tests wait for beats */
    const char *node;     /* likewise: the gateway's name among several; NULL: it is alone */
    struct store *store;  /* NULL while closed */
    journal_seq seq;      /* appended last */
    journal_seq durable;
    unsigned durable_calls;
    enum store_state state;
    unsigned state_calls;
    char why[768];
    uint8_t secret[32], old_secret[32]; /* as the writer told last */
    unsigned secret_calls;
    char loss[384]; /* as told last */
    unsigned loss_calls;
    unsigned about_calls;
    bool is_closed;
    bool is_beta_gone; /* as if the configuration did not have the second client any more */
};

/* A fresh directory under TMPDIR; the kit has not begun. */
void world_init(struct store_world *world, const struct store_kit *kit);
/* Removes it with all that is in it. */
void world_end(struct store_world *world);

/* The same for a test of cmocka with a kit that has begun: the state is a kit before, NULL for the first one, and
 * then the world. */
int world_set_up(void **state);
int world_tear_down(void **state);
#define WORLD_CASE(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

/* Fails the test unless it opens. */
void world_open(struct store_world *world);
void world_start(struct store_world *world);
/* Closes, waits for it, frees. */
void world_close(struct store_world *world);

enum store_opening world_try(struct store_world *world, struct buf *mistake);

void world_append(struct store_world *world, struct record *take_record);
/* New rows of requests, so many. */
void world_append_requests(struct store_world *world, unsigned count);
/* Turns the loop until the number is durable or the state is that; fails after half a minute. */
void world_until_durable(struct store_world *world, journal_seq seq);
void world_until_secret(struct store_world *world, unsigned calls);
void world_until_state(struct store_world *world, enum store_state state);
/* Turns the loop for so long. */
void world_turn(struct store_world *world, unsigned milliseconds);

/* For store_load(): counts into an unsigned. */
void world_count_row(void *context, const struct record *record);
/* Opens, loads, closes: so many rows are there. */
unsigned world_count_rows(struct store_world *world);

/* "solvegate.db" and the like in the directory. */
void world_path(const struct store_world *world, const char *name, char *path, size_t room);

/* On the closed database, as somebody with the sqlite3 tool would. */
void world_run_sql(const struct store_world *world, const char *text);

/* A row of this kind named id, all other fields random, none of them dead at WORLD_NOW. */
struct record world_record(struct store_world *world, enum record_kind kind, uint64_t id);
/* Another holder of the same bytes. */
struct record world_share(const struct record *record);
/* The first field that differs, or NULL. */
const char *world_difference(const struct record *a, const struct record *b);

#endif
