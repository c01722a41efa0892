/* Dead letters: flights that ended badly, kept for inspection and replay (docs/design.md 5.9). */
#ifndef SOLVEGATE_ENGINE_LETTERS_H
#define SOLVEGATE_ENGINE_LETTERS_H

#include "engine/state.h"

/* Notes an attempt that was never confirmed, made before a restart or by an earlier flight. */
void history_earlier(struct engine *engine, struct flight *flight, const struct attempt *attempt);
/* Notes why a restored flight was retried when the attempt itself is gone. */
void history_reason(struct engine *engine, struct flight *flight);
/* Adds a note about an event that is not an attempt: it started at started_ms and failed now. */
void history_note(struct engine *engine, struct history **history, uint64_t started_ms,
                  struct slice code);

/* Notes how the flight's current attempt ended; call it before attempt_let_go(). */
void history_add(struct engine *engine, struct flight *flight, enum error_class class,
                 struct slice code);
/* Copies the notes for a record; the caller owns the array. */
void history_copy(const struct history *history, struct attempt_note **notes, size_t *count);
/* Restores the notes of a record; NULL when there are none. */
struct history *history_restore(const struct attempt_note *notes, size_t count);
void history_free(struct history *history);
/* Appends a copy of `later` to *earlier and drops the oldest notes when full; either may be NULL. */
void history_join(struct history **earlier, const struct history *later);

/* The bytes that count towards limits.letter_bytes. */
uint32_t letter_bytes(const struct letter *letter);

void letters_init(struct engine *engine);

/* Queues the letter for replay. */
void letter_line_up(struct engine *engine, struct letter *letter);
/* Starts working on the replay queue. */
void letters_start_replays(struct engine *engine);

/* Called at the end of a flight: settles the letters that ride on it or adds its history to them; a
 * failure that the operator should see becomes a letter itself. */
void letters_on_solved(struct engine *engine, struct flight *flight);
void letters_on_failed(struct engine *engine, struct flight *flight);

/* Creates a letter for a notice that the caller's address did not accept. */
void letter_of_notice(struct engine *engine, struct notice *notice);
/* End the replay of a letter: it succeeded, or the letter stays. */
void letter_settle(struct engine *engine, struct letter *letter);
void letter_stays(struct engine *engine, struct letter *letter, const struct history *history);

/* Creates a letter for an unplaced paid solution: its attempt has another one already, or is no
 * longer known. */
void letter_of_solution(struct engine *engine, const struct attempt *attempt,
                        const struct vendor_result *result, struct slice error);

/* Creates a letter for a paid solution whose client is no longer configured; without params it can
 * only be inspected. */
void letter_of_orphan(struct engine *engine, const struct solution *solution,
                      const struct ask *ask);
/* Keeps a paid answer that cannot be handed out, with its bytes, as a letter; call it before the
 * flight fails. */
void letter_of_answer(struct engine *engine, struct flight *flight,
                      const struct vendor_result *result);

void letter_restore(struct engine *engine, const struct letter_row *row, uint64_t left_ms);

/* True while the letter is queued for replay and not yet on a flight. */
bool letter_is_waiting(const struct letter *letter);
bool letter_is_replaying(const struct letter *letter);
void letter_leave_ride(struct engine *engine, struct letter *letter);
void letter_drop(struct engine *engine, struct letter *letter);

/* Is there work left over from a step: orders under way, or letters to drop for their size? */
bool letters_have_work(const struct engine *engine);
void letters_work(struct engine *engine);

/* Orders (letter_orders.c). letter_jobs_pass() moves orders past a letter that is about to be freed. */
void letters_on_order(struct engine *engine, const struct letter_order *order);
/* The caller hung up: its orders are still carried out, but nobody is told of their end. */
void letters_on_gone(struct engine *engine, caller_id caller);
void letter_jobs_work(struct engine *engine);
void letter_jobs_pass(struct engine *engine, const struct letter *letter);
void letter_jobs_free(struct engine *engine);
void letters_on_replay_timer(struct engine *engine);
/* Ends the replay queue at a drain: queued letters go back to being plain letters. */
void letters_on_drain(struct engine *engine);
void letter_on_expiry(struct engine *engine, struct letter *letter);

/* Moves the letter to another client and its share. */
void letter_move(struct engine *engine, struct letter *letter, client_id client);

#endif
