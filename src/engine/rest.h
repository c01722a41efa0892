/* Answers that are more than a text: a callback brings the text, and one poll the rest before anybody is told. */
#ifndef SOLVEGATE_ENGINE_REST_H
#define SOLVEGATE_ENGINE_REST_H

#include "engine/attempt.h"

/* The text is there and safe, and the rest is asked for. */
static inline bool rest_is_due(const struct attempt *attempt)
{
    return attempt->partial != NULL && !attempt_is_over(attempt);
}

/* A callback brought the text. */
void rest_await(struct engine *engine, struct attempt *attempt, const struct vendor_result *result);

/* Asks for the rest as soon as the task has a name; without one the text is all there will be. */
void rest_go_on(struct engine *engine, struct attempt *attempt);

/* A poll ended without the rest: another one, or the text alone. */
void rest_not_heard(struct engine *engine, struct attempt *attempt,
                    const struct vendor_result *result);

#endif
