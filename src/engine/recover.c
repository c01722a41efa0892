#include "engine/recover.h"

#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/budget.h"
#include "engine/cache.h"
#include "engine/claim.h"
#include "engine/flight_name.h"
#include "engine/flight_table.h"
#include "engine/follow.h"
#include "engine/gather.h"
#include "engine/hear.h"
#include "engine/history.h"
#include "engine/idempotency.h"
#include "engine/journal.h"
#include "engine/letters.h"
#include "engine/offer.h"
#include "engine/orphan.h"
#include "engine/placed.h"
#include "engine/pool.h"
#include "engine/request.h"
#include "engine/rest.h"
#include "engine/reunite.h"
#include "engine/shadow_books.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/task.h"

/* A flight that had to be adopted so often may be what kills the nodes. */
#define ADOPTIONS_MOST 3

/* ---- times ------------------------------------------------------------------------------- */

/* The remaining lifetime, at most `most_ms`: the wall clock may have been set back. */
static uint64_t left_ms(const struct engine *engine, int64_t until_wall_ms, uint64_t most_ms)
{
    if (until_wall_ms <= engine->wall_ms)
        return 0;
    const uint64_t left = (uint64_t)(until_wall_ms - engine->wall_ms);
    return left < most_ms ? left : most_ms;
}

/* Converts a past wall time to the monotonic clock, which may not reach back that far. */
static uint64_t moment_ms(const struct engine *engine, int64_t wall_ms)
{
    const int64_t ago = engine->wall_ms - wall_ms;
    if (ago <= 0)
        return engine->now_ms;
    return (uint64_t)ago < engine->now_ms ? engine->now_ms - (uint64_t)ago : 0;
}

/* ---- rows -------------------------------------------------------------------------------- */

static void restore_day(struct engine *engine, const struct day_row *row)
{
    const int64_t ago = engine->days[0].number - row->day;
    if (ago >= 0 && ago <= STATS_DAYS)
        engine->days[ago] = (struct day){.number = row->day, .stats = record_stats(row)};
    if (ago >= 0 && ago <= STATS_DAYS)
        shadow_books_restore(&engine->days[ago], row->hours);
    if (ago == 0)
        engine->written_stats = record_stats(row);
}

static void restore_tally(struct engine *engine, const struct tally_row *row)
{
    const int64_t ago = engine->days[0].number - row->day;
    if (ago >= 0 && ago <= STATS_DAYS)
        *tally_at(engine, (unsigned)ago, row->client, row->type) = row->tally;
    if (ago > 0 && ago <= STATS_DAYS)
        engine->clients[row->client].spent_past[ago - 1] += row->tally.paid;
    if (ago != 0)
        return;
    engine->written_tallies[row->client * TYPE_COUNT + row->type] = row->tally;
    /* For a client that had no budget, only the tally tells what it spent; a budget row, if any,
     * replaces this. */
    engine->clients[row->client].spent += row->tally.paid;
}

static void restore_spent(struct engine *engine, const struct spent_row *row)
{
    /* The amount may exceed today's budget, and the next reload may raise the budget again. */
    if (row->day != engine->days[0].number)
        return;
    engine->clients[row->client].spent = row->spent;
    engine->clients[row->client].is_spent_written = true;
}

struct solution *recover_solution(struct engine *engine, const struct solution_row *row)
{
    const struct birth birth = {.key = &row->key,
                                .client = row->client,
                                .type = row->type,
                                .task_id = task_id_new(row->task_id)};
    struct solution *solution = solution_new(engine, &birth, row->text, row->extra);
    blob_unref(birth.task_id);
    solution->uid = row->id;
    solution->born_seq = 1;
    solution->is_restored = true;
    solution->flight_uid = row->flight;
    solution->attempt = row->attempt;
    solution->born_ms = moment_ms(engine, row->born_wall_ms);
    solution->expires_ms =
        engine->now_ms + left_ms(engine, row->expires_wall_ms, engine->options.ttl_ms[row->type]);
    solution->solve_ms = row->solve_ms;
    /* Hand-outs of a shared solution are not journaled each time; one is enough to know that it was used. */
    solution->handed = row->is_shared && row->handed == 0 ? 1 : row->handed;
    solution->attempts = row->attempts;
    solution->is_shared = row->is_shared;
    solution->is_bad = row->is_bad;
    return solution;
}

