/* The vendor's task ids of the last hour: each belongs to one attempt, and a solution of a doubled
 * id is handed out once. While a flight waits for its attempt, all that is known of a task is in the attempt, which
 * then stands for it; a record is made once there is a solution, another attempt, or no flight any more. */
#ifndef SOLVEGATE_ENGINE_TASK_H
#define SOLVEGATE_ENGINE_TASK_H

#include "engine/state.h"

void tasks_init(struct engine *engine);
/* Releases what they refer to. */
void tasks_close(struct engine *engine);

/* NULL for "". */
struct blob *task_id_new(const char task_id[TASK_ID_MAX]);
/* Replaces the id, unless the other one is "". */
void task_id_change(struct blob **task_id, const char other[TASK_ID_MAX]);
/* Copies the id, or "" if there is none. */
void task_id_copy(char out[TASK_ID_MAX], const struct blob *task_id);
/* Is it this one? */
bool task_id_is(const struct blob *task_id, const char other[TASK_ID_MAX]);

/* Stands for a text that need not be kept; 0 without one. */
uint64_t task_text_hash(const struct engine *engine, const struct blob *text);

/* Records that the vendor named this task for the attempt. The first attempt owns it. Returns false
 * for any other and alerts the operator, once per attempt. */
bool task_learn(struct engine *engine, struct attempt *attempt, struct blob *name);

/* Makes the record of the attempt's task, if it stands for one: its flight is about to let go of it. */
void task_keep(struct engine *engine, struct attempt *attempt);

/* Is the task known to be another attempt's? */
bool task_is_anothers(const struct engine *engine, const struct attempt *attempt,
                      struct slice name);

/* May this attempt have the task's solution, of which it brings the text's hash? If so, the task is claimed. A
 * callback identifies the attempt by its nonce; a poll identifies only the task. */
bool task_claim(struct engine *engine, struct attempt *attempt, struct slice name,
                uint64_t text_hash, bool is_called_back);

/* Is it known which text was handed out as the task's solution, if any? */
bool task_has_text(const struct engine *engine, struct slice name);

/* A bad solution is not for others, though the vendor may bring it again under the same id. */
void task_report_bad(struct engine *engine, const struct solution *solution);

/* Restores the task of a journaled attempt, with the owner of its solution. Only what is kept is
 * for others. */
void task_restore(struct engine *engine, struct attempt *attempt);
void task_restore_solution(struct engine *engine, const struct solution *solution, bool is_kept);

/* A solution that only a letter has is still told from the next one of the same attempt. */
void task_restore_letter(struct engine *engine, const struct letter_row *row);

void tasks_check(const struct engine *engine);

#endif
