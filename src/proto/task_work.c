#include "proto/task_work.h"

#include "proto/json_body.h"
#include "proto/params_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <yyjson.h>

int task_fail(struct task_work *work, const char *word, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(work->read->detail, sizeof work->read->detail, format, args);
    va_end(args);
    work->read->word = word;
    return ERR_INVALID;
}

int task_check(struct task_work *work, int code)
{
    if (code == 0)
        return 0;
    return task_fail(
        work, work->params->is_too_long ? "ERROR_TOO_BIG_CAPTCHA_FILESIZE" : "ERROR_BAD_PARAMETERS",
        "%s", work->params->mistake);
}

char *task_room(struct task_work *work, size_t len)
{
    const struct buf *const arena = &work->params->arena;
    return len > arena->room - arena->len ? NULL : arena->data + arena->len;
}

int task_put_joined(struct task_work *work, const char *name, const struct slice *pieces,
                    size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += pieces[i].len;
    if (len == 0 || params_find(work->params, slice_from(name)) != NULL)
        return 0;
    char *const room = task_room(work, len);
    if (room == NULL)
        return task_check(work, params_fail_length(work->params));
    char *at = room;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > 0)
            memcpy(at, pieces[i].data, pieces[i].len);
        at += pieces[i].len;
    }
    buf_commit(&work->params->arena, len);
    return task_check(
        work, params_put(work->params, (struct param){.name = slice_from(name),
                                                      .value = {.data = room, .len = len}}));
}

int task_put(struct task_work *work, const char *name, struct slice value)
{
    return task_put_joined(work, name, &value, 1);
}

void task_mark_used(struct task_work *work, struct slice name)
{
    for (size_t i = 0; i < work->count; i++)
        work->is_used[i] |= slice_equals(work->names[i], name);
}

struct yyjson_val *task_member(struct task_work *work, const char *name)
{
    yyjson_val *const value = yyjson_obj_get(work->task, name);
    task_mark_used(work, slice_from(name));
    return yyjson_is_null(value) ? NULL : value;
}

int task_member_text(struct task_work *work, const char *name, struct slice *text)
{
    return task_check(work, params_json_text(work->params, task_member(work, name), text));
}
