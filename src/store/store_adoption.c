#include "store/store_adoption.h"

#include "base/assert.h"
#include "store/store_private.h"
#include "store/store_writer.h"

#include <solvegate/engine.h>
#include <stdlib.h>

#define RETRY_MS 200

struct store_adopter {
    struct store *store;
    struct store_backend *backend; /* owned: the thread's */
    uv_thread_t thread;
    uv_cond_t order;
    bool is_joined;

    /* Shared, under the store's mutex. */
    bool must_end;
    bool is_ordered; /* there is work for the thread */
    bool is_done;    /* there are rows for the loop, which has what follows until the next order */
    bool is_ours;

    /* The thread's while it works, then the loop's. */
    struct store_member dead;
    struct store_entry **rows; /* owned array; those from row_told on are owned, too */
    size_t row_count, row_room, row_told;
    struct adopted_claim *claims; /* owned */
    size_t claim_count, claim_room, claim_told;
    uint64_t skipped; /* rows that cannot be understood, or whose client is unknown */
};

/* ---- the thread -------------------------------------------------------------------------- */

static void *grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 256 : *room * 2;
    void *const larger = realloc(array, *room * size);
    ASSERT(larger != NULL);
    return larger;
}

/* Clients are found by the loop, which knows their names. */
static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    struct store_adopter *const adopter = context;
    struct record record = {.kind = kind};
    char name[STORE_NAME_MAX] = "";
    struct slice client;
    if (!row_from_values(values, &record, &client) || client.len >= sizeof name) {
        record_close(&record);
        adopter->skipped++;
        return;
    }
    if (client.len > 0)
        memcpy(name, client.data, client.len);
    struct store_entry *const entry = store_entry_named(0, name);
    entry->record = record;
    adopter->rows =
        grow(adopter->rows, adopter->row_count, &adopter->row_room, sizeof(struct store_entry *));
    adopter->rows[adopter->row_count++] = entry;
}

static void on_claim(void *context, const struct key *name, uint64_t flight)
{
    struct store_adopter *const adopter = context;
    adopter->claims =
        grow(adopter->claims, adopter->claim_count, &adopter->claim_room, sizeof *adopter->claims);
    adopter->claims[adopter->claim_count++] =
        (struct adopted_claim){.name = *name, .number = flight};
}

/* By kind, then by number, which is the first column; idempotency keys have none and need no order. */
static int compare(const void *a, const void *b)
{
    const struct record *const left = &(*(struct store_entry *const *)a)->record;
    const struct record *const right = &(*(struct store_entry *const *)b)->record;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    const struct column *const name = &row_tables[left->kind].columns[0];
    if (name->type != COLUMN_U64)
        return 0;
    const uint64_t x = *(const uint64_t *)(const void *)((const char *)left + name->offset);
    const uint64_t y = *(const uint64_t *)(const void *)((const char *)right + name->offset);
    return (x > y) - (x < y);
}

static bool wait_for_order(struct store_adopter *adopter)
{
    struct store *const store = adopter->store;
    uv_mutex_lock(&store->mutex);
    while (!adopter->is_ordered && !adopter->must_end)
        uv_cond_wait(&adopter->order, &store->mutex);
    const bool must_end = adopter->must_end;
    uv_mutex_unlock(&store->mutex);
    return !must_end;
}

/* True when it must end instead. */
static bool pause_for_retry(struct store_adopter *adopter)
{
    struct store *const store = adopter->store;
    uv_mutex_lock(&store->mutex);
    if (!adopter->must_end)
        (void)uv_cond_timedwait(&adopter->order, &store->mutex, RETRY_MS * UINT64_C(1000000));
    const bool must_end = adopter->must_end;
    uv_mutex_unlock(&store->mutex);
    return must_end;
}

static bool take(struct store_adopter *adopter)
{
    const struct store_sharing *const sharing = adopter->backend->driver->sharing;
    const struct store_adopted to = {
        .context = adopter, .on_values = on_values, .on_claim = on_claim};
    bool is_ours = false;
    bool must_end = false;
    enum store_result result =
        sharing->adopt(adopter->backend, &adopter->dead, false, &is_ours, &to);
    while ((result == STORE_RETRY || result == STORE_NO_ROOM) && !must_end) {
        must_end = pause_for_retry(adopter);
        if (!must_end)
            result = sharing->adopt(adopter->backend, &adopter->dead, true, &is_ours, &to);
    }
    if (result == STORE_REFUSED)
        store_report(adopter->store, STORE_FENCED, adopter->backend->why);
    return result == STORE_DONE && is_ours;
}

static void run(void *context)
{
    struct store_adopter *const adopter = context;
    struct store *const store = adopter->store;
    while (wait_for_order(adopter)) {
        const bool is_ours = take(adopter);
        if (is_ours && adopter->row_count > 0)
            qsort(adopter->rows, adopter->row_count, sizeof(struct store_entry *), compare);
        uv_mutex_lock(&store->mutex);
        adopter->is_ordered = false;
        adopter->is_done = true;
        adopter->is_ours = is_ours;
        uv_mutex_unlock(&store->mutex);
        (void)uv_async_send(&store->wake);
    }
}

/* ---- the loop ---------------------------------------------------------------------------- */

bool store_can_adopt(const struct store *store)
{
    const struct store_backend *const backend = store->backend;
    return backend->node != 0 && backend->driver->sharing->adopt != NULL;
}

