#include "store/store.h"

#include "base/assert.h"
#include "store/store_ahead.h"
#include "store/store_budget.h"
#include "store/store_check.h"
#include "store/store_claims.h"
#include "store/store_clock.h"
#include "store/store_find.h"
#include "store/store_load.h"
#include "store/store_private.h"
#include "store/store_secret.h"
#include "store/store_send.h"
#include "store/store_writer.h"

#include <sodium.h>
#include <stdlib.h>

/* Claims told in a turn of the loop, each of which is a step of the engine. */
#define ANSWERS_A_TURN 256

/* The rest of a URL may contain a password. */
static void explain_scheme(const char *url, struct buf *mistake)
{
    const char *const option = store_driver_option(url);
    const int len = (int)strcspn(url, ":");
    if (option == NULL)
        buf_addf(mistake,
                 "no store is called \"%.*s\"; its URL begins with postgresql:, redis:, rediss:, "
                 "valkey: or sqlite:",
                 len, url);
    else
        buf_addf(mistake, "this build has no store for \"%.*s\"; build it with -D%s=enabled", len,
                 url, option);
}

bool store_is_known(const char *url, struct buf *mistake)
{
    const char *address;
    if (store_driver_find(url, &address) != NULL)
        return true;
    explain_scheme(url, mistake);
    return false;
}

bool store_is_sound(const struct store_place *place, struct buf *mistake)
{
    const char *address;
    if (!store_is_known(place->url, mistake))
        return false;
    const struct store_driver *const driver = store_driver_find(place->url, &address);
    return driver->judge == NULL || driver->judge(place, address, mistake);
}

enum store_opening store_lock_with(const struct store_driver *driver,
                                   const struct store_place *place, struct store **store,
                                   struct buf *mistake)
{
    struct store_backend *backend = NULL;
    *store = NULL;
    if (place->node != NULL && driver->sharing == NULL) {
        buf_addf(mistake,
                 "%s cannot be shared by several gateways; set cluster.enabled to false, or "
                 "use a store on a server",
                 driver->name);
        return STORE_UNUSABLE;
    }
    const char *const address = place->url + strcspn(place->url, ":") + 1;
    const enum store_opening opening = driver->lock(place, address, &backend, mistake);
    if (opening != STORE_OPENED)
        return opening;
    struct store *const made = calloc(1, sizeof *made);
    ASSERT(made != NULL);
    backend->driver = driver;
    made->backend = backend;
    made->beat_ns = (place->beat_ms == 0 ? STORE_BEAT_MS : place->beat_ms) * UINT64_C(1000000);
    made->heartbeat_ms = place->heartbeat_ms;
    made->lease_ms = place->lease_ms;
    ASSERT(uv_mutex_init(&made->mutex) == 0 && uv_cond_init(&made->work) == 0);
    *store = made;
    return STORE_OPENED;
}

enum store_opening store_lock(const struct store_place *place, struct store **store,
                              struct buf *mistake)
{
    const char *address;
    const struct store_driver *const driver = store_driver_find(place->url, &address);
    if (driver != NULL)
        return store_lock_with(driver, place, store, mistake);
    *store = NULL;
    explain_scheme(place->url, mistake);
    return STORE_UNUSABLE;
}

enum store_opening store_open(struct store *store, const struct store_names *names,
                              struct buf *mistake)
{
    struct store_backend *const backend = store->backend;
    store->names = *names;
    enum store_opening opening = backend->driver->open(backend, mistake);
    if (opening == STORE_OPENED && backend->node != 0 &&
        store_clock_follow(backend) != STORE_DONE) {
        buf_add(mistake, slice_from(backend->why));
        opening = STORE_UNUSABLE;
    }
    store->counters.migrated_from = backend->migrated_from;
    store->counters.lost_solutions = backend->lost_solutions;
    store->counters.lost_idempotency = backend->lost_idempotency;
    store_publish(store);
    store->reported_facts = store->facts;
    if (opening == STORE_OPENED)
        store_pulse_start(store);
    return opening;
}

struct store_about store_about(const struct store *store)
{
    const struct store_facts *const facts = &store->reported_facts;
    return (struct store_about){
        .kind = store->backend->driver->name,
        .server = facts->server,
        .durability = facts->durability,
        .is_async = facts->is_async,
    };
}

void store_explain(const struct store *store, struct buf *mistake)
{
    buf_add(mistake, slice_from(store->backend->why));
}

int store_secret(struct store *store, const char *name, uint8_t *bytes, size_t count)
{
    ASSERT(!store->is_started);
    if (ahead_find_secret(store, name, bytes, NULL, count))
        return 0;
    const int err = secret_get(store->backend, name, INT64_MAX, bytes, NULL, count);
    if (err == 0)
        ahead_keep_secret(store, name, bytes, NULL, count);
    return err;
}

