#include "engine/idempotency.h"

#include "engine/cache.h"
#include "engine/journal.h"

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

/* What nobody has yet waits for the retry: its caller left, or a crash came before the hand-out was
 * written. No pool gives it to anybody else. */
static void hold(struct idempotency *record, struct solution *solution)
{
    record->solution = solution_ref(solution);
    solution->is_set_aside = !solution->is_shared && solution->handed == 0;
}

/* What it stood for is anybody's again. */
static void let_go(struct engine *engine, struct idempotency *record)
{
    if (record->solution != NULL)
        record->solution->is_set_aside = false;
    solution_unref(engine, record->solution);
    record->solution = NULL;
}

static void record_free(struct engine *engine, struct idempotency *record)
{
    journal_idempotency_over(engine, record);
    table_remove(&engine->idempotency_by_key, &record->node);
    list_unlink(&record->link);
    wheel_cancel(&engine->wheel, &record->expiry);
    let_go(engine, record);
    slab_free(&engine->idempotency, record->id);
}

static struct idempotency *record_new(struct engine *engine, const struct key *digest,
                                      client_id client, const struct key *fingerprint)
{
    slab_id id;
    struct idempotency *record = slab_alloc(&engine->idempotency, &id);
    ASSERT(record != NULL);
    record->id = id;
    record->node.key = *digest;
    record->client = client;
    record->fingerprint = *fingerprint;
    list_init(&record->link);
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
    let_go(engine, record);
    record->flight = flight;
    list_unlink(&record->link);
    list_append(&flight->idempotency, &record->link);
    (void)journal_idempotency(engine, record);
}

journal_seq idempotency_bind_solution(struct engine *engine, const struct ask *ask,
                                      struct solution *solution)
{
    struct idempotency *record = record_for(engine, ask);
    list_unlink(&record->link);
    record->flight = NULL;
    if (record->solution != solution) {
        let_go(engine, record);
        record->solution = solution_ref(solution);
    }
    return journal_idempotency(engine, record);
}

void idempotency_settle(struct engine *engine, struct flight *flight, struct solution *solution)
{
    LIST_FOR_EACH_SAFE(link, &flight->idempotency) {
        struct idempotency *record = CONTAINER_OF(link, struct idempotency, link);
        if (solution == NULL) {
            record_free(engine, record);
            continue;
        }
        list_unlink(&record->link);
        record->flight = NULL;
        hold(record, solution);
        wheel_arm(&engine->wheel, &record->expiry,
                  engine->now_ms + engine->options.idempotency_ttl_ms);
        (void)journal_idempotency(engine, record);
    }
}

void idempotency_restore(struct engine *engine, const struct idempotency_row *row,
                         struct flight *flight, struct solution *solution, uint64_t left_ms)
{
    const bool has_room = engine->idempotency.used < engine->idempotency.capacity &&
                          idempotency_find(engine, &row->digest, row->client) == NULL;
    if (!has_room)
        return;
    struct idempotency *record = record_new(engine, &row->digest, row->client, &row->fingerprint);
    if ((flight == NULL && solution == NULL) || left_ms == 0) {
        record_free(engine, record);
        return;
    }
    wheel_arm(&engine->wheel, &record->expiry, engine->now_ms + left_ms);
    if (solution != NULL) {
        hold(record, solution);
        return;
    }
    record->flight = flight;
    list_append(&flight->idempotency, &record->link);
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
