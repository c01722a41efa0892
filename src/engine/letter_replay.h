/* The replay of dead letters: a queue, of which one letter after another rides on a flight or a notice. */
#ifndef SOLVEGATE_ENGINE_LETTER_REPLAY_H
#define SOLVEGATE_ENGINE_LETTER_REPLAY_H

#include "engine/state.h"

/* Queues the letter for replay. */
void letter_line_up(struct engine *engine, struct letter *letter);
/* Starts working on the replay queue. */
void letters_start_replays(struct engine *engine);

/* True while the letter is queued for replay and not yet on a flight. */
bool letter_is_waiting(const struct letter *letter);
bool letter_is_replaying(const struct letter *letter);
void letter_leave_ride(struct engine *engine, struct letter *letter);

void letters_on_replay_timer(struct engine *engine);
/* Ends the replay queue at a drain: queued letters go back to being plain letters. */
void letters_on_drain(struct engine *engine);
/* True while a drain leaves letters in the queue that can no longer be replayed. */
bool letters_wait_in_vain(const struct engine *engine);
/* Takes such letters from the queue, as many as fit into a step. */
void letters_end_waits(struct engine *engine);

#endif
