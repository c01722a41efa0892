/* Rows for the store: made here as numbered plain data, written by the gate. Without a journal none
 * are made. */
#ifndef SOLVEGATE_ENGINE_JOURNAL_H
#define SOLVEGATE_ENGINE_JOURNAL_H

#include "engine/state.h"

/* Asks the gate to write a row; the caller fills it in. *seq becomes its sequence number. */
struct record *journal_append(struct engine *engine, enum record_kind kind, journal_seq *seq);

/* Returns a new row number, never 0. Numbers grow, also across restarts, so that rows made together
 * lie together on disk: a commit then writes a few pages instead of one per row. */
uint64_t journal_number(struct engine *engine);
/* With a shared store: the first of as many numbers as there may be nodes (FACT_NUMBER_STEP). */
uint64_t journal_number_for_all(struct engine *engine);
/* Marks a number as taken, because a restored row has it or refers to it. */
void journal_saw_number(struct engine *engine, uint64_t number);
/* Returns journal_number() with a journal, else 0. */
uint64_t journal_uid(struct engine *engine);

/* Each function replaces the row of its object, or drops it (`over`). Objects keep the sequence
 * numbers that answers depend on; an intent's is returned, because its submit depends on it. */
void journal_flight(struct engine *engine, struct flight *flight);
void journal_flight_over(struct engine *engine, const struct flight *flight);
journal_seq journal_attempt(struct engine *engine, const struct attempt *attempt);
void journal_attempt_over(struct engine *engine, const struct attempt *attempt);
void journal_solution(struct engine *engine, struct solution *solution);
void journal_solution_over(struct engine *engine, const struct solution *solution);
void journal_request(struct engine *engine, struct request *request);
void journal_request_over(struct engine *engine, const struct request *request);
journal_seq journal_idempotency(struct engine *engine, const struct idempotency *record);
void journal_idempotency_over(struct engine *engine, const struct idempotency *record);
void journal_letter(struct engine *engine, const struct letter *letter);
void journal_letter_over(struct engine *engine, const struct letter *letter);
void journal_spent(struct engine *engine, client_id client);

/* Journals a hand-out, so that a crash cannot hand a single-use solution out again; the request's
 * answer waits for it. */
void journal_handout(struct engine *engine, struct request *request, struct solution *solution);

#endif
