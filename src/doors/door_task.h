/* The createTask dialect: /createTask, /getTaskResult and what stands beside them (docs/createtask.md). */
#ifndef SOLVEGATE_DOORS_DOOR_TASK_H
#define SOLVEGATE_DOORS_DOOR_TASK_H

#include "doors/door.h"

door_fn door_create_task, door_task_result, door_report_correct, door_report_incorrect;
door_fn door_balance, door_queue_stats;
/* Methods that clients have and this gateway does not. */
door_fn door_no_such_method;

/* Writes the notice to the callbackUrl of a request of this dialect; false if it is of another one. */
bool door_task_notice(struct gate *gate, const struct notify *notify, struct buf *json);

#endif
