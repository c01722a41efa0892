/* Rows for the store: made here as plain data, numbered, written by the shell. Without a journal nothing is made. */
#ifndef SOLVEGATE_ENGINE_JOURNAL_H
#define SOLVEGATE_ENGINE_JOURNAL_H

#include "engine/state.h"

void journal_init(struct engine *engine);
/* Sees to it that the books are written soon after they changed. */
void journal_on_step(struct engine *engine);
/* Today's page as it is, with those of all clients. */
void journal_books(struct engine *engine);
/* The same, but of the clients' only as many as fit into a step; ticks write the rest. */
void journal_on_books_timer(struct engine *engine);
bool journal_has_work(const struct engine *engine);
void journal_work(struct engine *engine);

/* A number for a row, never 0. They grow, also from one life to the next, so that rows made together
 * lie together on disk: a commit writes a few pages then instead of one for each row. */
uint64_t journal_number(struct engine *engine);
/* A row bears it, or names another by it: it is taken. */
void journal_saw_number(struct engine *engine, uint64_t number);
/* The same with a journal, else 0. */
uint64_t journal_uid(struct engine *engine);

/* Each replaces the row of its thing, or, as `over`, drops it. Things keep the numbers on which
 * answers depend; an intent's is returned, because its submit depends on it. */
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

/* A crash must not hand out again what is for one; the request's answer will wait for that. */
void journal_handout(struct engine *engine, struct request *request, struct solution *solution);

/* A record went to the shell; the disk has come so far; and too much is between them. */
void journal_on_taken(struct engine *engine, journal_seq seq, const struct record *record);
void journal_on_durable(struct engine *engine, journal_seq seq);
bool journal_is_full(const struct engine *engine);
void journal_check(const struct engine *engine);

#endif
