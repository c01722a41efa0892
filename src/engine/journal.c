#include "engine/journal.h"

#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/history.h"
#include "engine/idempotency.h"
#include "engine/task.h"
#include "engine/vigil.h"

#include <stdlib.h>

/* How long a request's end stays readable after a crash if nobody read it before. */
#define READABLE_MS 120000

/* How much longer than remembered the row of an idempotency key stays whose flight runs, so that no crash and no other
 * node takes the key for free meanwhile, however long the flight lives or its node is down. */
#define UNSOLVED_MS INT64_C(604800000)

/* Row numbers start from the wall clock at start: 42 bits of milliseconds last until 2109, and no
 * gateway makes 2^20 rows in one millisecond. */
#define MOMENT_MASK ((INT64_C(1) << 42) - 1)
#define MOMENT_SHIFT 20
/* Leaves a random gap of up to some minutes' worth of numbers. */
#define LEAP_SHIFT 24

struct record *journal_append(struct engine *engine, enum record_kind kind, journal_seq *seq)
{
    struct action *action = engine_push(engine, ACTION_JOURNAL);
    action->after = ++engine->seq;
    action->record.kind = kind;
    *seq = action->after;
    return &action->record;
}

static struct record *append_drop(struct engine *engine, enum record_kind kind)
{
    journal_seq seq;
    struct record *record = journal_append(engine, kind, &seq);
    record->is_drop = true;
    return record;
}

/* If the clock was set back, the next numbers may have been used by rows that a crash lost; a
 * random gap avoids them. */
static uint64_t first_number(struct engine *engine)
{
    const uint64_t moment = (uint64_t)(engine->wall_ms & MOMENT_MASK) << MOMENT_SHIFT;
    if (moment > engine->seen_number)
        return moment;
    return engine->seen_number + (rand_u64(&engine->rand) >> LEAP_SHIFT);
}

uint64_t journal_number(struct engine *engine)
{
    if (engine->last_number == 0)
        engine->last_number = first_number(engine);
    if (!engine->options.store_is_shared)
        return ++engine->last_number;
    /* No two nodes make the same number: its lowest bits name the node. */
    const uint64_t round = engine->last_number / ENGINE_NODES + 1;
    engine->last_number = round * ENGINE_NODES + engine->options.node;
    return engine->last_number;
}

uint64_t journal_number_for_all(struct engine *engine)
{
    const uint64_t number = journal_number(engine);
    engine->last_number += (uint64_t)ENGINE_NODES * FACT_NUMBER_STEP;
    return number;
}

void journal_saw_number(struct engine *engine, uint64_t number)
{
    /* A damaged row may hold any number. */
    const bool is_ours = number <= (uint64_t)MOMENT_MASK << MOMENT_SHIFT;
    if (is_ours && number > engine->seen_number)
        engine->seen_number = number;
}

uint64_t journal_uid(struct engine *engine)
{
    return engine->options.has_journal ? journal_number(engine) : 0;
}

static int64_t journal_wall_ms(const struct engine *engine, uint64_t moment_ms)
{
    return engine->wall_ms + (int64_t)moment_ms - (int64_t)engine->now_ms;
}

/* ---- flights and attempts ---------------------------------------------------------------- */

void journal_flight(struct engine *engine, struct flight *flight)
{
    journal_seq seq;
    if (!engine->options.has_journal)
        return;
    struct flight_row *row = &journal_append(engine, RECORD_FLIGHT, &seq)->flight;
    flight->is_journaled = true;
    row->id = flight->uid;
    row->key = flight->node.key;
    row->client = flight->client;
    row->type = flight->type;
    row->reuse = flight->reuse;
    row->priority = flight->priority;
    row->is_one_time = flight->is_one_time;
    row->wants_rest = flight->wants_rest;
    row->has_max_retries = flight->has_max_retries;
    row->max_retries = flight->max_retries;
    row->retry_delay_ms = flight->retry_delay_ms;
    row->adoptions = flight->adoptions;
    row->is_over = flight->state == FLIGHT_FAILED;
    row->class = flight->error_class;
    row->created_wall_ms = journal_wall_ms(engine, flight->created_ms);
    /* The attempt under way has a row of its own, and does not count if its submit is withdrawn; but in shadow mode
     * there is no other one, whatever becomes of that row. */
    row->attempts = flight->attempt == NULL || flight_is_shadow(flight)
                        ? flight->attempts
                        : (uint16_t)(flight->attempt->number - 1);
    code_copy(row->code, blob_slice(flight->error));
    row->params = blob_ref(flight->params);
    row->has_idempotency = idempotency_is_awaited(flight, &row->idempotency);
}

void journal_flight_over(struct engine *engine, const struct flight *flight)
{
    if (flight->is_journaled)
        append_drop(engine, RECORD_FLIGHT)->flight.id = flight->uid;
}

