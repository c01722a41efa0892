/* Reads bodies of the createTask dialect (docs/createtask.md): a task becomes the vendor's parameters. */
#ifndef SOLVEGATE_PROTO_TASK_READ_H
#define SOLVEGATE_PROTO_TASK_READ_H

#include "proto/params.h"

#include <solvegate/types.h>

/* A body as it was read. */
struct task_body {
    struct slice client_key; /* not given if the body has none */
    struct slice task_id;    /* a number or text, as its characters */
    struct slice queue_id;   /* likewise */
    uint8_t layout;          /* of a task: how its solution is written (task_table.h) */
    const char *word;        /* of a mistake: the dialect's code */
    char detail[160];        /* and a sentence */
};

/* Reads a body of any content type. With has_task, params become what the same request would send
 * to in.php, options of the gateway included. Returns 0 or ERR_INVALID with word and detail; the
 * key is set even then, if it could be read. */
int task_read(struct params *params, struct slice body, bool has_task,
              struct task_body *read) MUST_CHECK;

/* The layout that is in a task id, or 0 if no task can have this id. */
uint8_t task_layout_of(request_id id);

#endif
