#include "engine/idempotency.h"

#include "engine/aside.h"
#include "engine/bad.h"
#include "engine/cache.h"
#include "engine/journal.h"
#include "engine/kept.h"
#include "engine/offer.h"
#include "engine/request.h"

struct idempotency *idempotency_find(const struct engine *engine, const struct key *digest,
                                     client_id client)
{
    for (struct table_node *node = table_find(&engine->idempotency_by_key, digest); node != NULL;
         node = table_find_next(node)) {
        struct idempotency *record = CONTAINER_OF(node, struct idempotency, node);
        if (record->client == client)
            return record;
    }
    return NULL;
}

/* The request's max_age and min_ttl do not matter here: a retry repeats the demands of the first
 * request, and must not pay again for them. */
bool idempotency_serves(const struct engine *engine, const struct idempotency *record)
{
    return record->solution != NULL && !record->solution->is_bad &&
           record->serves_until_ms > engine->now_ms &&
           !bad_is_known(engine, record->solution->attempt);
}

/* An unused solution is set aside for the retry, because its caller left or a crash came before the
 * hand-out was journaled. No pool hands it to anybody else. */
static void set_aside(struct solution *solution)
{
    solution->is_set_aside = !solution->is_shared && solution->handed == 0;
}

static void hold(struct engine *engine, struct idempotency *record, struct solution *solution)
{
    ASSERT(record->flight == NULL && record->solution == NULL);
    record->solution = solution_ref(solution);
    record->serves_until_ms = solution->expires_ms;
    list_append(&engine->clients[record->client].settled, &record->link);
    share_loosen(&engine->shares.idempotency, record->client, 1);
    kept_enter_record(engine, record);
}

/* Unbinds the record from its flight or solution; a solution that was set aside is free again. */
static void let_go(struct engine *engine, struct idempotency *record)
{
    list_unlink(&record->link);
    record->flight = NULL;
    if (record->solution == NULL)
        return;
    share_fasten(&engine->shares.idempotency, record->client, 1);
    record->solution->is_set_aside = false;
    kept_leave_record(engine, record);
    offer_make(engine, record->solution);
    solution_unref(engine, record->solution);
    record->solution = NULL;
}

static void wait_for(struct idempotency *record, struct flight *flight)
{
    ASSERT(record->flight == NULL && record->solution == NULL);
    record->flight = flight;
    list_append(&flight->idempotency, &record->link);
}

static void record_free(struct engine *engine, struct idempotency *record)
{
    if (record->is_journaled)
        journal_idempotency_over(engine, record);
    table_remove(&engine->idempotency_by_key, &record->node);
    wheel_cancel(&engine->wheel, &record->expiry);
    let_go(engine, record);
    share_give(&engine->shares.idempotency, record->client, 1);
    slab_free(&engine->idempotency, record->id);
}

void idempotency_forget(struct engine *engine, struct idempotency *record)
{
    record_free(engine, record);
}

/* Another node's row is not ours to write. */
static journal_seq journal(struct engine *engine, struct idempotency *record)
{
    if (record->is_unconfirmed)
        return 0;
    record->is_journaled = true;
    return journal_idempotency(engine, record);
}

static bool is_full(const struct engine *engine)
{
    return engine->idempotency.used == engine->idempotency.capacity;
}

bool idempotency_has_room(const struct engine *engine, client_id client)
{
    return share_admits(&engine->shares.idempotency, engine->client_count, client, 1) &&
           (!is_full(engine) || share_yields(&engine->shares.idempotency, client) != NO_CLIENT);
}

static void forget_oldest(struct engine *engine, uint32_t client)
{
    struct list *oldest = list_first(&engine->clients[client].settled);
    ASSERT(oldest != NULL);
    record_free(engine, CONTAINER_OF(oldest, struct idempotency, link));
}

static struct idempotency *record_new(struct engine *engine, const struct key *digest,
                                      client_id client, const struct key *fingerprint)
{
    slab_id id;
    if (is_full(engine))
        forget_oldest(engine, share_yields(&engine->shares.idempotency, client));
    struct idempotency *record = slab_alloc(&engine->idempotency, &id);
    ASSERT(record != NULL);
    record->id = id;
    record->node.key = *digest;
    record->client = client;
    record->fingerprint = *fingerprint;
    share_take(&engine->shares.idempotency, client, 1);
    list_init(&record->link);
    list_init(&record->holder);
    wheel_timer_init(&record->expiry, TIMER_IDEMPOTENCY);
    table_insert(&engine->idempotency_by_key, &record->node);
    return record;
}

