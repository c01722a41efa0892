#include "store/postgres/postgres_driver.h"

#include "base/assert.h"
#include "store/postgres/postgres_address.h"
#include "store/postgres/postgres_adoption.h"
#include "store/postgres/postgres_again.h"
#include "store/postgres/postgres_batch.h"
#include "store/postgres/postgres_cluster.h"
#include "store/postgres/postgres_find.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_lock.h"
#include "store/postgres/postgres_meta.h"
#include "store/postgres/postgres_progress.h"
#include "store/postgres/postgres_pulse.h"
#include "store/postgres/postgres_rows.h"
#include "store/postgres/postgres_schema.h"
#include "store/postgres/postgres_server.h"
#include "store/postgres/postgres_sql.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* PostgreSQL's own limit for a value. */
#define ARRAY_MAX ((size_t)1 << 30)
#define SCRATCH_MAX ((size_t)16 << 20)

static void postgres_hang_up(struct store_backend *backend)
{
    pg_link_close(postgres_store_of(backend));
}

static void postgres_close(struct store_backend *backend)
{
    struct postgres_store *const store = postgres_store_of(backend);
    pg_link_close(store);
    if (!store->is_pulse)
        pg_address_close(&store->address);
    PQclear(store->verdicts);
    PQclear(store->drawn);
    store_kept_close(&store->kept);
    for (size_t i = 0; i < sizeof store->columns / sizeof store->columns[0]; i++)
        buf_close(&store->columns[i]);
    buf_close(&store->scratch);
    buf_close(&store->body);
    free(store->rows);
    free(store);
}

static struct postgres_store *make(void)
{
    struct postgres_store *const store = calloc(1, sizeof *store);
    ASSERT(store != NULL);
    for (size_t i = 0; i < sizeof store->columns / sizeof store->columns[0]; i++)
        buf_init(&store->columns[i], ARRAY_MAX);
    buf_init(&store->scratch, SCRATCH_MAX);
    buf_init(&store->body, SCRATCH_MAX);
    return store;
}

static enum store_opening lock_schema(struct postgres_store *store, struct buf *mistake)
{
    const enum store_result result = pg_rows_ready(store);
    if (result == STORE_DONE)
        return STORE_OPENED;
    buf_addf(mistake, "%s", store->base.why);
    return result == STORE_FAILED ? STORE_LOCKED : STORE_UNUSABLE;
}

static bool postgres_judge(const struct store_place *place, const char *address,
                           struct buf *mistake)
{
    struct pg_address judged;
    const bool is_sound = pg_address_init(&judged, place, address, mistake);
    pg_address_close(&judged);
    return is_sound;
}

static enum store_opening postgres_lock(const struct store_place *place, const char *address,
                                        struct store_backend **backend, struct buf *mistake)
{
    struct postgres_store *const store = make();
    enum store_opening opening = STORE_UNUSABLE;
    if (place->node != NULL)
        (void)snprintf(store->node, sizeof store->node, "%s", place->node);
    store->lease_ms = place->lease_ms;
    pg_lock_choose_run(store, place->run);
    if (pg_address_init(&store->address, place, address, mistake))
        opening = lock_schema(store, mistake);
    if (opening == STORE_OPENED)
        *backend = &store->base;
    else
        postgres_close(&store->base);
    return opening;
}

static enum store_opening postgres_open(struct store_backend *backend, struct buf *mistake)
{
    struct postgres_store *const store = postgres_store_of(backend);
    if (pg_rows_ready(store) != STORE_DONE) {
        buf_addf(mistake, "%s", backend->why);
        return STORE_UNUSABLE;
    }
    if (!pg_server_check(store, mistake) || !pg_schema_open(store, mistake))
        return STORE_UNUSABLE;
    if (!pg_cluster_join(store, mistake))
        return STORE_UNUSABLE;
    store->is_open = true;
    const enum store_result begun =
        backend->node == 0 ? pg_progress_begin(store) : pg_again_follow_history(store);
    if (begun == STORE_DONE && pg_sql_prepare(store) == STORE_DONE)
        return STORE_OPENED;
    buf_addf(mistake, "%s", backend->why);
    return STORE_UNUSABLE;
}

/* A session that was lost is made again at once: there is nothing that could be lost with it. */
static enum store_result postgres_beat(struct store_backend *backend)
{
    struct postgres_store *const store = postgres_store_of(backend);
    enum store_result result = pg_rows_ready(store);
    if (result == STORE_DONE)
        result = pg_lock_prove(store);
    if (result == STORE_DONE)
        result = backend->node == 0 ? pg_progress_prove(store) : pg_again_enter(store);
    return result == STORE_RETRY && store->conn == NULL && !store->is_late ? pg_rows_ready(store)
                                                                           : result;
}

static struct store_backend *make_pulse(const struct store_backend *backend)
{
    const struct postgres_store *const of = (const struct postgres_store *)(const void *)backend;
    struct postgres_store *const pulse = make();
    pulse->base.driver = backend->driver;
    pulse->base.node = backend->node;
    pulse->base.incarnation = backend->incarnation;
    pulse->address = of->address;
    pulse->is_pulse = true;
    return &pulse->base;
}

static const struct store_sharing sharing = {
    .load_claims = pg_cluster_load_claims,
    .read_time = pg_cluster_read_time,
    .leave = pg_cluster_leave,
    .make_pulse = make_pulse,
    .pulse_beat = pg_pulse_beat,
    .pulse_wait = pg_pulse_wait,
    .pulse_inbox = pg_pulse_inbox,
    .adopt = pg_adoption_adopt,
    .find = pg_find,
    .letter_numbers = pg_letter_numbers,
    .letters = pg_letters,
    .books = pg_books,
    .sum_drawn = pg_sum_drawn,
};

static const char *const schemes[] = {"postgresql", "postgres", NULL};

const struct store_driver postgres_driver = {
    .name = "PostgreSQL",
    .schemes = schemes,
    .judge = postgres_judge,
    .lock = postgres_lock,
    .open = postgres_open,
    .find_secret = pg_meta_find_secret,
    .replace_secret = pg_meta_replace_secret,
    .read_mark = pg_meta_read_mark,
    .shift = pg_meta_shift,
    .load = pg_rows_load,
    .write = pg_batch_write,
    .beat = postgres_beat,
    .look = pg_rows_look,
    .tidy = pg_rows_tidy,
    .hang_up = postgres_hang_up,
    .close = postgres_close,
    .sharing = &sharing,
    .print_schema = pg_schema_print,
    .inspect = pg_server_inspect,
};