static void restore_solution(struct engine *engine, const struct solution_row *row)
{
    struct recovery *recovery = recovery_of(engine);
    journal_saw_number(engine, row->id);
    if (engine->solutions.used == engine->solutions.capacity || row->text == NULL || row->id == 0)
        return;
    struct solution *solution = recover_solution(engine, row);
    struct pool *pool = pool_by_key(engine, &row->key, row->client);
    if (client_is_gone(engine, row->client))
        solution->is_one_time = !row->is_kept;
    else if (row->is_kept && pool != NULL && pool_has_room(pool) && !row->is_shared &&
             row->handed == 0)
        (void)pool_add(engine, pool, solution);
    else if (row->is_kept)
        cache_put(engine, solution, row->is_shared);
    offer_restore(engine, solution, row);
    task_restore_solution(engine, solution, row->is_kept);
    index_add(recovery, &recovery->by_uid, row->id, solution);
    index_add(recovery, &recovery->by_flight, row->flight, solution);
    index_add(recovery, &recovery->by_attempt, row->attempt, solution);
}

/* Called only when every request that waited for the flight has its end in its own row: the next
 * crash may come between any two of these records. */
static void drop_flight(struct engine *engine, uint64_t uid)
{
    const struct flight gone = {.uid = uid, .is_journaled = true};
    journal_flight_over(engine, &gone);
}

/* A shared key has one flight that can be found. If ours only waits, it waits for the adopted one from
 * now on; else the adopted one will go on as ours. */
static void adopt_flight(struct engine *engine, const struct flight_row *row,
                         struct restored_flight *restored)
{
    struct flight *ours =
        row->reuse == REUSE_SHARED ? flight_find(engine, &row->key, row->client) : NULL;
    struct flight *flight = flight_restore(engine, row, moment_ms(engine, row->created_wall_ms));
    restored->flight = flight;
    if (flight == NULL)
        return;
    flight->is_restoring = true;
    const bool is_follower = ours != NULL && reunite_can(ours);
    struct flight *hidden = ours == NULL ? NULL : is_follower ? ours : flight;
    if (hidden == ours && ours != NULL)
        restored->follower = flight_id(engine, ours);
    if (hidden != NULL)
        flight_table_hide(engine, hidden);
    restored->has_idempotency = row->has_idempotency;
    restored->idempotency = row->idempotency;
    if (row->has_idempotency)
        idempotency_await(engine, &row->idempotency, flight);
}

static void restore_flight(struct engine *engine, const struct flight_row *row)
{
    struct recovery *recovery = recovery_of(engine);
    journal_saw_number(engine, row->id);
    struct restored_flight *restored = gather_flight(recovery);
    *restored =
        (struct restored_flight){.uid = row->id, .is_over = row->is_over, .class = row->class};
    memcpy(restored->code, row->code, ERROR_CODE_MAX);
    if (recovery->is_adoption) {
        if (!row->is_over && index_find(&recovery->by_flight, row->id) == NULL)
            adopt_flight(engine, row, restored);
        return;
    }
    const bool is_second =
        row->reuse == REUSE_SHARED && flight_find(engine, &row->key, row->client) != NULL;
    if (!row->is_over && !is_second && index_find(&recovery->by_flight, row->id) == NULL)
        restored->flight = flight_restore(engine, row, moment_ms(engine, row->created_wall_ms));
    /* With a shared store one flight of a key may wait for another node's, and another one, with an
     * idempotency key, have the claim: they go on as one. */
    if (is_second && !row->is_over && engine->options.store_is_shared &&
        index_find(&recovery->by_flight, row->id) == NULL) {
        restored->flight = flight_find(engine, &row->key, row->client);
        restored->is_merged = true;
    }
    if (restored->flight == NULL || !row->has_idempotency || !engine->options.store_is_shared)
        return;
    restored->has_idempotency = !restored->is_merged;
    restored->idempotency = row->idempotency;
    idempotency_await(engine, &row->idempotency, restored->flight);
}

