/* Dead letters of all gateways that share the store: the store has them, and their owners carry out orders. */
#ifndef SOLVEGATE_DOORS_DOOR_CLUSTER_LETTERS_H
#define SOLVEGATE_DOORS_DOOR_CLUSTER_LETTERS_H

#include "doors/visit.h"
#include "gate/gate_state.h"
#include "store/store_letters.h"

/* Looks in the store for the page that is ordered, or for the letter that the order names; it goes on in
 * door_letters_found(). */
void cluster_letters_ask(struct gate *gate, const struct http_request *request,
                         const struct visit *visit, const struct letter_order *order);

/* As found_letters of struct gate_doors. */
void door_letters_found(struct gate *gate, const struct store_letters *letters);

/* The name of the gateway with this number; NULL if the store is not shared, "" if it is not known yet. */
const char *letters_node_name(const struct gate *gate, uint16_t node);
/* That of this one. */
const char *node_name_of_self(const struct gate *gate);

void letters_reply_away(struct gate *gate, caller_id caller, const struct visit *visit);

#endif
