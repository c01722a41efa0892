#include "engine/stats.h"

#include "engine/journal.h"

#define DAY_MS 86400000
#define RETRY_FLOOR 20

static int64_t day_of(int64_t wall_ms)
{
    return wall_ms / DAY_MS;
}

static void turn_page(struct engine *engine, int64_t day)
{
    if (engine->days[0].number != 0)
        journal_books(engine);
    memmove(&engine->days[1], &engine->days[0], STATS_DAYS * sizeof engine->days[0]);
    engine->days[0] = (struct day){.number = day};
    for (uint16_t i = 0; i < engine->client_count; i++)
        engine->clients[i].spent = 0;
}

void stats_set_clock(struct engine *engine, uint64_t now_ms, int64_t wall_ms)
{
    if (now_ms > engine->now_ms)
        engine->now_ms = now_ms;
    engine->wall_ms = wall_ms;
    /* A clock that steps back must not give a second budget for the same day. */
    if (day_of(wall_ms) > engine->days[0].number)
        turn_page(engine, day_of(wall_ms));
}

uint32_t stats_ms_to_midnight(const struct engine *engine)
{
    return (uint32_t)(DAY_MS - engine->wall_ms % DAY_MS);
}

static unsigned this_second(struct engine *engine)
{
    struct minute *minute = &engine->minute;
    const uint64_t second = engine->now_ms / 1000;
    const unsigned place = (unsigned)(second % 60);
    if (minute->second[place] != second) {
        minute->second[place] = second;
        minute->submits[place] = 0;
        minute->retries[place] = 0;
    }
    return place;
}

void stats_count_submit(struct engine *engine, bool is_retry)
{
    const unsigned place = this_second(engine);
    engine->minute.submits[place]++;
    COUNT(engine, submits);
    if (is_retry)
        COUNT(engine, retries);
}

void stats_note_retry(struct engine *engine)
{
    engine->minute.retries[this_second(engine)]++;
}

bool stats_retry_allowed(const struct engine *engine)
{
    if (engine->options.retry_budget_permille == 0)
        return true;
    const uint64_t second = engine->now_ms / 1000;
    uint64_t submits = 0;
    uint64_t retries = 0;
    for (unsigned place = 0; place < 60; place++) {
        if (engine->minute.second[place] + 60 <= second)
            continue;
        submits += engine->minute.submits[place];
        retries += engine->minute.retries[place];
    }
    return retries < RETRY_FLOOR ||
           retries * 1000 < submits * engine->options.retry_budget_permille;
}

void stats_count_failure(struct engine *engine, enum class class)
{
    switch (class) {
    case CLASS_BUSY:
        COUNT(engine, failures_busy);
        return;
    case CLASS_UNSOLVABLE:
        COUNT(engine, failures_unsolvable);
        return;
    case CLASS_TRANSIENT:
        COUNT(engine, failures_transient);
        return;
    case CLASS_AMBIGUOUS:
        COUNT(engine, failures_ambiguous);
        return;
    case CLASS_ACCOUNT:
        COUNT(engine, failures_account);
        return;
    case CLASS_CALLER:
        COUNT(engine, failures_caller);
        return;
    case CLASS_PROXY:
        COUNT(engine, failures_proxy);
        return;
    case CLASS_TIMEOUT:
        COUNT(engine, failures_timeout);
        return;
    case CLASS_NONE:
    case CLASS_PENDING:
    case CLASS_UNKNOWN:
    case CLASS_COUNT:
        COUNT(engine, failures_unknown);
        return;
    }
    UNREACHABLE();
}
