#include "store/store_pulse.h"

#include "base/assert.h"
#include "store/store_clock.h"
#include "store/store_demand.h"
#include "store/store_fact.h"
#include "store/store_inbox.h"
#include "store/store_private.h"
#include "store/store_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Wake-ups may be lost: whoever misses one asks again by itself. */
#define WOKEN_MAX 4096
/* A beat that failed is tried again soon, since a lease depends on it. */
#define RETRY_MS 200
/* Beats that come sooner than usual are at least so far apart. */
#define HURRY_MS 200
/* Facts that are read at once, each of which is a step of the engine. */
#define FACTS_MAX 256

struct store_pulse {
    struct store *store;
    struct store_backend *backend; /* owned: the thread's */
    uv_thread_t thread;
    int wake_fd; /* readable when the thread must end or hurry */
    uint32_t beat_ms;
    bool is_joined;

    /* Shared, under the store's mutex. */
    bool must_end;
    bool must_hurry;
    struct demand demand;
    bool has_beat; /* the loop was not told yet */
    bool is_steady;
    int64_t sent_ms;
    bool has_mail; /* the loop's: facts that it was not told yet */
    uint32_t fact_count;
    struct fact facts[FACTS_MAX]; /* owned */
    struct store_members members;
    uint32_t woken_count;
    struct key woken[WOKEN_MAX];

    /* The thread's. */
    struct store_members found;
    uint64_t reconnects;
    bool has_failed; /* a beat did, since the latest that came through */
    int64_t came_ms; /* when that one was sent */
    bool must_read;  /* the inbox */

    /* The loop's. */
    struct store_members told_members;
    struct key told[WOKEN_MAX];
    struct fact told_facts[FACTS_MAX];
};

/* ---- the thread -------------------------------------------------------------------------- */

static void on_woken(void *context, const struct key *name)
{
    struct store_pulse *const pulse = context;
    if (name == NULL) {
        pulse->must_read = true;
        return;
    }
    uv_mutex_lock(&pulse->store->mutex);
    if (pulse->woken_count < WOKEN_MAX)
        pulse->woken[pulse->woken_count++] = *name;
    uv_mutex_unlock(&pulse->store->mutex);
}

/* The thread fills the array only while the loop has none to take. */
static void on_fact(void *context, const struct fact *take_fact)
{
    struct store_pulse *const pulse = context;
    ASSERT(pulse->fact_count < FACTS_MAX);
    pulse->facts[pulse->fact_count++] = *take_fact;
}

/* Facts come again until they are forgotten, so whatever is missed now is not lost. */
static void read_inbox(struct store_pulse *pulse)
{
    struct store *const store = pulse->store;
    const struct store_sharing *const sharing = pulse->backend->driver->sharing;
    uv_mutex_lock(&store->mutex);
    const bool is_full = pulse->has_mail;
    uv_mutex_unlock(&store->mutex);
    if (is_full || sharing->pulse_inbox == NULL)
        return;
    pulse->must_read = false;
    (void)sharing->pulse_inbox(pulse->backend, FACTS_MAX, on_fact, pulse);
    if (pulse->fact_count == 0)
        return;
    uv_mutex_lock(&store->mutex);
    pulse->has_mail = true;
    uv_mutex_unlock(&store->mutex);
    store_wake(store);
}

/* A process that stood still has not heard the others either, who may have stood still with it. A busy machine makes a
 * beat late, too: then the rest of the lease is long enough to hear them. */
static bool is_steady(const struct store_pulse *pulse, int64_t sent_ms)
{
    const int64_t half_lease_ms = pulse->store->lease_ms / 2;
    const int64_t two_beats_ms = 2 * (int64_t)pulse->beat_ms;
    return !pulse->has_failed && pulse->reconnects == pulse->backend->reconnects &&
           sent_ms - pulse->came_ms <=
               (half_lease_ms > two_beats_ms ? half_lease_ms : two_beats_ms);
}

/* Under the mutex. */
static void say_parts(const struct store *store, const struct demand *demand,
                      char parts[STORE_PARTS_MAX])
{
    char levels[STORE_LEVELS_MAX];
    const bool is_rewriting = store->facts.losses != store->losses_mended;
    const size_t room = STORE_PARTS_MAX - sizeof STORE_PARTS_REWRITING - STORE_LEVELS_MAX;
    store_demand_write_levels(demand, levels);
    (void)snprintf(parts, STORE_PARTS_MAX, "%.*s%s%s", (int)room, store->parts,
                   is_rewriting ? STORE_PARTS_REWRITING : "", levels);
}

