/* Dead letters: /v1/letters. */
#ifndef SOLVEGATE_DOORS_DOOR_LETTERS_H
#define SOLVEGATE_DOORS_DOOR_LETTERS_H

#include "doors/door.h"

door_fn door_letters, door_letter, door_replay, door_replay_cancel, door_letter_drop;

/* Answers an order about letters when it is carried out. */
void door_letters_answer(struct gate *gate, const struct visit *visit,
                         const struct letters_answer *answer);

#endif
