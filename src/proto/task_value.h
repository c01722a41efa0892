/* The parameter that a field of the table makes of a member's value. */
#ifndef SOLVEGATE_PROTO_TASK_VALUE_H
#define SOLVEGATE_PROTO_TASK_VALUE_H

#include "proto/task_work.h"

/* Adds the parameter that a field makes of a value. */
int task_put_value(struct task_work *work, const struct task_field *field,
                   struct yyjson_val *value) MUST_CHECK;

#endif
