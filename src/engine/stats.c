#include "engine/stats.h"

#include "engine/aside.h"
#include "engine/budget.h"
#include "engine/journal.h"
#include "engine/journal_books.h"
#include "engine/shadow.h"
#include "engine/task.h"

#include <stdlib.h>

#define DAY_MS 86400000
#define RETRY_FLOOR 20
/* One unconfirmed submit in this many is a storm; networks always lose a few. */
#define STORM_SHARE 5

/* The number of tallies of one day, for all clients and types. */
static size_t tallies_of_day(const struct engine *engine)
{
    return (size_t)engine->client_room * TYPE_COUNT;
}

void stats_init(struct engine *engine)
{
    const size_t a_day = tallies_of_day(engine);
    engine->tallies = calloc((ENGINE_SINCE_START + 1) * a_day, sizeof *engine->tallies);
    engine->written_tallies = calloc(a_day, sizeof *engine->written_tallies);
    ASSERT(engine->tallies != NULL && engine->written_tallies != NULL);
}

void stats_close(struct engine *engine)
{
    free(engine->tallies);
    free(engine->written_tallies);
}

static int64_t day_of(int64_t wall_ms)
{
    return wall_ms / DAY_MS;
}

/* The place of this day's page, or of the oldest page, which makes room. */
static unsigned page_of(const struct engine *engine, int64_t day)
{
    unsigned place = 1;
    while (place < STATS_DAYS && engine->days[place].number != day)
        place++;
    return place;
}

/* Moves the page at `place` to the front, and the pages before it back by one. */
static void turn_spent(struct engine *engine, unsigned place, bool is_known)
{
    for (uint16_t i = 0; i < engine->client_count; i++) {
        struct client *client = &engine->clients[i];
        const uint64_t spent = is_known ? client->spent_past[place - 1] : 0;
        memmove(&client->spent_past[1], &client->spent_past[0],
                (place - 1) * sizeof client->spent_past[0]);
        client->spent_past[0] = client->spent;
        client->spent = spent;
        client->is_spent_written = false;
        if (client->budget_top < spent + client->reserved)
            client->budget_top = spent + client->reserved;
        if (spent > 0)
            journal_spent(engine, (client_id)i);
    }
    budgets_on_day(engine);
}

static void turn_tallies(struct engine *engine, unsigned place, bool is_known)
{
    const size_t a_day = tallies_of_day(engine);
    struct tally *const page = engine->written_tallies;
    memcpy(page, &engine->tallies[place * a_day], a_day * sizeof *page);
    if (!is_known)
        memset(page, 0, a_day * sizeof *page);
    memmove(&engine->tallies[a_day], engine->tallies, place * a_day * sizeof *page);
    memcpy(engine->tallies, page, a_day * sizeof *page);
}

/* A clock may jump ahead and be set back: then the earlier day's page continues. Its spent budget
 * continues with it, so that no day has two budgets. */
static void turn_page(struct engine *engine, int64_t day)
{
    const unsigned place = page_of(engine, day);
    const bool is_known = engine->days[place].number == day;
    if (engine->days[0].number != 0)
        journal_books(engine);
    const struct day page = is_known ? engine->days[place] : (struct day){.number = day};
    memmove(&engine->days[1], &engine->days[0], place * sizeof engine->days[0]);
    engine->days[0] = page;
    /* Otherwise a new day equal to the day before would be taken for journaled. */
    engine->written_stats = page.stats;
    turn_tallies(engine, place, is_known);
    turn_spent(engine, place, is_known);
}