static struct idempotency *record_for(struct engine *engine, const struct ask *ask)
{
    struct idempotency *record = idempotency_find(engine, &ask->idempotency, ask->client);
    if (record == NULL)
        record = record_new(engine, &ask->idempotency, ask->client, &ask->key);
    wheel_arm(&engine->wheel, &record->expiry, engine->now_ms + engine->options.idempotency_ttl_ms);
    return record;
}

void idempotency_bind_flight(struct engine *engine, const struct ask *ask, struct flight *flight)
{
    struct idempotency *record = record_for(engine, ask);
    /* The claim that is under way tells whether the key is free. What a follower waits for stays
     * another node's, whoever joins it. */
    record->is_unconfirmed =
        flight->state == FLIGHT_CLAIMING || (record->is_unconfirmed && record->flight == flight);
    let_go(engine, record);
    wait_for(record, flight);
    (void)journal(engine, record);
}

journal_seq idempotency_bind_solution(struct engine *engine, const struct ask *ask,
                                      struct solution *solution)
{
    struct idempotency *record = record_for(engine, ask);
    if (record->solution != solution) {
        let_go(engine, record);
        hold(engine, record, solution);
    }
    return journal(engine, record);
}

void idempotency_settle(struct engine *engine, struct flight *flight, struct solution *solution)
{
    LIST_FOR_EACH_SAFE(link, &flight->idempotency) {
        struct idempotency *record = CONTAINER_OF(link, struct idempotency, link);
        if (solution == NULL) {
            record_free(engine, record);
            continue;
        }
        let_go(engine, record);
        hold(engine, record, solution);
        set_aside(solution);
        /* Solved slowly, it may be stale on arrival. It was paid for, so a retry finds it as long
         * as a poll does. */
        if (solution->expires_ms <= engine->now_ms)
            record->serves_until_ms = engine->now_ms + SOLUTION_KEEP_MS;
        wheel_arm(&engine->wheel, &record->expiry,
                  engine->now_ms + engine->options.idempotency_ttl_ms);
        (void)journal(engine, record);
    }
}

bool idempotency_is_awaited(struct flight *flight, struct key *digest)
{
    struct list *first = list_first(&flight->idempotency);
    if (first == NULL || !CONTAINER_OF(first, struct idempotency, link)->is_unconfirmed)
        return false;
    *digest = CONTAINER_OF(first, struct idempotency, link)->node.key;
    return true;
}

/* What the key stands for here serves nobody any more: the flight solves it anew. */
static bool gives_way(const struct engine *engine, const struct idempotency *record)
{
    return record->flight == NULL && !idempotency_serves(engine, record);
}

void idempotency_await(struct engine *engine, const struct key *digest, struct flight *flight)
{
    struct idempotency *record = idempotency_find(engine, digest, flight->client);
    const bool has_room = engine->idempotency.used < engine->idempotency.capacity;
    if (record == NULL ? !has_room : !gives_way(engine, record))
        return;
    if (record == NULL)
        record = record_new(engine, digest, flight->client, &flight->node.key);
    let_go(engine, record);
    record->fingerprint = flight->node.key;
    record->is_unconfirmed = true;
    wait_for(record, flight);
    wheel_arm(&engine->wheel, &record->expiry, engine->now_ms + engine->options.idempotency_ttl_ms);
}

void idempotency_confirm(struct engine *engine, struct flight *flight)
{
    LIST_FOR_EACH(link, &flight->idempotency) {
        struct idempotency *record = CONTAINER_OF(link, struct idempotency, link);
        if (!record->is_unconfirmed)
            continue;
        record->is_unconfirmed = false;
        (void)journal(engine, record);
    }
}

void idempotency_move(struct engine *engine, struct flight *from, struct flight *into)
{
    LIST_FOR_EACH_SAFE(link, &from->idempotency) {
        struct idempotency *record = CONTAINER_OF(link, struct idempotency, link);
        let_go(engine, record);
        wait_for(record, into);
        /* Its row is ours, and stood for nothing when it was adopted. */
        if (record->is_journaled && flight_claim(into) != 0)
            record->is_unconfirmed = false;
        (void)journal(engine, record);
    }
}

void idempotency_drop_gone(struct engine *engine, struct flight *flight)
{
    LIST_FOR_EACH_SAFE(link, &flight->idempotency) {
        struct idempotency *record = CONTAINER_OF(link, struct idempotency, link);
        if (client_is_gone(engine, record->client))
            record_free(engine, record);
    }
}