/* Rows may be as they were before this beat. What this node has just given up is others' from now on, all the same. */
static void read_levels(struct store_pulse *pulse, const struct demand *told)
{
    for (uint32_t i = 0; i < pulse->found.count; i++) {
        struct store_member *const member = &pulse->found.all[i];
        store_demand_read_levels(member->parts, &member->demand);
        for (unsigned place = 0; member->node == pulse->backend->node && place < DEMAND_POOLS;
             place++)
            if (member->demand.levels[place] > told->levels[place])
                member->demand.levels[place] = told->levels[place];
    }
}

/* STORE_FAILED and STORE_REFUSED: another gateway has what was ours, so that nothing may be decided any more. */
static enum store_result beat(struct store_pulse *pulse)
{
    struct store *const store = pulse->store;
    uv_mutex_lock(&store->mutex);
    const struct demand demand = pulse->demand;
    say_parts(store, &demand, pulse->backend->parts);
    pulse->must_hurry = false;
    uv_mutex_unlock(&store->mutex);
    const int64_t sent_ms = clocks_read().even_ms;
    const enum store_result result =
        pulse->backend->driver->sharing->pulse_beat(pulse->backend, &demand, &pulse->found);
    if (result == STORE_FAILED)
        store_report(store, STORE_BROKEN, pulse->backend->why);
    if (result == STORE_REFUSED)
        store_report(store, STORE_FENCED, pulse->backend->why);
    pulse->has_failed |= result != STORE_DONE;
    if (result != STORE_DONE)
        return result;
    read_levels(pulse, &demand);
    /* It does not matter if this fails: the next beat does, too, or the time was known before. */
    (void)store_clock_follow(pulse->backend);
    uv_mutex_lock(&store->mutex);
    pulse->is_steady = is_steady(pulse, sent_ms) && (!pulse->has_beat || pulse->is_steady);
    pulse->has_beat = true;
    pulse->sent_ms = sent_ms;
    pulse->members = pulse->found;
    uv_mutex_unlock(&store->mutex);
    pulse->reconnects = pulse->backend->reconnects;
    pulse->has_failed = false;
    pulse->came_ms = sent_ms;
    store_wake(store);
    return STORE_DONE;
}

static bool must_end(struct store_pulse *pulse)
{
    uv_mutex_lock(&pulse->store->mutex);
    const bool must = pulse->must_end;
    uv_mutex_unlock(&pulse->store->mutex);
    return must;
}

static bool must_hurry(struct store_pulse *pulse)
{
    uint64_t count;
    const ssize_t unused = read(pulse->wake_fd, &count, sizeof count);
    (void)unused;
    uv_mutex_lock(&pulse->store->mutex);
    const bool must = pulse->must_hurry;
    uv_mutex_unlock(&pulse->store->mutex);
    return must;
}

/* Until the next beat is due, or the connection is lost. */
static void wait_for_news(struct store_pulse *pulse, int64_t start_ms)
{
    const uint32_t hurried_ms = pulse->beat_ms < HURRY_MS ? pulse->beat_ms : HURRY_MS;
    const struct store_sharing *const sharing = pulse->backend->driver->sharing;
    enum store_result result = STORE_DONE;
    while (result == STORE_DONE && !must_end(pulse)) {
        const uint32_t whole_ms = must_hurry(pulse) ? hurried_ms : pulse->beat_ms;
        const int64_t left_ms = start_ms + whole_ms - clocks_read().even_ms;
        if (left_ms <= 0)
            return;
        result = sharing->pulse_wait(pulse->backend, pulse->wake_fd, (int)left_ms, on_woken, pulse);
        if (result == STORE_DONE && pulse->must_read)
            read_inbox(pulse);
        store_wake(pulse->store);
    }
}

static void pause_for(struct store_pulse *pulse, unsigned milliseconds)
{
    for (unsigned waited = 0; waited < milliseconds && !must_end(pulse); waited += 20)
        uv_sleep(20);
}

