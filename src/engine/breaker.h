/* The breaker of the vendor account: while the account is unavailable nothing is submitted, and
 * callers are told why. */
#ifndef SOLVEGATE_ENGINE_BREAKER_H
#define SOLVEGATE_ENGINE_BREAKER_H

#include "engine/state.h"

void breaker_init(struct engine *engine);

/* Opens the breaker. An account cause also fails every flight that has not been submitted, because
 * it would only wait in vain. is_short: money or threads are short, so only a probe that shows means
 * (account_has_means()) closes the breaker. */
void breaker_open(struct engine *engine, enum error_class class, struct slice cause, bool is_short);
/* Fails as many of those flights as fit into a step. */
void breaker_clear(struct engine *engine);

/* Opens the breaker after five ambiguous submits within ten seconds if they are at least a fifth of
 * all submits: a storm wastes money, but one lost reply in a hundred is normal. */
void breaker_on_ambiguous(struct engine *engine);

bool breaker_is_open(const struct engine *engine);
uint32_t breaker_retry_after_ms(const struct engine *engine);

/* Starts a probe, and handles its result. A probe is a free call, never a submit. */
void breaker_on_timer(struct engine *engine);
void breaker_on_probed(struct engine *engine, const struct probed *probed);

#endif
