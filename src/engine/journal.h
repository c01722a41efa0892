/* Records for the store: made here as plain data, numbered, written by the shell. */
#ifndef SOLVEGATE_ENGINE_JOURNAL_H
#define SOLVEGATE_ENGINE_JOURNAL_H

#include "engine/state.h"

/* Each returns the number on which actions depend, or 0 without a journal. */
journal_seq journal_intent(struct engine *engine, const struct attempt *attempt,
                           const struct flight *flight);
journal_seq journal_outcome(struct engine *engine, const struct attempt *attempt,
                            const struct vendor_result *result);
journal_seq journal_solution(struct engine *engine, const struct attempt *attempt,
                             const struct solution *solution);
journal_seq journal_request(struct engine *engine, const struct request *request,
                            const struct ask *ask);
/* The request's answer will wait for it. */
void journal_handout(struct engine *engine, struct request *request,
                     const struct solution *solution);
journal_seq journal_failed(struct engine *engine, const struct flight *flight);

#endif
