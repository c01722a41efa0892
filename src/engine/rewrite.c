#include "engine/rewrite.h"

#include "engine/backlog.h"
#include "engine/find.h"
#include "engine/idempotency.h"
#include "engine/journal.h"
#include "engine/journal_books.h"
#include "engine/offer.h"
#include "engine/reclaim.h"
#include "engine/shadow_books.h"

/* A row is dropped only when its object is freed, so all objects that have one are in the slabs. Objects that change
 * meanwhile are written by whoever changes them. */

/* What engine->rewriting is besides the kinds of rows. */
#define PHASE_CLAIMS (RECORD_KIND_COUNT + 1)
#define PHASE_STRAYS (RECORD_KIND_COUNT + 2)

/* Leaves the other half of the backlog to those who ask. */
static bool has_room(const struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    const struct backlog *backlog = &engine->backlog;
    return engine->seq - engine->durable < options->max_records / 2 &&
           backlog->taken - backlog->durable < options->max_record_bytes / 2;
}

/* ---- one row ----------------------------------------------------------------------------- */

static void rewrite_solution(struct engine *engine, struct solution *solution)
{
    if (solution->is_offered)
        offer_forget(engine, solution);
    else if (solution->born_seq != 0)
        journal_solution(engine, solution);
}

static void rewrite_flight(struct engine *engine, struct flight *flight)
{
    if (flight->is_journaled)
        journal_flight(engine, flight);
}

static void rewrite_request(struct engine *engine, struct request *request)
{
    if (request->is_journaled)
        journal_request(engine, request);
}

/* What serves nobody any more may have been solved anew by another node, whose row must find the place free. */
static bool is_outdated(const struct engine *engine, const struct idempotency *record)
{
    return engine->options.store_is_shared && record->flight == NULL &&
           !idempotency_serves(engine, record);
}

static void rewrite_idempotency(struct engine *engine, const struct idempotency *record)
{
    if (record->is_journaled && !is_outdated(engine, record))
        (void)journal_idempotency(engine, record);
}

/* ---- the books --------------------------------------------------------------------------- */

static void rewrite_days(struct engine *engine)
{
    journal_seq seq;
    memset(engine->written_tallies, 0,
           (size_t)engine->client_room * TYPE_COUNT * sizeof *engine->written_tallies);
    journal_on_books_timer(engine);
    for (unsigned ago = 1; ago <= STATS_DAYS; ago++) {
        if (engine->days[ago].number == 0)
            continue;
        struct day_row *row = &journal_append(engine, RECORD_DAY, &seq)->day;
        row->day = engine->days[ago].number;
        row->stats = record_pack_stats(&engine->days[ago].stats);
        row->hours = shadow_books_pack(&engine->days[ago]);
    }
}

/* Those of earlier days; today's are written as if all of them had changed. False when all are written. */
static bool rewrite_tallies(struct engine *engine, uint32_t left)
{
    static const struct tally nothing;
    const size_t a_day = (size_t)engine->client_room * TYPE_COUNT;
    const size_t end = STATS_DAYS * a_day;
    journal_seq seq;
    for (; engine->repaged < end && left > 0; engine->repaged++, left--) {
        const size_t place = engine->repaged % a_day;
        const size_t ago = 1 + engine->repaged / a_day;
        const struct tally *const tally = &engine->tallies[ago * a_day + place];
        if (engine->days[ago].number == 0 || memcmp(tally, &nothing, sizeof nothing) == 0)
            continue;
        struct tally_row *row = &journal_append(engine, RECORD_TALLY, &seq)->tally;
        row->day = engine->days[ago].number;
        row->client = (client_id)(place / TYPE_COUNT);
        row->type = (enum type)(place % TYPE_COUNT);
        row->tally = *tally;
    }
    return engine->repaged < end;
}

/* ---- all rows ---------------------------------------------------------------------------- */