journal_seq journal_attempt(struct engine *engine, const struct attempt *attempt)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return seq;
    struct attempt_row *row = &journal_append(engine, RECORD_ATTEMPT, &seq)->attempt;
    row->name = attempt->by_name.number;
    row->flight = attempt_flight_uid(attempt);
    row->key = *attempt_key(attempt);
    row->client = attempt->client;
    row->type = attempt->type;
    row->reuse = attempt->reuse;
    row->is_one_time = attempt->is_one_time;
    row->wants_rest = attempt->wants_rest;
    row->partial = attempt_is_over(attempt) ? NULL : blob_ref(attempt->partial);
    /* An attempt that is let go before its reply has been counted by the budget already. */
    row->is_counted = attempt->is_replied || attempt->was_let_go;
    row->is_closed = attempt_is_over(attempt);
    row->is_solved = attempt->state == ATTEMPT_SOLVED;
    row->started_wall_ms = journal_wall_ms(engine, attempt->started_ms);
    task_id_copy(row->task_id, attempt->task_id);
    row->number = attempt->number;
    row->why = attempt->why;
    row->is_resent = attempt->is_resent;
    row->cause_class = attempt->cause_class;
    code_copy(row->cause, blob_slice(attempt->cause));
    return seq;
}

void journal_attempt_over(struct engine *engine, const struct attempt *attempt)
{
    if (engine->options.has_journal)
        append_drop(engine, RECORD_ATTEMPT)->attempt.name = attempt->by_name.number;
}

/* ---- solutions and who gets them --------------------------------------------------------- */

/* A solution that nobody got yet is banked after a crash, whoever it was meant for; but in shadow mode
 * nobody gets what another paid for. */
static bool is_for_others(const struct engine *engine, const struct solution *solution)
{
    const bool is_set_aside = solution->is_cached || solution->pool != NULL;
    const bool is_unused = solution->handed == 0 && !client_is_shadow(engine, solution->client);
    return !solution->is_bad && !solution->is_one_time && (is_set_aside || is_unused);
}

void journal_solution(struct engine *engine, struct solution *solution)
{
    if (solution->uid == 0)
        return;
    struct solution_row *row = &journal_append(engine, RECORD_SOLUTION, &solution->seq)->solution;
    if (solution->born_seq == 0)
        solution->born_seq = solution->seq;
    row->id = solution->uid;
    row->flight = solution->flight_uid;
    row->attempt = solution->attempt;
    row->key = solution->node.key;
    row->client = solution->client;
    row->type = solution->type;
    row->born_wall_ms = journal_wall_ms(engine, solution->born_ms);
    row->expires_wall_ms = journal_wall_ms(engine, solution->expires_ms);
    row->solve_ms = solution->solve_ms;
    row->handed = solution->handed;
    row->attempts = solution->attempts;
    row->is_kept = is_for_others(engine, solution);
    row->is_shared = solution->is_shared;
    row->is_bad = solution->is_bad;
    task_id_copy(row->task_id, solution->task_id);
    row->text = blob_ref(solution->text);
    row->extra = blob_ref(solution->extra);
}

void journal_solution_over(struct engine *engine, const struct solution *solution)
{
    /* A claim that is under way may get what expires meanwhile. */
    if (engine->options.has_journal && solution->uid != 0 && !solution->is_proposed)
        append_drop(engine, RECORD_SOLUTION)->solution.id = solution->uid;
}

void journal_handout(struct engine *engine, struct request *request, struct solution *solution)
{
    journal_solution(engine, solution);
    if (solution->seq > request->seq)
        request->seq = solution->seq;
}

/* The expiry of a request that nobody read yet tells how long it stays readable. */
static void fill_final(const struct engine *engine, const struct request *request,
                       struct request_row *row)
{
    row->state = request->state;
    row->attempts = request->attempts;
    row->class = request->error_class;
    code_copy(row->code, blob_slice(request->error));
    const uint64_t until_ms =
        request->expiry.is_armed ? request->expiry.due_ms : engine->now_ms + READABLE_MS;
    row->expires_wall_ms = journal_wall_ms(engine, until_ms);
    if (request->solution != NULL)
        row->solution = request->solution->uid;
}

/* A copy of another node's solution may have no row. Once a request of ours stands for it, others may look for it. */
static void give_row(struct engine *engine, struct solution *solution)
{
    if (!engine->options.store_is_shared || solution->uid != 0)
        return;
    solution->uid = journal_uid(engine);
    solution->handed += solution->handed == 0;
    journal_solution(engine, solution);
}

void journal_request(struct engine *engine, struct request *request)
{
    if (!engine->options.has_journal)
        return;
    if (request->solution != NULL)
        give_row(engine, request->solution);
    struct request_row *row = &journal_append(engine, RECORD_REQUEST, &request->seq)->request;
    request->is_journaled = true;
    row->id = request->by_id.number;
    row->client = request->client;
    row->source = request->source;
    row->pingback = blob_ref(request->pingback);
    if (request->flight != NULL)
        row->flight = request->flight->uid;
    else
        fill_final(engine, request, row);
}