/* Until it was adopted, the other node may have sent what it intended, and may still tell of it: the
 * ambiguity window begins only then, and anew when this node ends in the middle of it, since no row
 * tells when that was. */
static uint64_t started_ms(struct engine *engine, const struct attempt_row *row,
                           const struct flight *flight)
{
    const bool is_others =
        recovery_of(engine)->is_adoption || (flight != NULL && flight->adoptions > 0);
    return is_others && row->task_id[0] == '\0' ? engine->now_ms
                                                : moment_ms(engine, row->started_wall_ms);
}

static void restore_attempt(struct engine *engine, const struct attempt_row *row)
{
    struct recovery *recovery = recovery_of(engine);
    const struct restored_flight *restored = find_flight_row(recovery, row->flight);
    struct flight *flight = restored == NULL ? NULL : restored->flight;
    /* It may have ended meanwhile. */
    if (flight != NULL && flight->state != FLIGHT_NEW)
        flight = NULL;
    struct attempt_row own = *row;
    /* An older version's row has no key; the flight has computed it anew. */
    if (flight != NULL)
        own.key = flight->node.key;
    const bool is_merged = flight != NULL && restored->is_merged;
    if (is_merged)
        own.flight = flight->uid;
    journal_saw_number(engine, row->name);
    attempt_restore(engine, &own, flight, index_find(&recovery->by_attempt, row->name),
                    started_ms(engine, row, flight));
    const struct attempt *attempt = is_merged ? attempt_find(engine, row->name) : NULL;
    if (attempt != NULL)
        (void)journal_attempt(engine, attempt);
}

static void give(struct engine *engine, struct request *request, struct solution *solution)
{
    if (solution->is_shared) {
        solution->handed++;
    } else if (solution->pool != NULL) {
        pool_take(engine, solution->pool, solution);
        journal_handout(engine, request, solution);
    } else if (solution->handed == 0) {
        /* Also needed if the cache had no room for the solution: the next restart might have. */
        cache_take(engine, solution, REUSE_SINGLE);
        journal_handout(engine, request, solution);
    }
    request_solved(engine, request, solution);
}

static void fail(struct engine *engine, struct request *request, enum error_class class,
                 const char *code)
{
    struct blob *error = blob_new(slice_from(code));
    request_failed(engine, request, class, error, 0);
    blob_unref(error);
}

/* The solution of a row that may name a flight or a solution of its own. */
static struct solution *solution_for(struct recovery *recovery, uint64_t flight, uint64_t solution)
{
    return flight == 0 ? index_find(&recovery->by_uid, solution)
                       : index_find(&recovery->by_flight, flight);
}

/* Marks a solution that a request or key of a gone client still referred to. */
static void note_missed(struct engine *engine, uint64_t flight, uint64_t uid)
{
    struct solution *solution = solution_for(recovery_of(engine), flight, uid);
    if (solution != NULL)
        solution->is_missed = true;
}

/* Drops a gone client's request: nobody can read it, nor retry with the client's keys. */
static void drop_request(struct engine *engine, const struct request_row *row)
{
    const struct request gone = {.by_id.number = row->id, .is_journaled = true};
    note_missed(engine, row->flight, row->solution);
    journal_request_over(engine, &gone);
}

static void drop_idempotency(struct engine *engine, const struct idempotency_row *row)
{
    const struct idempotency gone = {.node = {.key = row->digest}};
    note_missed(engine, row->flight, row->solution);
    journal_idempotency_over(engine, &gone);
}

/* An adopted request that still waits is in this node's books as well, so that they balance. One that has ended is in
 * those of the dead one, but for the last second before a crash. */
