#include "engine/orphan.h"

#include "engine/cache.h"
#include "engine/journal.h"
#include "engine/letter_replay.h"
#include "engine/letters.h"
#include "engine/offer.h"
#include "engine/task.h"

void orphan_enter(struct engine *engine, struct letter *letter)
{
    if (letter->kind != LETTER_OF_ORPHAN || letter->is_one_time ||
        letter->fresh_ms <= engine->now_ms)
        return;
    letter->orphan.key = letter->key;
    table_insert(&engine->orphans_by_key, &letter->orphan);
}

void orphan_leave(struct engine *engine, struct letter *letter)
{
    if (letter->orphan.place != NULL)
        table_remove(&engine->orphans_by_key, &letter->orphan);
}

/* A reload may have shortened the lifetime since; the letter's solution gets at most today's, as
 * after a restart. */
uint64_t orphan_expires_ms(const struct engine *engine, const struct letter *letter)
{
    const uint64_t most_ms = engine->now_ms + engine->options.ttl_ms[letter->type];
    return letter->fresh_ms < most_ms ? letter->fresh_ms : most_ms;
}

uint64_t orphan_born_ms(const struct engine *engine, const struct letter *letter)
{
    const uint64_t ttl_ms = engine->options.ttl_ms[letter->type];
    const uint64_t expires_ms = orphan_expires_ms(engine, letter);
    return expires_ms > ttl_ms ? expires_ms - ttl_ms : 0;
}

/* Applies the rules of solution_suits() to a letter. */
static bool suits(const struct engine *engine, const struct letter *letter, const struct ask *ask)
{
    const uint64_t expires_ms = orphan_expires_ms(engine, letter);
    if (letter->told > 0 && ask->reuse != REUSE_SHARED)
        return false;
    return expires_ms > engine->now_ms && expires_ms - engine->now_ms >= ask->min_ttl_ms &&
           engine->now_ms - orphan_born_ms(engine, letter) <= ask->max_age_ms;
}

struct letter *orphan_find(const struct engine *engine, const struct ask *ask)
{
    if (ask->reuse == REUSE_NONE || engine->solutions.used == engine->solutions.capacity)
        return NULL;
    for (struct table_node *node = table_find(&engine->orphans_by_key, &ask->key); node != NULL;
         node = table_find_next(node)) {
        struct letter *letter = CONTAINER_OF(node, struct letter, orphan);
        if ((letter->client == ask->client ||
             client_is_heir(engine, letter->client, ask->client)) &&
            !letter_is_replaying(letter) && suits(engine, letter, ask))
            return letter;
    }
    return NULL;
}

struct letter *orphan_of(const struct engine *engine, const struct solution *solution)
{
    for (struct table_node *node = table_find(&engine->orphans_by_key, &solution->node.key);
         node != NULL; node = table_find_next(node)) {
        struct letter *letter = CONTAINER_OF(node, struct letter, orphan);
        if (letter->client == solution->client &&
            slice_equals(blob_slice(letter->text), blob_slice(solution->text)))
            return letter;
    }
    return NULL;
}

struct solution *orphan_take(struct engine *engine, struct letter *letter, client_id client)
{
    if (letter->orphan.place == NULL || letter->fresh_ms <= engine->now_ms ||
        engine->solutions.used == engine->solutions.capacity)
        return NULL;
    const struct birth birth = {
        .key = &letter->key,
        .client = client,
        .type = letter->type,
        .started_ms = engine->now_ms,
        .unborn_ms = orphan_born_ms(engine, letter),
        .task_id = task_id_new(letter->task_id),
    };
    struct solution *solution = solution_new(engine, &birth, letter->text, letter->extra);
    blob_unref(birth.task_id);
    solution->expires_ms = orphan_expires_ms(engine, letter);
    solution->handed = letter->told;
    solution->uid = journal_uid(engine);
    cache_bank(engine, solution, letter->reuse == REUSE_SHARED, false);
    offer_make(engine, solution);
    if (!solution->is_offered)
        journal_solution(engine, solution);
    COUNT(engine, letters_replayed);
    letter_settle(engine, letter);
    return solution;
}

bool orphan_bank(struct engine *engine, struct letter *letter)
{
    struct solution *solution = orphan_take(engine, letter, letter->client);
    solution_unref(engine, solution);
    return solution != NULL;
}