static const struct slab *slab_of(const struct engine *engine, enum record_kind kind)
{
    switch (kind) {
    case RECORD_SOLUTION:
        return &engine->solutions;
    case RECORD_FLIGHT:
        return &engine->flights;
    case RECORD_ATTEMPT:
        return &engine->attempts;
    case RECORD_REQUEST:
        return &engine->requests;
    case RECORD_IDEMPOTENCY:
        return &engine->idempotency;
    case RECORD_LETTER:
        return &engine->letters;
    case RECORD_DAY:
    case RECORD_TALLY:
    case RECORD_SPENT:
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

static void rewrite_item(struct engine *engine, enum record_kind kind, void *item)
{
    if (kind == RECORD_SOLUTION)
        rewrite_solution(engine, item);
    else if (kind == RECORD_FLIGHT)
        rewrite_flight(engine, item);
    else if (kind == RECORD_ATTEMPT)
        (void)journal_attempt(engine, item);
    else if (kind == RECORD_REQUEST)
        rewrite_request(engine, item);
    else if (kind == RECORD_IDEMPOTENCY)
        rewrite_idempotency(engine, item);
    else
        journal_letter(engine, item);
}

static void reclaim_item(struct engine *engine, unsigned phase, void *item)
{
    if (phase == PHASE_CLAIMS)
        reclaim_flight(engine, item);
    else
        reclaim_stray(engine, item);
}

/* False when all claims of flights, or of strays, were asked for. */
static bool reclaim_some(struct engine *engine, unsigned phase)
{
    const struct slab *const slab = phase == PHASE_CLAIMS ? &engine->flights : &engine->attempts;
    uint32_t left = engine->options.step_batch;
    while (left > 0) {
        engine->rewritten = slab_next_within(slab, engine->rewritten, &left);
        if (engine->rewritten == 0)
            return false;
        void *const item = slab_get(slab, engine->rewritten);
        if (item != NULL)
            reclaim_item(engine, phase, item);
    }
    return true;
}

/* False when all rows of the kind are written. */
static bool rewrite_items(struct engine *engine, enum record_kind kind, uint32_t left)
{
    const struct slab *const slab = slab_of(engine, kind);
    while (left > 0) {
        engine->rewritten = slab_next_within(slab, engine->rewritten, &left);
        if (engine->rewritten == 0)
            return false;
        void *const item = slab_get(slab, engine->rewritten);
        if (item != NULL)
            rewrite_item(engine, kind, item);
    }
    return true;
}

static bool rewrite_some(struct engine *engine, unsigned phase)
{
    const uint32_t most = engine->options.step_batch;
    if (phase >= PHASE_CLAIMS)
        return reclaim_some(engine, phase);
    const enum record_kind kind = (enum record_kind)(phase - 1);
    if (kind == RECORD_TALLY)
        return rewrite_tallies(engine, most * 4);
    if (kind != RECORD_DAY && kind != RECORD_SPENT)
        return rewrite_items(engine, kind, most);
    if (kind == RECORD_DAY)
        rewrite_days(engine);
    for (uint16_t i = 0; kind == RECORD_SPENT && i < engine->client_count; i++)
        journal_spent(engine, i);
    return false;
}

bool rewrite_has_work(const struct engine *engine)
{
    return engine->rewriting != 0 && has_room(engine);
}

static unsigned next_phase(unsigned phase)
{
    if (phase == PHASE_STRAYS)
        return 1;
    return phase == RECORD_KIND_COUNT ? 0 : phase + 1;
}

void rewrite_work(struct engine *engine)
{
    if (!rewrite_has_work(engine) || rewrite_some(engine, engine->rewriting))
        return;
    engine->rewritten = 0;
    engine->repaged = 0;
    engine->rewriting = next_phase(engine->rewriting);
    if (engine->rewriting != 0)
        return;
    engine->rewritten_seq = engine->seq;
    TRACE(engine, "all rows are written again");
}

bool engine_is_rewriting(const struct engine *engine)
{
    return engine->rewriting != 0 || engine->durable < engine->rewritten_seq;
}

void rewrite_on_store(struct engine *engine, const struct event *event)
{
    if (event->kind == EVENT_STORE_STATE) {
        engine->store_is_writable = event->store_is_writable;
        engine->store_is_away = event->store_is_away;
        find_on_store(engine);
        return;
    }
    if (!engine->options.has_journal)
        return;
    /* Claims come first, since others wait for no longer than a lease before they solve a key that seems to be free;
     * and nothing is decided before the store knows this node again. */
    engine->rewriting = engine->options.store_is_shared ? PHASE_CLAIMS : 1;
    engine->lease_until_ms = 0;
    engine->rewritten = 0;
    engine->repaged = 0;
}