void stats_set_clock(struct engine *engine, uint64_t now_ms, int64_t wall_ms)
{
    if (now_ms > engine->now_ms)
        engine->now_ms = now_ms;
    engine->wall_ms = wall_ms;
    if (day_of(wall_ms) != engine->days[0].number)
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
        minute->ambiguous[place] = 0;
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

void stats_count_paid(struct engine *engine, const struct attempt *attempt,
                      const struct blob *task_id, bool is_double)
{
    struct flight *flight = attempt->flight;
    TALLY(engine, attempt, paid);
    TALLY_BY(engine, attempt->client, attempt->type, spent_micro,
             engine->options.price_micro[attempt->type]);
    struct paid *paid = &engine_push(engine, ACTION_PAID)->paid;
    paid->client = attempt->client;
    paid->type = attempt->type;
    paid->cause = is_double ? CAUSE_DOUBLE : attempt->why;
    paid->class = attempt->cause_class;
    code_copy(paid->code, blob_slice(attempt->cause));
    paid->number = attempt->number;
    paid->params = flight == NULL ? NULL : blob_ref(flight->params);
    task_id_copy(paid->task_id, task_id);
    if (flight != NULL && flight_is_shadow(flight) && !is_double)
        shadow_on_paid(engine, flight);
}

bool stats_note_ambiguous(struct engine *engine, unsigned seconds)
{
    const struct minute *minute = &engine->minute;
    engine->minute.ambiguous[this_second(engine)]++;
    const uint64_t second = engine->now_ms / 1000;
    uint64_t submits = 0;
    uint64_t ambiguous = 0;
    for (unsigned place = 0; place < 60; place++) {
        if (minute->second[place] + seconds <= second)
            continue;
        submits += minute->submits[place];
        ambiguous += minute->ambiguous[place];
    }
    return ambiguous * STORM_SHARE >= submits;
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

void stats_count_failure(struct engine *engine, enum error_class class)
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

/* ---- after a restart --------------------------------------------------------------------- */

/* Requests found ended by the recovery may have been counted before the crash or not; at most the
 * missing ones are added. */
static void settle(uint64_t *field, uint64_t found, uint64_t *missing)
{
    const uint64_t more = found > *field ? found - *field : 0;
    const uint64_t added = more < *missing ? more : *missing;
    *field += added;
    *missing -= added;
}

/* Requests whose ids nobody knew died with their connections, and all other counts of the last
 * second are lost. This makes the page balance. */
static void balance_page(struct stats *page, const struct stats *found, uint64_t waiting)
{
    const uint64_t settled = page->answered_api + page->answered_dedup_wait +
                             page->answered_dedup_cache + page->answered_idempotent +
                             page->answered_pool + page->failed + page->rejected + page->detached +
                             waiting;
    uint64_t missing = page->requests > settled ? page->requests - settled : 0;
    if (page->requests < settled)
        page->requests = settled;
    settle(&page->answered_api, found->answered_api, &missing);
    settle(&page->answered_dedup_wait, found->answered_dedup_wait, &missing);
    settle(&page->answered_dedup_cache, found->answered_dedup_cache, &missing);
    settle(&page->answered_idempotent, found->answered_idempotent, &missing);
    settle(&page->answered_pool, found->answered_pool, &missing);
    settle(&page->failed, found->failed, &missing);
    page->detached += missing;
}

static void balance_tally(struct tally *page, const struct tally *found, uint64_t waiting)
{
    const uint64_t settled = page->answered + page->deduplicated + page->failed + page->rejected +
                             page->detached + waiting;
    uint64_t missing = page->requests > settled ? page->requests - settled : 0;
    if (page->requests < settled)
        page->requests = settled;
    settle(&page->answered, found->answered, &missing);
    settle(&page->deduplicated, found->deduplicated, &missing);
    settle(&page->failed, found->failed, &missing);
    page->detached += missing;
}

void stats_balance(struct engine *engine)
{
    const size_t a_day = tallies_of_day(engine);
    struct tally *totals = &engine->tallies[ENGINE_SINCE_START * a_day];
    const struct stats found = engine->days[0].stats;
    /* Totals count from this start and begin with the requests that still wait. */
    engine->stats = (struct stats){0};
    memset(totals, 0, a_day * sizeof *totals);
    for (slab_id id = 0; (id = slab_next(&engine->requests, id)) != 0;) {
        const struct request *request = slab_get(&engine->requests, id);
        if (request->flight == NULL)
            continue;
        engine->stats.requests++;
        totals[request->client * TYPE_COUNT + request->type].requests++;
    }
    engine->days[0].stats = engine->written_stats;
    balance_page(&engine->days[0].stats, &found, engine->stats.requests);
    for (size_t i = 0; i < a_day; i++) {
        const struct tally was = engine->tallies[i];
        engine->tallies[i] = engine->written_tallies[i];
        balance_tally(&engine->tallies[i], &was, totals[i].requests);
    }
}
