/* Replies of the doors: headers that every reply carries, problems, dialect words. */
#ifndef SOLVEGATE_DOORS_REPLY_H
#define SOLVEGATE_DOORS_REPLY_H

#include "doors/visit.h"
#include "gate/gate_state.h"
#include "proto/api.h"

/* Each of these sends gate->body (or the given bytes) with gate->headers and empties both. */

/* 200, text/plain or JSON, CORS when it was asked for. */
void reply_dialect(struct gate *gate, caller_id caller, const struct visit *visit);
void reply_dialect_word(struct gate *gate, caller_id caller, const struct visit *visit,
                        struct slice word);

void reply_json(struct gate *gate, caller_id caller, const struct visit *visit, uint16_t status);
void reply_problem(struct gate *gate, caller_id caller, const struct visit *visit,
                   const struct problem *problem);
void reply_text(struct gate *gate, caller_id caller, uint16_t status, struct slice content_type);

/* Sends 200 with these bytes instead of gate->body. */
void reply_bytes(struct gate *gate, caller_id caller, const struct visit *visit,
                 struct slice content_type, struct slice body);

/* Adds one header line. */
void reply_header(struct gate *gate, struct slice name, struct slice value);
/* Adds how an answer was obtained: its source and age, and whether a key repeated it. */
void reply_answer_headers(struct gate *gate, const struct answer *answer);
/* Adds Retry-After, rounded up to seconds. */
void reply_retry_after(struct gate *gate, uint32_t retry_after_ms);

#endif