static struct store_adopter *adopter_new(struct store *store)
{
    struct store_adopter *const adopter = calloc(1, sizeof *adopter);
    ASSERT(adopter != NULL);
    adopter->store = store;
    adopter->backend = store->backend->driver->sharing->make_pulse(store->backend);
    ASSERT(uv_cond_init(&adopter->order) == 0);
    ASSERT(uv_thread_create(&adopter->thread, run, adopter) == 0);
    return adopter;
}

static void forget_rows(struct store_adopter *adopter)
{
    for (size_t i = adopter->row_told; i < adopter->row_count; i++)
        store_entry_free(adopter->rows[i]);
    free(adopter->rows);
    free(adopter->claims);
    adopter->rows = NULL;
    adopter->claims = NULL;
    adopter->row_count = adopter->row_room = adopter->row_told = 0;
    adopter->claim_count = adopter->claim_room = adopter->claim_told = 0;
}

static void say_not_ours(const struct store *store, node_id id)
{
    const struct adopted none = {.id = id, .is_last = true};
    if (store->handlers.on_adopted != NULL)
        store->handlers.on_adopted(store->handlers.context, &none);
}

void store_adopt(struct store *store, const struct adopt *adopt)
{
    struct store_member dead;
    ASSERT(store->is_started && store_can_adopt(store));
    if (store->is_closing)
        return;
    if (!store_pulse_find(store, adopt->id, &dead)) {
        say_not_ours(store, adopt->id);
        return;
    }
    dead.beat = adopt->beat;
    if (store->adopter == NULL)
        store->adopter = adopter_new(store);
    struct store_adopter *const adopter = store->adopter;
    uv_mutex_lock(&store->mutex);
    ASSERT(!adopter->is_ordered && !adopter->is_done);
    adopter->dead = dead;
    adopter->is_ordered = true;
    uv_mutex_unlock(&store->mutex);
    uv_cond_signal(&adopter->order);
}

static bool has_news(struct store_adopter *adopter, bool *is_ours)
{
    if (adopter == NULL)
        return false;
    uv_mutex_lock(&adopter->store->mutex);
    const bool is_done = adopter->is_done;
    *is_ours = adopter->is_ours;
    uv_mutex_unlock(&adopter->store->mutex);
    return is_done;
}

static bool find_client(struct store *store, struct store_entry *entry)
{
    const struct store_names *const names = &store->names;
    client_id *const client = row_client(&entry->record);
    const struct slice name = {.data = entry->client, .len = entry->client_len};
    return client == NULL || names->find(names->context, name, client) ||
           (names->find_gone != NULL && names->find_gone(names->context, name, client));
}

/* At most ENGINE_BATCH rows and claims: the engine restores them in one step. */
static void tell_part(struct store *store, struct store_adopter *adopter)
{
    struct record records[ENGINE_BATCH];
    struct store_entry *entries[ENGINE_BATCH];
    struct adopted part = {.id = adopter->dead.incarnation, .is_ours = true, .records = records};
    size_t taken = 0;
    for (; taken < ENGINE_BATCH && adopter->row_told < adopter->row_count; taken++) {
        struct store_entry *const entry = entries[taken] = adopter->rows[adopter->row_told++];
        if (find_client(store, entry))
            records[part.record_count++] = entry->record;
        else
            adopter->skipped++;
    }
    const size_t claims = adopter->claim_count - adopter->claim_told;
    const size_t room = ENGINE_BATCH - taken;
    part.claim_count = claims < room ? claims : room;
    part.claims = adopter->claims == NULL ? NULL : adopter->claims + adopter->claim_told;
    adopter->claim_told += part.claim_count;
    part.is_last =
        adopter->row_told == adopter->row_count && adopter->claim_told == adopter->claim_count;
    if (store->handlers.on_adopted != NULL)
        store->handlers.on_adopted(store->handlers.context, &part);
    for (size_t i = 0; i < taken; i++)
        store_entry_free(entries[i]);
}

uint64_t store_adopter_skipped(const struct store *store)
{
    return store->adopter->skipped;
}

void store_adopter_tell(struct store *store)
{
    struct store_adopter *const adopter = store->adopter;
    bool is_ours;
    if (!has_news(adopter, &is_ours))
        return;
    const node_id id = adopter->dead.incarnation;
    if (is_ours)
        tell_part(store, adopter);
    const bool is_over = !is_ours || (adopter->row_told == adopter->row_count &&
                                      adopter->claim_told == adopter->claim_count);
    if (!is_over) {
        if (!uv_is_closing((uv_handle_t *)&store->wake))
            (void)uv_async_send(&store->wake);
        return;
    }
    if (is_ours)
        store->counters.skipped += adopter->skipped;
    adopter->skipped = 0;
    forget_rows(adopter);
    uv_mutex_lock(&store->mutex);
    adopter->is_done = false;
    uv_mutex_unlock(&store->mutex);
    if (!is_ours)
        say_not_ours(store, id);
}

void store_adopter_end(struct store *store)
{
    struct store_adopter *const adopter = store->adopter;
    if (adopter == NULL || adopter->is_joined)
        return;
    uv_mutex_lock(&store->mutex);
    adopter->must_end = true;
    uv_mutex_unlock(&store->mutex);
    uv_cond_signal(&adopter->order);
    ASSERT(uv_thread_join(&adopter->thread) == 0);
    store_hang_up(adopter->backend);
    adopter->is_joined = true;
}

void store_adopter_free(struct store *store)
{
    struct store_adopter *const adopter = store->adopter;
    if (adopter == NULL)
        return;
    ASSERT(adopter->is_joined);
    store->adopter = NULL;
    forget_rows(adopter);
    adopter->backend->driver->close(adopter->backend);
    uv_cond_destroy(&adopter->order);
    free(adopter);
}
