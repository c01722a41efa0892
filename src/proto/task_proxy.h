/* The proxy of a task, in in.php's words. */
#ifndef SOLVEGATE_PROTO_TASK_PROXY_H
#define SOLVEGATE_PROTO_TASK_PROXY_H

#include "proto/task_work.h"

/* Adds `proxy` and `proxytype` if the task has a proxy. */
int task_put_proxy(struct task_work *work) MUST_CHECK;

#endif