/* What the key stood for here serves nobody, and the node that is adopted has solved it anew. */
static void take_over(struct engine *engine, struct idempotency *known,
                      const struct idempotency_row *row, struct flight *flight,
                      struct solution *solution, uint64_t left_ms)
{
    let_go(engine, known);
    known->fingerprint = row->fingerprint;
    known->is_journaled = true;
    wheel_arm(&engine->wheel, &known->expiry, engine->now_ms + left_ms);
    if (solution == NULL) {
        wait_for(known, flight);
        return;
    }
    hold(engine, known, solution);
    set_aside(solution);
}

/* Does the record know what the key stands for without the store? */
static bool is_decided(const struct idempotency *record)
{
    return record->solution != NULL ||
           (record->flight != NULL && flight_claim(record->flight) != 0);
}

/* The row of a key that somebody repeated here is ours from now on. If it stands for nothing any more, it has to say
 * what the record does, or the store has yet to say what the key stands for. */
static void own(struct engine *engine, struct idempotency *known, bool is_empty)
{
    known->is_journaled = true;
    known->is_unconfirmed = is_empty && !is_decided(known);
    if (is_empty)
        (void)journal(engine, known);
}

void idempotency_restore(struct engine *engine, const struct idempotency_row *row,
                         struct flight *flight, struct solution *solution, uint64_t left_ms)
{
    struct idempotency *known = idempotency_find(engine, &row->digest, row->client);
    const bool has_room = engine->idempotency.used < engine->idempotency.capacity;
    if (known != NULL && known->is_unconfirmed)
        own(engine, known, flight == NULL && solution == NULL);
    if (known != NULL && (flight != NULL || solution != NULL) && left_ms > 0 &&
        !known->is_unconfirmed && gives_way(engine, known)) {
        take_over(engine, known, row, flight, solution, left_ms);
        return;
    }
    if (known != NULL || !has_room)
        return;
    struct idempotency *record = record_new(engine, &row->digest, row->client, &row->fingerprint);
    record->is_journaled = true;
    if ((flight == NULL && solution == NULL) || left_ms == 0) {
        record_free(engine, record);
        return;
    }
    wheel_arm(&engine->wheel, &record->expiry, engine->now_ms + left_ms);
    if (solution == NULL) {
        wait_for(record, flight);
        return;
    }
    hold(engine, record, solution);
    set_aside(solution);
}

/* Our record of the row's key, if it was made by somebody who repeated the key of another node. */
static struct idempotency *find_repeated(const struct engine *engine,
                                         const struct idempotency_row *row)
{
    struct idempotency *record = idempotency_find(engine, &row->digest, row->client);
    return record == NULL || !record->is_unconfirmed ||
                   !key_equals(&record->fingerprint, &row->fingerprint)
               ? NULL
               : record;
}

struct flight *idempotency_misused(const struct engine *engine, const struct idempotency_row *row)
{
    const struct idempotency *record = idempotency_find(engine, &row->digest, row->client);
    return record == NULL || !record->is_unconfirmed ||
                   key_equals(&record->fingerprint, &row->fingerprint)
               ? NULL
               : record->flight;
}

struct flight *idempotency_adopt(struct engine *engine, const struct idempotency_row *row,
                                 struct flight *flight)
{
    struct idempotency *record = find_repeated(engine, row);
    struct flight *ours = record == NULL ? NULL : record->flight;
    if (ours == NULL || ours == flight || flight_claim(ours) != 0)
        return NULL;
    let_go(engine, record);
    wait_for(record, flight);
    return ours;
}

struct flight *idempotency_adopt_solution(struct engine *engine, const struct idempotency_row *row,
                                          struct solution *solution, bool *is_copied)
{
    struct idempotency *record = find_repeated(engine, row);
    if (record == NULL || solution->is_bad || solution->expires_ms <= engine->now_ms)
        return NULL;
    record->is_unconfirmed = false;
    record->is_journaled = true;
    struct flight *ours = record->flight;
    *is_copied = ours == NULL;
    if (*is_copied) {
        (void)journal(engine, record);
        return NULL;
    }
    let_go(engine, record);
    hold(engine, record, solution);
    set_aside(solution);
    return ours;
}

void idempotency_rewrite(struct engine *engine, const struct key *digest, client_id client)
{
    struct idempotency *record = idempotency_find(engine, digest, client);
    if (record != NULL)
        (void)journal(engine, record);
}

void idempotency_on_expiry(struct engine *engine, struct idempotency *record)
{
    /* While its flight runs the record must stay: a retry has to find the paid solve. */
    if (record->flight != NULL)
        wheel_arm(&engine->wheel, &record->expiry,
                  engine->now_ms + engine->options.idempotency_ttl_ms);
    else
        record_free(engine, record);
}