static void count_adopted(struct engine *engine, const struct request *request)
{
    if (request->flight == NULL)
        return;
    COUNT(engine, requests);
    COUNT(engine, requests_adopted);
    TALLY(engine, request, requests);
    TALLY(engine, request, requests_adopted);
}

static void restore_request(struct engine *engine, const struct request_row *row)
{
    if (engine->clients[row->client].options.is_gone) {
        drop_request(engine, row);
        return;
    }
    struct recovery *recovery = recovery_of(engine);
    const struct restored_flight *restored = find_flight_row(recovery, row->flight);
    struct solution *solution = solution_for(recovery, row->flight, row->solution);
    journal_saw_number(engine, row->flight);
    struct request *request = request_restore(engine, row);
    if (request == NULL)
        return;
    if (restored != NULL && restored->flight != NULL)
        request->type = restored->flight->type;
    else if (solution != NULL)
        request->type = solution->type;
    request->is_booked = recovery->is_adoption;
    if (solution != NULL)
        give(engine, request, solution);
    else if (row->state == REQUEST_FAILED)
        fail(engine, request, row->class, row->code);
    else if (restored != NULL && restored->is_over)
        fail(engine, request, restored->class, restored->code);
    else if (restored != NULL && restored->flight != NULL) {
        request->is_booked = false;
        request_join(request, engine, restored->flight, row->source);
    } else {
        request_free(engine, request);
        return;
    }
    if (restored != NULL && restored->is_merged)
        journal_request(engine, request);
    if (recovery->is_adoption)
        count_adopted(engine, request);
}

static void restore_idempotency(struct engine *engine, const struct idempotency_row *row)
{
    if (engine->clients[row->client].options.is_gone) {
        drop_idempotency(engine, row);
        return;
    }
    struct recovery *recovery = recovery_of(engine);
    struct restored_flight *restored = find_flight_row(recovery, row->flight);
    struct flight *flight = restored == NULL ? NULL : restored->flight;
    struct solution *solution = solution_for(recovery, row->flight, row->solution);
    journal_saw_number(engine, row->flight);
    const uint64_t left = left_ms(engine, row->expires_wall_ms, engine->options.idempotency_ttl_ms);
    if (left > 0 && (solution != NULL || flight != NULL))
        reunite_refuse(engine, row);
    if (solution != NULL)
        reunite_solved(engine, row, solution);
    else if (flight != NULL)
        reunite_await(engine, row, restored);
    idempotency_restore(engine, row, flight, solution, left);
    if (restored != NULL && restored->is_merged)
        idempotency_rewrite(engine, &row->digest, row->client);
}

/* The pages of its books stay the dead node's. */
static bool is_left_alone(const struct engine *engine, enum record_kind kind)
{
    return engine->recovery != NULL && engine->recovery->is_adoption &&
           (kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT);
}

