/* Rows for the store: made here as numbered plain data, written by the gate. Without a journal none
 * are made. */
#ifndef SOLVEGATE_ENGINE_JOURNAL_H
#define SOLVEGATE_ENGINE_JOURNAL_H

#include "engine/state.h"

void journal_init(struct engine *engine);
/* Arms the timer that journals the books soon after they changed. */
void journal_on_step(struct engine *engine);
/* Journals today's page and all clients' tallies. */
void journal_books(struct engine *engine);
/* Journals today's page and as many tallies as fit into a step; ticks write the rest. */
void journal_on_books_timer(struct engine *engine);
bool journal_has_work(const struct engine *engine);
void journal_work(struct engine *engine);

/* Returns a new row number, never 0. Numbers grow, also across restarts, so that rows made together
 * lie together on disk: a commit then writes a few pages instead of one per row. */
uint64_t journal_number(struct engine *engine);
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

/* The backlog: a record went to the gate, records became durable, and is the backlog too large? */
void journal_on_taken(struct engine *engine, journal_seq seq, const struct record *record);
void journal_on_durable(struct engine *engine, journal_seq seq);
bool journal_is_full(const struct engine *engine);
void journal_check(const struct engine *engine);

#endif
