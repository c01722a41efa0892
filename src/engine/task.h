/* The vendor's task ids of the last hour: each is one attempt's, and what two have is handed out once. */
#ifndef SOLVEGATE_ENGINE_TASK_H
#define SOLVEGATE_ENGINE_TASK_H

#include "engine/state.h"

void tasks_init(struct engine *engine);

/* The attempt is told that this is its task. The first to hear of it has it; when another hears the same the
 * operator is alerted, once for each attempt, and this is false. */
bool task_learn(struct engine *engine, struct attempt *attempt, const char name[TASK_ID_MAX]);

/* Is it known to be another attempt's? */
bool task_is_anothers(const struct engine *engine, const struct attempt *attempt,
                      const char name[TASK_ID_MAX]);

/* May this attempt have the solution of that task? If so, it has it from now on. A callback names the attempt
 * itself; a poll names only the task. */
bool task_claim(struct engine *engine, struct attempt *attempt, const char name[TASK_ID_MAX],
                const struct blob *text, bool is_called_back);

/* Is it known what was handed out as its solution, if anything was? */
bool task_has_text(const struct engine *engine, const char name[TASK_ID_MAX]);

/* From the journal, which knows who has what. */
void task_restore(struct engine *engine, struct attempt *attempt);
void task_restore_solution(struct engine *engine, const struct solution *solution);

void tasks_check(const struct engine *engine);

#endif
