/* The working state of reading one task, and what every part of the reader does to it. */
#ifndef SOLVEGATE_PROTO_TASK_WORK_H
#define SOLVEGATE_PROTO_TASK_WORK_H

#include "proto/task_read.h"
#include "proto/task_table.h"

struct yyjson_doc;
struct yyjson_val;

/* Objects that came as text holding JSON; no type has more than one. */
#define TASK_SIDES_MAX 2

struct task_work {
    struct params *params;
    struct task_body *read;
    struct yyjson_val *root;
    struct yyjson_val *task;
    const struct task_type *type;
    bool is_proxyless;
    size_t count;                   /* of members of the task */
    struct slice names[PARAMS_MAX]; /* of its members */
    bool is_used[PARAMS_MAX];       /* a field has read it */
    struct {
        struct yyjson_val *of;
        struct yyjson_doc *doc; /* owned, or NULL if the text is not an object */
    } sides[TASK_SIDES_MAX];
    size_t side_count;
};

/* Sets word and detail and returns ERR_INVALID. */
int task_fail(struct task_work *work, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the words for a failure of params_put and its relatives, and returns ERR_INVALID; 0 stays 0. */
int task_check(struct task_work *work, int code);

/* The member of this name needs no further reading. */
void task_mark_used(struct task_work *work, struct slice name);

/* A member of the task that is not null, else NULL; marks it as used. */
struct yyjson_val *task_member(struct task_work *work, const char *name);

/* Like task_member, as text; not given if there is none or it is empty. */
int task_member_text(struct task_work *work, const char *name, struct slice *text) MUST_CHECK;

/* Adds a parameter unless it is empty or there is one of this name. The name must outlive the
 * params; the value is copied. */
int task_put(struct task_work *work, const char *name, struct slice value) MUST_CHECK;
/* Likewise, with the pieces as one value. */
int task_put_joined(struct task_work *work, const char *name, const struct slice *pieces,
                    size_t count) MUST_CHECK;

/* Room in the arena, or NULL: it must not move while the task is read. Commit with buf_commit. */
char *task_room(struct task_work *work, size_t len);

#endif
