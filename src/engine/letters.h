/* Dead letters: flights that ended badly, kept for inspection and replay (docs/design.md 5.9). */
#ifndef SOLVEGATE_ENGINE_LETTERS_H
#define SOLVEGATE_ENGINE_LETTERS_H

#include "engine/state.h"

/* An attempt of before a restart, or of a flight that is over, which nobody heard of. */
void history_earlier(struct engine *engine, struct flight *flight, const struct attempt *attempt);
/* Why a flight of before a restart was tried again, when the attempt that tells is gone. */
void history_reason(struct engine *engine, struct flight *flight);
/* A note about something that is no attempt: it began then and ended badly now. */
void history_note(struct engine *engine, struct history **history, uint64_t started_ms,
                  struct slice code);

/* Remembers how the flight's current attempt ended, before it is let go. */
void history_add(struct engine *engine, struct flight *flight, enum error_class class,
                 struct slice code);
/* A copy of the notes for a record; the array is the caller's. */
void history_copy(const struct history *history, struct attempt_note **notes, size_t *count);
/* The notes of a record, or NULL when there are none. */
struct history *history_restore(const struct attempt_note *notes, size_t count);
void history_free(struct history *history);
/* Appends a copy of later to *earlier, the oldest notes out first; either may be NULL. */
void history_join(struct history **earlier, const struct history *later);

/* What it counts for among limits.letter_bytes. */
uint32_t letter_bytes(const struct letter *letter);

void letters_init(struct engine *engine);

/* Has it replayed when its turn comes. */
void letter_line_up(struct engine *engine, struct letter *letter);
/* The queue is looked at from now on. */
void letters_start_replays(struct engine *engine);

/* Ends of a flight: letters that ride on it are settled or get its history; a flight that failed
 * for the operator to see becomes a letter itself. */
void letters_on_solved(struct engine *engine, struct flight *flight);
void letters_on_failed(struct engine *engine, struct flight *flight);

/* A caller's own address did not listen. */
void letter_of_notice(struct engine *engine, struct notice *notice);
/* The replay of such a letter ended: heard after all, or as before. */
void letter_settle(struct engine *engine, struct letter *letter);
void letter_stays(struct engine *engine, struct letter *letter, const struct history *history);

/* A paid solution without a place: the attempt had another one already, or is long forgotten. */
void letter_of_solution(struct engine *engine, const struct attempt *attempt,
                        const struct vendor_result *result, struct slice error);

/* A paid solution whose client is no longer configured; without params it can only be looked at. */
void letter_of_orphan(struct engine *engine, const struct solution *solution,
                      const struct ask *ask);
/* What the flight's attempt brought is paid for and cannot be handed out: kept with its bytes, before
 * the flight fails. */
void letter_of_answer(struct engine *engine, struct flight *flight,
                      const struct vendor_result *result);

void letter_restore(struct engine *engine, const struct letter_row *row, uint64_t left_ms);

/* Waiting to be replayed: in a ride, and in nobody's. */
bool letter_is_waiting(const struct letter *letter);
bool letter_is_replaying(const struct letter *letter);
void letter_leave_ride(struct engine *engine, struct letter *letter);
void letter_drop(struct engine *engine, struct letter *letter);

/* What one step could not finish: orders under way, letters that must go for their size. */
bool letters_have_work(const struct engine *engine);
void letters_work(struct engine *engine);

/* letter_orders.c. A letter goes, and no order under way may look at it next. */
void letters_on_order(struct engine *engine, const struct letter_order *order);
/* An order goes on when its caller hung up; nobody is told of its end. */
void letters_on_gone(struct engine *engine, caller_id caller);
void letter_jobs_work(struct engine *engine);
void letter_jobs_pass(struct engine *engine, const struct letter *letter);
void letter_jobs_free(struct engine *engine);
void letters_on_replay_timer(struct engine *engine);
/* Nothing starts any more: what waits for its replay stays a letter, and nobody needs to be woken for it. */
void letters_on_drain(struct engine *engine);
void letter_on_expiry(struct engine *engine, struct letter *letter);

/* It is another client's from now on, and counts as that one's. */
void letter_move(struct engine *engine, struct letter *letter, client_id client);

#endif