int store_rotating_secret(struct store *store, const char *name, int64_t max_age_ms, uint8_t *bytes,
                          uint8_t *old_bytes, size_t count)
{
    struct store_rotation *const rotation = &store->rotation;
    ASSERT(!store->is_started);
    if (!ahead_find_secret(store, name, bytes, old_bytes, count)) {
        const int err = secret_get(store->backend, name, max_age_ms, bytes, old_bytes, count);
        if (err != 0)
            return err;
        ahead_keep_secret(store, name, bytes, old_bytes, count);
    }
    *rotation = (struct store_rotation){.name = name, .max_age_ms = max_age_ms, .count = count};
    memcpy(rotation->bytes, bytes, count);
    memcpy(rotation->old_bytes, old_bytes, count);
    return 0;
}

int store_load(struct store *store, const struct clocks *now,
               void (*on_row)(void *context, const struct record *record), void *context)
{
    ASSERT(!store->is_started);
    store->expired_wall_ms = now->wall_ms;
    if (store->ahead != NULL) {
        ahead_give_rows(store, on_row, context);
        return 0;
    }
    if (store->backend->node == 0 && store_clock_catch_up(store->backend, now) != STORE_DONE)
        return ERR_IO;
    return load_rows(store->backend, &store->names, now->wall_ms, on_row, context,
                     &store->counters.skipped);
}

static void on_async_closed(uv_handle_t *handle)
{
    struct store *const store = handle->data;
    store->is_closed = true;
    if (store->on_closed != NULL)
        store->on_closed(store->on_closed_context);
}

static void on_turn_closed(uv_handle_t *handle)
{
    struct store *const store = handle->data;
    uv_close((uv_handle_t *)&store->wake, on_async_closed);
}

/* Whoever hears that the store is closed may free it, handles and all, so they are closed one after the other. */
static void end_turns(struct store *store)
{
    store->has_turns = false;
    store_hand_over(store);
    uv_close((uv_handle_t *)&store->turn, on_turn_closed);
}

struct news {
    struct store_queue done;
    enum store_state state;
    char why[sizeof(((struct store *)NULL)->why)];
    struct store_facts facts;
    bool is_finished;
    struct store_rotation rotation;
};

static void take_news(struct store *store, struct news *news)
{
    struct store_counters *const counters = &store->counters;
    uv_mutex_lock(&store->mutex);
    news->done = store->done;
    store->done = (struct store_queue){0};
    news->state = store->state;
    memcpy(news->why, store->why, sizeof news->why);
    news->facts = store->facts;
    news->is_finished = store->is_finished;
    news->rotation = store->rotation;
    store->rotation.is_replaced = false;
    counters->records = store->records;
    counters->commits = store->commits;
    counters->bytes = store->bytes;
    counters->commit_ms_max = store->commit_ms_max;
    counters->commit_times = store->commit_times;
    counters->reconnects = store->reconnects;
    counters->round_trips = store->round_trips;
    counters->batch_sizes = store->batch_sizes;
    uv_mutex_unlock(&store->mutex);
    counters->waiting -= news->done.count;
}

/* Keeps claims and draws, whose answers come after the news that their records are durable. */
static void free_done(struct store *store, struct store_queue *done)
{
    struct store_entry *entry = done->first;
    while (entry != NULL) {
        struct store_entry *const next = entry->next;
        if (entry->asked != NULL || entry->drawn != NULL)
            store_queue_push(&store->answers, entry);
        else
            store_spares_give(&store->spares, entry);
        entry = next;
    }
}

static void tell_answers(struct store *store)
{
    for (unsigned i = 0; i < ANSWERS_A_TURN && store->answers.count > 0; i++) {
        struct store_queue first = {0};
        store_queue_split(&store->answers, 1, &first);
        store_tell_claimed(store, first.first);
        store_tell_drawn(store, first.first);
        store_queue_clear(&first);
    }
    if (store->answers.count > 0 && !uv_is_closing((uv_handle_t *)&store->wake))
        (void)uv_async_send(&store->wake);
}

static void tell_facts(struct store *store, const struct store_facts *facts)
{
    const struct store_handlers *const handlers = &store->handlers;
    const struct store_facts *const before = &store->reported_facts;
    const bool is_lost = facts->losses != before->losses;
    const bool is_other = facts->is_async != before->is_async ||
                          strcmp(facts->server, before->server) != 0 ||
                          strcmp(facts->durability, before->durability) != 0;
    store->reported_facts = *facts;
    if (is_other && handlers->on_about != NULL)
        handlers->on_about(handlers->context);
    if (is_lost && handlers->on_lost != NULL)
        handlers->on_lost(handlers->context, facts->loss);
}