static void run(void *context)
{
    struct store_pulse *const pulse = context;
    enum store_result result = STORE_DONE;
    while (!must_end(pulse) && result != STORE_FAILED && result != STORE_REFUSED) {
        const int64_t start_ms = clocks_read().even_ms;
        result = beat(pulse);
        if (result == STORE_DONE) {
            read_inbox(pulse);
            wait_for_news(pulse, start_ms);
        } else {
            pause_for(pulse, RETRY_MS);
        }
    }
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void wake_thread(struct store_pulse *pulse)
{
    const uint64_t one = 1;
    const ssize_t unused = write(pulse->wake_fd, &one, sizeof one);
    (void)unused;
}

void store_set_demand(struct store *store, const struct demand *demand, bool must_hurry)
{
    struct store_pulse *const pulse = store->pulse;
    if (pulse == NULL)
        return;
    uv_mutex_lock(&store->mutex);
    const bool is_news = must_hurry && !pulse->must_hurry;
    pulse->demand = *demand;
    pulse->must_hurry |= must_hurry;
    uv_mutex_unlock(&store->mutex);
    if (is_news)
        wake_thread(pulse);
}

void store_set_parts(struct store *store, const char *parts)
{
    uv_mutex_lock(&store->mutex);
    (void)snprintf(store->parts, sizeof store->parts, "%s", parts);
    uv_mutex_unlock(&store->mutex);
}

/* A loss that the loop has not been told of yet is not mended. */
void store_set_mended(struct store *store)
{
    uv_mutex_lock(&store->mutex);
    store->losses_mended = store->reported_facts.losses;
    uv_mutex_unlock(&store->mutex);
}

void store_hold_claims(struct store *store, bool must_hold)
{
    uv_mutex_lock(&store->mutex);
    store->must_hold = must_hold;
    uv_mutex_unlock(&store->mutex);
}

const struct store_members *store_pulse_members(const struct store *store)
{
    return &store->pulse->told_members;
}

bool store_pulse_find(const struct store *store, uint64_t incarnation, struct store_member *member)
{
    const struct store_members *const members = &store->pulse->told_members;
    for (uint32_t i = 0; i < members->count; i++)
        if (members->all[i].incarnation == incarnation) {
            *member = members->all[i];
            return true;
        }
    return false;
}

void store_pulse_start(struct store *store)
{
    if (store->backend->node == 0)
        return;
    struct store_pulse *const pulse = calloc(1, sizeof *pulse);
    ASSERT(pulse != NULL);
    pulse->store = store;
    pulse->beat_ms = store->heartbeat_ms;
    pulse->backend = store->backend->driver->sharing->make_pulse(store->backend);
    pulse->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ASSERT(pulse->wake_fd >= 0);
    store->pulse = pulse;
    ASSERT(uv_thread_create(&pulse->thread, run, pulse) == 0);
}

void store_pulse_end(struct store *store)
{
    struct store_pulse *const pulse = store->pulse;
    if (pulse == NULL || pulse->is_joined)
        return;
    uv_mutex_lock(&store->mutex);
    pulse->must_end = true;
    uv_mutex_unlock(&store->mutex);
    wake_thread(pulse);
    ASSERT(uv_thread_join(&pulse->thread) == 0);
    store_hang_up(pulse->backend);
    pulse->is_joined = true;
}

static uint32_t take_facts(struct store_pulse *pulse)
{
    if (!pulse->has_mail)
        return 0;
    const uint32_t count = pulse->fact_count;
    memcpy(pulse->told_facts, pulse->facts, count * sizeof pulse->facts[0]);
    pulse->has_mail = false;
    pulse->fact_count = 0;
    return count;
}

static void tell_facts(const struct store *store, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct fact *const fact = &store->pulse->told_facts[i];
        store_name_client(store, fact);
        if (store->handlers.on_told != NULL)
            store->handlers.on_told(store->handlers.context, fact);
        fact_close(fact);
    }
}

void store_pulse_tell(struct store *store)
{
    struct store_pulse *const pulse = store->pulse;
    const struct store_handlers *const handlers = &store->handlers;
    if (pulse == NULL)
        return;
    uv_mutex_lock(&store->mutex);
    const bool has_beat = pulse->has_beat;
    const struct store_beat told = {
        .sent_ms = pulse->sent_ms, .is_steady = pulse->is_steady, .members = &pulse->told_members};
    const uint32_t count = pulse->woken_count;
    if (has_beat)
        pulse->told_members = pulse->members;
    memcpy(pulse->told, pulse->woken, count * sizeof pulse->told[0]);
    pulse->has_beat = false;
    pulse->woken_count = 0;
    const uint32_t fact_count = take_facts(pulse);
    uv_mutex_unlock(&store->mutex);
    if (has_beat && handlers->on_beat != NULL)
        handlers->on_beat(handlers->context, &told);
    for (uint32_t i = 0; i < count && handlers->on_woken != NULL; i++)
        handlers->on_woken(handlers->context, &pulse->told[i]);
    tell_facts(store, fact_count);
}

void store_pulse_free(struct store *store)
{
    struct store_pulse *const pulse = store->pulse;
    if (pulse == NULL)
        return;
    ASSERT(pulse->is_joined);
    store->pulse = NULL;
    for (uint32_t i = 0; i < pulse->fact_count; i++)
        fact_close(&pulse->facts[i]);
    pulse->backend->driver->close(pulse->backend);
    (void)close(pulse->wake_fd);
    free(pulse);
}
