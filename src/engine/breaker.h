/* The breaker of the vendor account: while it is unavailable nothing is submitted and callers hear why. */
#ifndef SOLVEGATE_ENGINE_BREAKER_H
#define SOLVEGATE_ENGINE_BREAKER_H

#include "engine/state.h"

void breaker_init(struct engine *engine);

/* Account causes also end every flight that has not been submitted: they would only wait to fail. */
/* is_short: of money or of threads, so that only a probe that shows both closes it. */
void breaker_open(struct engine *engine, enum error_class class, struct slice cause, bool is_short);
/* As many of those as fit into a step. */
void breaker_clear(struct engine *engine);

/* Five ambiguous submits within ten seconds open it, if they are a fifth of all: ambiguity storms are
 * where money burns, and one in a hundred is no storm. */
void breaker_on_ambiguous(struct engine *engine);

bool breaker_is_open(const struct engine *engine);
uint32_t breaker_retry_after_ms(const struct engine *engine);

/* Time to probe, and what the probe said. The probe is a free call, never a submit. */
void breaker_on_timer(struct engine *engine);
void breaker_on_probed(struct engine *engine, const struct probed *probed);

#endif
