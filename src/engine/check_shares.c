/* The auditor's part about shares: recounts from the objects themselves how much each client holds. */
#include "engine/check_shares.h"

#include "engine/cache.h"
#include "engine/letters.h"

#include <stdlib.h>

/* The recount of one share, to be compared with the share itself. */
struct count {
    uint64_t *held, *loose; /* owned */
};

static struct count count_new(const struct engine *engine)
{
    const struct count count = {.held = calloc(engine->client_room, sizeof *count.held),
                                .loose = calloc(engine->client_room, sizeof *count.loose)};
    ASSERT(count.held != NULL && count.loose != NULL);
    return count;
}

static void count_one(struct count *count, client_id client, uint64_t amount, bool is_loose)
{
    count->held[client] += amount;
    count->loose[client] += is_loose ? amount : 0;
}

static void check_count(const struct engine *engine, struct count *count, const struct share *share)
{
    uint64_t total = 0;
    uint64_t total_loose = 0;
    uint32_t holders = 0;
    for (uint32_t i = 0; i < engine->client_room; i++) {
        ASSERT(share->held[i] == count->held[i] && share->loose[i] == count->loose[i]);
        total += count->held[i];
        total_loose += count->loose[i];
        holders += count->held[i] > 0;
    }
    ASSERT(share->total == total && share->total_loose == total_loose);
    ASSERT(share->holders == holders);
    free(count->held);
    free(count->loose);
}

static void check_requests(const struct engine *engine)
{
    struct count all = count_new(engine);
    struct count read = count_new(engine);
    for (slab_id id = 0; (id = slab_next(&engine->requests, id)) != 0;) {
        const struct request *request = slab_get(&engine->requests, id);
        ASSERT(request->is_finished == (request->flight == NULL && request->notice == NULL));
        ASSERT(request->is_finished || !request->is_read);
        count_one(&all, request->client, 1, request->is_finished);
        if (request->is_read)
            count_one(&read, request->client, 1, true);
    }
    check_count(engine, &all, &engine->shares.requests);
    check_count(engine, &read, &engine->shares.read);
}

static void check_flights(const struct engine *engine)
{
    struct count number = count_new(engine);
    struct count bytes = count_new(engine);
    struct count holds = count_new(engine);
    for (slab_id id = 0; (id = slab_next(&engine->flights, id)) != 0;) {
        const struct flight *flight = slab_get(&engine->flights, id);
        count_one(&number, flight->client, 1, false);
        count_one(&bytes, flight->client, flight->params->len, false);
    }
    for (slab_id id = 0; (id = slab_next(&engine->holds, id)) != 0;) {
        const struct hold *hold = slab_get(&engine->holds, id);
        count_one(&holds, hold->client, 1, false);
    }
    check_count(engine, &number, &engine->shares.flights);
    check_count(engine, &bytes, &engine->shares.flight_bytes);
    check_count(engine, &holds, &engine->shares.holds);
}

static void check_kept(const struct engine *engine)
{
    struct count bytes = count_new(engine);
    for (slab_id id = 0; (id = slab_next(&engine->solutions, id)) != 0;) {
        struct solution *solution = slab_get(&engine->solutions, id);
        uint32_t unread = 0;
        LIST_FOR_EACH(link, &solution->readers) {
            const struct request *request = CONTAINER_OF(link, struct request, reader);
            ASSERT(request->solution == solution && request->is_finished);
            unread += !request->is_read;
        }
        LIST_FOR_EACH(link, &solution->records)
            ASSERT(CONTAINER_OF(link, struct idempotency, holder)->solution == solution);
        const bool is_held =
            !list_is_empty(&solution->readers) || !list_is_empty(&solution->records);
        const bool is_kept = is_held && !solution->is_cached && solution->pool == NULL;
        ASSERT(solution->unread == unread && is_kept == (solution->kept_in != NULL));
        ASSERT(is_kept != list_is_empty(&solution->kept));
        if (is_kept)
            count_one(&bytes, solution->client, solution->bytes, true);
    }
    check_count(engine, &bytes, &engine->shares.finished_bytes);
}

static void check_memory(const struct engine *engine)
{
    struct count records = count_new(engine);
    struct count number = count_new(engine);
    struct count bytes = count_new(engine);
    for (slab_id id = 0; (id = slab_next(&engine->idempotency, id)) != 0;) {
        const struct idempotency *record = slab_get(&engine->idempotency, id);
        ASSERT((record->flight == NULL) == (record->solution != NULL));
        count_one(&records, record->client, 1, record->solution != NULL);
    }
    for (slab_id id = 0; (id = slab_next(&engine->solutions, id)) != 0;) {
        const struct solution *solution = slab_get(&engine->solutions, id);
        if (!solution->is_cached)
            continue;
        count_one(&number, solution->client, 1, true);
        count_one(&bytes, solution->client, solution->bytes, true);
    }
    check_kept(engine);
    check_count(engine, &records, &engine->shares.idempotency);
    check_count(engine, &number, &engine->shares.cached);
    check_count(engine, &bytes, &engine->shares.cached_bytes);
}

static void check_letters(const struct engine *engine)
{
    struct count number = count_new(engine);
    struct count bytes = count_new(engine);
    struct count addresses = count_new(engine);
    struct count waits = count_new(engine);
    for (slab_id id = 0; (id = slab_next(&engine->letters, id)) != 0;) {
        const struct letter *letter = slab_get(&engine->letters, id);
        count_one(&number, letter->client, 1, true);
        count_one(&bytes, letter->client, letter_bytes(letter), true);
    }
    for (slab_id id = 0; (id = slab_next(&engine->requests, id)) != 0;) {
        const struct request *request = slab_get(&engine->requests, id);
        if (request->pingback != NULL)
            count_one(&addresses, request->client, request->pingback->len, false);
    }
    for (slab_id id = 0; (id = slab_next(&engine->account_waits, id)) != 0;)
        count_one(&waits,
                  ((const struct account_wait *)slab_get(&engine->account_waits, id))->client, 1,
                  false);
    check_count(engine, &number, &engine->shares.letters);
    check_count(engine, &bytes, &engine->shares.letter_bytes);
    check_count(engine, &addresses, &engine->shares.pingback_bytes);
    check_count(engine, &waits, &engine->shares.account_waits);
}

void check_shares(const struct engine *engine)
{
    check_requests(engine);
    check_flights(engine);
    check_memory(engine);
    check_letters(engine);
}