/* Records that became durable before the writer failed are reported first. */
static void tell_news(struct store *store)
{
    const struct store_handlers *const handlers = &store->handlers;
    struct news news;
    take_news(store, &news);
    const journal_seq durable = news.done.last == NULL ? 0 : news.done.last->seq;
    free_done(store, &news.done);
    /* A shift has no number of its own. */
    if (durable > store->reported_durable) {
        store->reported_durable = durable;
        handlers->on_durable(handlers->context, durable);
    }
    if (news.state != store->reported_state) {
        store->reported_state = news.state;
        handlers->on_state(handlers->context, news.state,
                           news.state == STORE_WRITABLE ? "" : news.why);
    }
    tell_answers(store);
    /* What was granted before the rows were lost is asked for again, too. */
    if (store->answers.count == 0)
        tell_facts(store, &news.facts);
    if (news.rotation.is_replaced && handlers->on_secret != NULL)
        handlers->on_secret(handlers->context, news.rotation.bytes, news.rotation.old_bytes);
    sodium_memzero(&news.rotation, sizeof news.rotation);
    store_pulse_tell(store);
    store_adopter_tell(store);
    store_finder_tell(store);
    if (news.is_finished && store->has_turns) {
        ASSERT(uv_thread_join(&store->thread) == 0);
        store_pulse_free(store);
        store_adopter_free(store);
        store_finder_free(store);
        end_turns(store);
    }
}

/* The writer, which may have nothing to do now, need not wait for the end of the turn. */
static void on_wake(uv_async_t *wake)
{
    struct store *const store = wake->data;
    tell_news(store);
    store_hand_over(store);
}

static void on_turn(uv_prepare_t *turn)
{
    store_hand_over(turn->data);
}

static void start_turns(struct store *store, struct uv_loop_s *loop)
{
    ASSERT(uv_prepare_init(loop, &store->turn) == 0);
    ASSERT(uv_prepare_start(&store->turn, on_turn) == 0);
    uv_unref((uv_handle_t *)&store->turn);
    store->turn.data = store;
    store->has_turns = true;
}

void store_start(struct store *store, struct uv_loop_s *loop, const struct store_handlers *handlers)
{
    ASSERT(!store->is_started && !store->is_closing);
    store->handlers = *handlers;
    ASSERT(uv_async_init(loop, &store->wake, on_wake) == 0);
    store->wake.data = store;
    start_turns(store, loop);
    uv_mutex_lock(&store->mutex);
    store->is_started = true;
    uv_mutex_unlock(&store->mutex);
    ahead_free(store);
    store_check_start(store);
    store_finder_start(store);
    ASSERT(uv_thread_create(&store->thread, store_writer_run, store) == 0);
    /* What the pulse has heard meanwhile. */
    store_wake(store);
}

static struct store_entry *entry_new(struct store *store, journal_seq seq,
                                     struct record *take_record)
{
    const client_id *const client = row_client(take_record);
    struct store_entry *const entry = store_spares_take(
        &store->spares, seq,
        client == NULL ? "" : store->names.name_of(store->names.context, *client));
    entry->record = *take_record;
    return entry;
}

void store_append(struct store *store, journal_seq seq, struct record *take_record)
{
    ASSERT(seq > store->latest);
    store->latest = seq;
    store_enqueue(store, entry_new(store, seq, take_record));
}

void store_leap(struct store *store, int64_t by_ms, const struct clocks *now)
{
    /* The times of a shared store are nobody's to move. */
    if (store->reported_state == STORE_BROKEN || store->backend->node != 0)
        return;
    struct store_entry *const entry = store_entry_named(store->latest, "");
    entry->shift = malloc(sizeof *entry->shift);
    ASSERT(entry->shift != NULL);
    *entry->shift = (struct store_shift){.by_ms = row_time_bounded(by_ms), .now = *now};
    store_enqueue(store, entry);
}

void store_counters(const struct store *store, struct store_counters *counters)
{
    *counters = store->counters;
}

void store_close(struct store *store, void (*on_closed)(void *context), void *context)
{
    ASSERT(!store->is_closing);
    store->is_closing = true;
    store->on_closed = on_closed;
    store->on_closed_context = context;
    if (!store->is_started) {
        store->is_closed = true;
        if (on_closed != NULL)
            on_closed(context);
        return;
    }
    store_check_stop(store);
    store_hand_over(store);
    uv_mutex_lock(&store->mutex);
    store->must_end = true;
    uv_mutex_unlock(&store->mutex);
    uv_cond_signal(&store->work);
}

void store_free(struct store *store)
{
    if (store == NULL)
        return;
    ASSERT(!store->is_started || store->is_closed);
    store_pulse_end(store);
    store_pulse_free(store);
    store_queue_clear(&store->queue);
    store_queue_clear(&store->batch);
    store_queue_clear(&store->done);
    store_queue_clear(&store->answers);
    store_queue_clear(&store->spares);
    ahead_free(store);
    store->backend->driver->close(store->backend);
    uv_cond_destroy(&store->work);
    uv_mutex_destroy(&store->mutex);
    free(store);
}