void engine_restore(struct engine *engine, const struct record *record)
{
    if (is_left_alone(engine, record->kind))
        return;
    switch (record->kind) {
    case RECORD_DAY:
        restore_day(engine, &record->day);
        return;
    case RECORD_TALLY:
        restore_tally(engine, &record->tally);
        return;
    case RECORD_SPENT:
        restore_spent(engine, &record->spent);
        return;
    case RECORD_SOLUTION:
        restore_solution(engine, &record->solution);
        return;
    case RECORD_FLIGHT:
        restore_flight(engine, &record->flight);
        return;
    case RECORD_ATTEMPT:
        restore_attempt(engine, &record->attempt);
        return;
    case RECORD_REQUEST:
        restore_request(engine, &record->request);
        return;
    case RECORD_IDEMPOTENCY:
        restore_idempotency(engine, &record->idempotency);
        return;
    case RECORD_LETTER:
        letter_restore(
            engine, &record->letter,
            left_ms(engine,
                    record->letter.created_wall_ms + (int64_t)engine->options.letter_keep_ms,
                    engine->options.letter_keep_ms));
        return;
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

/* ---- going on ---------------------------------------------------------------------------- */

/* Gives a flight that nobody waits for back to its pool. Callers may have flights under the pool's
 * key, too, but those have requests or idempotency keys. */
static void return_to_pool(struct engine *engine, struct flight *flight)
{
    if (flight->reuse != REUSE_SINGLE || flight->request_count > 0 ||
        !list_is_empty(&flight->idempotency))
        return;
    flight->pool = pool_by_key(engine, &flight->node.key, flight->client);
    if (flight->pool != NULL)
        flight->pool->solving++;
}

/* In shadow mode nothing is sent twice. A crash took the word of how the attempt ended, which is over. */
static bool was_its_only_attempt(const struct engine *engine, const struct flight *flight)
{
    return client_is_shadow(engine, flight->client) && flight->attempts > 0;
}

/* A flight with a task id is polled at once; one that may be paid for waits for its window, counted
 * from the intent; one not submitted is queued if somebody waits for it. Any other flight is
 * dismissed. */
static void resume(struct engine *engine, struct flight *flight)
{
    const struct attempt *attempt = flight->attempt;
    return_to_pool(engine, flight);
    history_reason(engine, flight);
    if (attempt != NULL && rest_is_due(attempt) && attempt->task_id == NULL) {
        attempt_settle(engine, flight->attempt);
    } else if (attempt != NULL && attempt->task_id != NULL) {
        flight_enter(engine, flight, FLIGHT_SOLVING, engine->now_ms);
    } else if (attempt != NULL) {
        const uint64_t until_ms = attempt->started_ms + engine->options.ambiguity_window_ms;
        flight_enter(engine, flight, FLIGHT_AMBIGUOUS,
                     until_ms > engine->now_ms ? until_ms : engine->now_ms);
    } else if (!flight_is_wanted(flight) || flight->pool != NULL) {
        flight_dismiss(engine, flight);
    } else if (was_its_only_attempt(engine, flight)) {
        flight_fail(engine, flight, CLASS_AMBIGUOUS, CODE_AMBIGUOUS_SUBMIT);
    } else if (claim_resume(engine, flight)) {
        return;
    } else if (slots_can_reserve(engine, flight)) {
        slots_reserve(engine, flight);
        budget_queue(engine, flight);
    } else {
        flight_fail(engine, flight, CLASS_ACCOUNT, CODE_NO_MEANS);
    }
}

/* A single-use solution is an orphan if nobody got it; a shared one if somebody may still have come
 * for it, or if it came late and was for nobody in particular. */
static bool is_orphan(const struct solution *solution)
{
    if (solution->is_bad)
        return false;
    return solution->is_shared ? solution->is_missed || solution->flight_uid == 0
                               : solution->handed == 0;
}

/* A gone client's paid solution becomes a letter, and the letter of a client that is back is
 * dropped. After a crash between the two rows both exist. */
static void settle_orphan(struct engine *engine, const struct solution *solution)
{
    const struct ask ask = {.reuse = solution->is_shared ? REUSE_SHARED : REUSE_SINGLE,
                            .is_one_time = solution->is_one_time};
    struct letter *letter = orphan_of(engine, solution);
    const bool is_gone = client_is_gone(engine, solution->client);
    if (!is_gone && letter != NULL)
        letter_settle(engine, letter);
    else if (is_gone && letter == NULL && is_orphan(solution) &&
             solution->expires_ms > engine->now_ms)
        letter_of_orphan(engine, solution, &ask);
}

/* What no row refers to is for whoever asks. */
static void settle_solution(struct engine *engine, struct solution *solution)
{
    settle_orphan(engine, solution);
    offer_make(engine, solution);
}

void engine_restored(struct engine *engine)
{
    struct recovery *recovery = recovery_of(engine);
    budgets_on_restored(engine);
    /* Runs only now, because new letters are numbered after all restored ones. */
    for (size_t i = 0; i < recovery->by_uid.count; i++)
        settle_solution(engine, recovery->by_uid.entries[i].solution);
    for (size_t i = 0; i < recovery->flight_count; i++)
        reunite(engine, &recovery->flights[i]);
    for (size_t i = 0; i < recovery->flight_count; i++)
        if (recovery->flights[i].flight != NULL && !recovery->flights[i].is_merged)
            resume(engine, recovery->flights[i].flight);
        else
            drop_flight(engine, recovery->flights[i].uid);
    recovery_free(engine);
    stats_balance(engine);
    /* The first tick starts what is queued; without it nothing may be due for a long time. */
    engine->is_starting = engine->queued > 0;
}

/* ---- adoption ---------------------------------------------------------------------------- */

void recovery_begin(struct engine *engine)
{
    recovery_of(engine)->is_adoption = true;
}

void recovery_complete(struct engine *engine)
{
    recovery_of(engine)->is_complete = true;
}

bool recovery_is_complete(const struct engine *engine)
{
    return engine->recovery != NULL && engine->recovery->is_complete;
}

bool recovery_awaits(const struct engine *engine, const struct attempt *attempt)
{
    const bool is_open =
        attempt == NULL || (attempt->flight != NULL && attempt->flight->is_restoring);
    return engine->adopting != 0 && is_open;
}

/* A flight that ended before all of its rows had come: those who came with them are told as well. */
static void wake_parked(struct engine *engine, struct flight *flight)
{
    idempotency_settle(engine, flight, flight->solution);
    list_unlink(&flight->link);
    list_append(&engine->waking, &flight->link);
}

/* The one that has the claim, or may have it, goes on; a submit without it becomes a stray. */
static void resume_adopted(struct engine *engine, struct flight *flight)
{
    struct flight *ours = flight->reuse == REUSE_SHARED
                              ? flight_find(engine, &flight->node.key, flight->client)
                              : NULL;
    const bool lacks_claim = flight->reuse == REUSE_SHARED && flight_claim(flight) == 0;
    if (flight->adoptions >= ADOPTIONS_MOST) {
        flight_fail(engine, flight, CLASS_TRANSIENT, CODE_ADOPTED_TOO_OFTEN);
        return;
    }
    if (ours != NULL && ours != flight) {
        follow_merge(engine, flight, ours);
        return;
    }
    if (flight->attempt != NULL && lacks_claim)
        attempt_let_go(engine, flight->attempt);
    resume(engine, flight);
}

static void go_on_with(struct engine *engine, const struct restored_flight *restored)
{
    struct flight *flight = restored->flight;
    if (flight == NULL) {
        drop_flight(engine, restored->uid);
        return;
    }
    const slab_id id = flight_id(engine, flight);
    flight->is_restoring = false;
    if (flight->state != FLIGHT_NEW)
        wake_parked(engine, flight);
    else
        resume_adopted(engine, flight);
    /* It may have gone on as another one, or been dismissed. */
    if (slab_get(&engine->flights, id) == flight)
        reunite_tell(engine, flight, restored);
}

bool recovery_go_on(struct engine *engine, uint32_t batch)
{
    struct recovery *recovery = engine->recovery;
    for (; batch > 0 && recovery->settled < recovery->by_uid.count; batch--) {
        struct solution *solution = recovery->by_uid.entries[recovery->settled++].solution;
        settle_solution(engine, solution);
        solution_unref(engine, solution);
    }
    for (; batch > 0 && recovery->repeated < recovery->repeat_count; batch--)
        reunite_repeat(engine, &recovery->repeats[recovery->repeated++]);
    for (; batch > 0 && recovery->reunited < recovery->flight_count; batch--)
        reunite(engine, &recovery->flights[recovery->reunited++]);
    for (; batch > 0 && recovery->resumed < recovery->flight_count; batch--)
        go_on_with(engine, &recovery->flights[recovery->resumed++]);
    if (batch == 0)
        return false;
    recovery_free(engine);
    return true;
}
