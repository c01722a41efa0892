/* Solutions of the createTask dialect: an answer in the members that the clients of its task type read. */
#ifndef SOLVEGATE_PROTO_TASK_SOLUTION_H
#define SOLVEGATE_PROTO_TASK_SOLUTION_H

#include "base/buf.h"

#include <solvegate/event.h>

/* Writes the object `solution` of a solved answer. */
void task_write_solution(struct buf *out, uint8_t layout, const struct answer *answer);

#endif
