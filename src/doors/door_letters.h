/* Dead letters: /v1/letters. */
#ifndef SOLVEGATE_DOORS_DOOR_LETTERS_H
#define SOLVEGATE_DOORS_DOOR_LETTERS_H

#include "doors/door.h"

struct letter_view;

door_fn door_letters, door_letter, door_replay, door_replay_cancel, door_letter_drop;

/* Parts that letters of other gateways need, too (door_cluster_letters.h): replays or drops one letter, unless the
 * client it is for may not ask for it; refuses; says whose a letter of this gateway is. The visit is stored. */
void letters_order_one(struct gate *gate, const struct visit *visit, const struct letter_view *view,
                       struct slice into, const struct letter_order *order);
void letters_reply_unknown(struct gate *gate, caller_id caller, const struct visit *visit);
void letters_reply_busy(struct gate *gate, caller_id caller, const struct visit *visit);
struct letter_place letters_place(const struct gate *gate, const struct letter_view *view);

/* Answers an order about letters when it is carried out. */
void door_letters_answer(struct gate *gate, const struct visit *visit,
                         const struct letters_answer *answer);

#endif
