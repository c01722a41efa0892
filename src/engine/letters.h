/* Dead letters: flights that ended badly, kept for inspection and replay (docs/design.md 5.9). */
#ifndef SOLVEGATE_ENGINE_LETTERS_H
#define SOLVEGATE_ENGINE_LETTERS_H

#include "engine/state.h"

/* The bytes that count towards limits.letter_bytes. */
uint32_t letter_bytes(const struct letter *letter);

void letters_init(struct engine *engine);

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
/* Creates a letter for an undeliverable answer that no flight waited for: its key is not paid for
 * again. */
void letter_of_late_answer(struct engine *engine, const struct attempt *attempt,
                           const struct vendor_result *result);

/* Creates a letter for a paid solution whose client is no longer configured; without params it can
 * only be inspected. */
void letter_of_orphan(struct engine *engine, const struct solution *solution,
                      const struct ask *ask);
/* Keeps a paid answer that cannot be handed out, with its bytes, as a letter; call it before the
 * flight fails. */
void letter_of_answer(struct engine *engine, struct flight *flight,
                      const struct vendor_result *result);

void letter_restore(struct engine *engine, const struct letter_row *row, uint64_t left_ms);

void letter_drop(struct engine *engine, struct letter *letter);

/* Is there work left over from a step: orders under way, or letters to drop for their size? */
bool letters_have_work(const struct engine *engine);
void letters_work(struct engine *engine);

/* Moves the letter to another client and its share. */
void letter_move(struct engine *engine, struct letter *letter, client_id client);

#endif