void journal_request_over(struct engine *engine, const struct request *request)
{
    if (request->is_journaled)
        append_drop(engine, RECORD_REQUEST)->request.id = request->by_id.number;
}

journal_seq journal_idempotency(struct engine *engine, const struct idempotency *record)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return seq;
    struct idempotency_row *row = &journal_append(engine, RECORD_IDEMPOTENCY, &seq)->idempotency;
    row->digest = record->node.key;
    row->client = record->client;
    row->fingerprint = record->fingerprint;
    row->flight = record->flight == NULL ? 0 : record->flight->uid;
    row->solution = record->solution == NULL ? 0 : record->solution->uid;
    row->expires_wall_ms = journal_wall_ms(engine, record->expiry.due_ms);
    if (record->flight != NULL)
        row->expires_wall_ms += UNSOLVED_MS;
    return seq;
}

void journal_idempotency_over(struct engine *engine, const struct idempotency *record)
{
    if (engine->options.has_journal)
        append_drop(engine, RECORD_IDEMPOTENCY)->idempotency.digest = record->node.key;
}

/* ---- letters and books ------------------------------------------------------------------- */

void journal_letter(struct engine *engine, const struct letter *letter)
{
    journal_seq seq;
    if (!engine->options.has_journal)
        return;
    struct letter_row *row = &journal_append(engine, RECORD_LETTER, &seq)->letter;
    row->number = letter->number;
    row->kind = letter->kind;
    row->key = letter->key;
    row->client = letter->client;
    row->type = letter->type;
    row->class = letter->class;
    row->reuse = letter->reuse;
    row->priority = letter->priority;
    row->is_one_time = letter->is_one_time;
    row->wants_rest = letter->wants_rest;
    row->created_wall_ms = letter->created_wall_ms;
    row->told = letter->told;
    row->replays = letter->replays;
    row->retries = letter->retries;
    row->error = blob_ref(letter->error);
    row->params = blob_ref(letter->params);
    row->request = letter->request;
    row->pingback = blob_ref(letter->pingback);
    row->text = blob_ref(letter->text);
    row->extra = blob_ref(letter->extra);
    row->fresh_wall_ms = letter->fresh_ms == 0 ? 0 : journal_wall_ms(engine, letter->fresh_ms);
    memcpy(row->task_id, letter->task_id, TASK_ID_MAX);
    history_copy(letter->history, &row->notes, &row->note_count);
}

void journal_letter_over(struct engine *engine, const struct letter *letter)
{
    if (engine->options.has_journal)
        append_drop(engine, RECORD_LETTER)->letter.number = letter->number;
}

void journal_spent(struct engine *engine, client_id client)
{
    journal_seq seq;
    struct client *spender = &engine->clients[client];
    /* A client without a budget needs no row. An existing row is kept up to date, because it is
     * authoritative after a restart, which may bring the budget or the client back. */
    const bool is_needed = spender->options.budget_per_day != UINT64_MAX ||
                           spender->is_spent_written || spender->options.is_gone;
    if (!engine->options.has_journal || !is_needed)
        return;
    spender->is_spent_written = true;
    struct spent_row *row = &journal_append(engine, RECORD_SPENT, &seq)->spent;
    row->client = client;
    row->day = engine->days[0].number;
    row->spent = spender->spent;
}

/* ---- records in general ------------------------------------------------------------------ */

struct blob *record_pack_stats(const struct stats *stats)
{
    return blob_new((struct slice){.data = (const char *)stats, .len = sizeof *stats});
}

struct stats record_stats(const struct day_row *day)
{
    struct stats stats = {0};
    if (day->stats != NULL)
        memcpy(&stats, day->stats->data, sizeof stats);
    return stats;
}

void record_close(struct record *record)
{
    if (record->is_drop)
        return;
    switch (record->kind) {
    case RECORD_SOLUTION:
        blob_unref(record->solution.text);
        blob_unref(record->solution.extra);
        return;
    case RECORD_FLIGHT:
        blob_unref(record->flight.params);
        return;
    case RECORD_ATTEMPT:
        blob_unref(record->attempt.partial);
        return;
    case RECORD_REQUEST:
        blob_unref(record->request.pingback);
        return;
    case RECORD_LETTER:
        blob_unref(record->letter.text);
        blob_unref(record->letter.extra);
        blob_unref(record->letter.pingback);
        blob_unref(record->letter.error);
        blob_unref(record->letter.params);
        for (size_t i = 0; i < record->letter.note_count; i++) {
            blob_unref(record->letter.notes[i].code);
            blob_unref(record->letter.notes[i].task_id);
        }
        free(record->letter.notes);
        return;
    case RECORD_DAY:
        blob_unref(record->day.stats);
        blob_unref(record->day.hours);
        return;
    case RECORD_TALLY:
    case RECORD_SPENT:
    case RECORD_IDEMPOTENCY:
    case RECORD_KIND_COUNT:
        return;
    }
    UNREACHABLE();
}
