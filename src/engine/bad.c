#include "engine/bad.h"

#include "engine/cache.h"
#include "engine/journal.h"
#include "engine/shadow.h"
#include "engine/task.h"

#include <stdlib.h>

/* So many reports are remembered: what the store answered before them is here long before the next so many. */
#define BAD_ONES 256

struct bad_ones {
    attempt_id attempts[BAD_ONES]; /* a ring */
    uint32_t next;
};

void bad_init(struct engine *engine)
{
    if (!engine->options.store_is_shared)
        return;
    engine->bad_ones = calloc(1, sizeof *engine->bad_ones);
    ASSERT(engine->bad_ones != NULL);
}

void bad_close(struct engine *engine)
{
    free(engine->bad_ones);
    engine->bad_ones = NULL;
}

bool bad_is_known(const struct engine *engine, attempt_id attempt)
{
    const struct bad_ones *ones = engine->bad_ones;
    if (ones == NULL || attempt == 0)
        return false;
    for (size_t i = 0; i < BAD_ONES; i++)
        if (ones->attempts[i] == attempt)
            return true;
    return false;
}

static void remember(struct engine *engine, attempt_id attempt)
{
    struct bad_ones *ones = engine->bad_ones;
    if (bad_is_known(engine, attempt))
        return;
    ones->attempts[ones->next] = attempt;
    ones->next = (ones->next + 1) % BAD_ONES;
}

/* Only what many may have is anywhere else. */
static void tell_others(struct engine *engine, struct solution *solution)
{
    if (!engine->options.store_adopts || !solution->is_shared || solution->attempt == 0)
        return;
    remember(engine, solution->attempt);
    struct action *action = engine_push(engine, ACTION_TELL);
    action->after = ++engine->seq;
    action->tell.kind = FACT_BAD;
    action->tell.number = journal_number_for_all(engine);
    action->tell.bad.key = solution->node.key;
    action->tell.bad.attempt = solution->attempt;
    /* Nobody is told that it was recorded before the others can know. */
    solution->seq = action->after;
}

bool bad_report(struct engine *engine, struct solution *solution)
{
    const bool is_news = !solution->is_bad;
    solution->is_bad = true;
    task_report_bad(engine, solution);
    cache_drop(engine, solution);
    cache_drop_copies(engine, &solution->node.key, solution->attempt);
    shadow_on_bad(engine, solution);
    /* What is said again while the store is away must not pile up. */
    if (is_news) {
        journal_solution(engine, solution);
        tell_others(engine, solution);
    }
    return is_news;
}

void bad_on_told(struct engine *engine, const struct bad_solution *bad)
{
    remember(engine, bad->attempt);
    cache_drop_copies(engine, &bad->key, bad->attempt);
}
