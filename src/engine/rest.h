/* Answers that are more than a text: a callback brings the text, and one poll brings the rest
 * before anybody is told. */
#ifndef SOLVEGATE_ENGINE_REST_H
#define SOLVEGATE_ENGINE_REST_H

#include "engine/attempt.h"

/* True while the text is there and journaled, and the rest is polled for. */
static inline bool rest_is_due(const struct attempt *attempt)
{
    return attempt->partial != NULL && !attempt_is_over(attempt);
}

/* Keeps the text that a callback brought, and starts polling for the rest. */
void rest_await(struct engine *engine, struct attempt *attempt, const struct vendor_result *result);

/* Polls for the rest once the task id is known; without one the text is the whole answer. */
void rest_go_on(struct engine *engine, struct attempt *attempt);

/* Handles a poll that ended without the rest: polls again, or settles for the text. */
void rest_not_heard(struct engine *engine, struct attempt *attempt,
                    const struct vendor_result *result);

#endif
