/* Turns the value of a member into that of a parameter, as its field in the table says. */
#include "proto/task_value.h"

#include "proto/json_body.h"
#include "proto/params_private.h"

#include <yyjson.h>

#define PARTS_MAX 9

static bool is_false(struct slice text)
{
    return text.len == 0 || slice_equals(text, SLICE_OF("false")) ||
           slice_equals(text, SLICE_OF("0"));
}

static int put_flag(struct task_work *work, const char *param, struct slice text)
{
    if (is_false(text))
        return 0;
    return task_put(work, param, slice_equals(text, SLICE_OF("true")) ? SLICE_OF("1") : text);
}

static struct slice without_data_uri(struct slice text)
{
    struct slice data = text;
    const struct slice head = slice_take(&data, ',');
    return head.len < text.len && slice_starts_with(head, SLICE_OF("data:")) ? data : text;
}

/* An image is large and lies in the arena already, so it is not copied. */
static int put_image(struct task_work *work, const char *param, struct slice text)
{
    const struct slice image = without_data_uri(text);
    if (image.len == 0 || params_find(work->params, slice_from(param)) != NULL)
        return 0;
    return task_check(
        work, params_put(work->params, (struct param){.name = slice_from(param), .value = image}));
}

static int put_subdomain(struct task_work *work, const char *param, struct slice host)
{
    const bool has_scheme = host.len > 0 && memmem(host.data, host.len, "://", 3) != NULL;
    const struct slice pieces[] = {has_scheme ? SLICE_OF("") : SLICE_OF("https://"), host};
    return host.len == 0 ? 0 : task_put_joined(work, param, pieces, 2);
}

static int put_language(struct task_work *work, const char *param, struct slice pool)
{
    return task_put(work, param, slice_equals(pool, SLICE_OF("rn")) ? SLICE_OF("ru") : pool);
}

/* ---- cookies ----------------------------------------------------------------------------- */

static char *put_bytes(char *at, struct slice bytes)
{
    if (bytes.len > 0)
        memcpy(at, bytes.data, bytes.len);
    return at + bytes.len;
}

static char *put_cookie(char *at, const char *start, struct slice name, struct slice value)
{
    if (at != start)
        *at++ = ';';
    at = put_bytes(at, name);
    *at++ = ':';
    return put_bytes(at, value);
}

/* "a=b; c=d": the name ends at the first '='. A pair without one is kept as it is. */
static char *put_pairs(char *at, struct slice rest)
{
    const char *const start = at;
    while (rest.len > 0) {
        const struct slice pair = params_trim(slice_take(&rest, ';'));
        struct slice value = pair;
        const struct slice name = slice_take(&value, '=');
        if (name.len < pair.len) {
            at = put_cookie(at, start, name, value);
        } else if (pair.len > 0) {
            if (at != start)
                *at++ = ';';
            at = put_bytes(at, pair);
        }
    }
    return at;
}

static struct slice string_at(yyjson_val *object, const char *name)
{
    yyjson_val *const value = yyjson_obj_get(object, name);
    return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
}

static bool is_cookie(yyjson_val *item)
{
    return yyjson_is_str(yyjson_obj_get(item, "name")) &&
           yyjson_is_str(yyjson_obj_get(item, "value"));
}

static char *put_list(char *at, yyjson_val *list)
{
    const char *const start = at;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter)) != NULL;)
        if (is_cookie(item))
            at = put_cookie(at, start, string_at(item, "name"), string_at(item, "value"));
    return at;
}

static int put_cookies(struct task_work *work, const char *param, yyjson_val *value)
{
    struct slice text;
    int code = task_check(work, params_json_text(work->params, value, &text));
    if (code != 0)
        return code;
    /* What is written is never longer than its JSON text. */
    char *const room = task_room(work, 2 * text.len);
    if (room == NULL)
        return task_check(work, params_fail_length(work->params));
    char *const end = yyjson_is_arr(value) ? put_list(room, value) : put_pairs(room, text);
    buf_commit(&work->params->arena, (size_t)(end - room));
    return task_put(work, param, (struct slice){.data = room, .len = (size_t)(end - room)});
}

/* ---- several of one ---------------------------------------------------------------------- */

static int put_parts(struct task_work *work, yyjson_val *list)
{
    static const char *const names[PARTS_MAX] = {"part1", "part2", "part3", "part4", "part5",
                                                 "part6", "part7", "part8", "part9"};
    int code = 0;
    size_t i = 0;
    if (yyjson_arr_size(list) > PARTS_MAX)
        return task_fail(work, "ERROR_BAD_PARAMETERS", "task: more than %d parts", PARTS_MAX);
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *item; code == 0 && (item = yyjson_arr_iter_next(&iter)) != NULL; i++) {
        struct slice text;
        code = task_check(work, params_json_text(work->params, item, &text));
        if (code == 0)
            code = put_image(work, names[i], text);
    }
    return code;
}

static int put_grid(struct task_work *work, const char *param, struct slice rows)
{
    struct slice columns;
    const int code = task_member_text(work, "columns", &columns);
    const struct slice pieces[] = {rows, SLICE_OF("x"), columns.len > 0 ? columns : rows};
    return code != 0 ? code : task_put_joined(work, param, pieces, 3);
}

/* ---- all of them ------------------------------------------------------------------------- */

static int put_text_value(struct task_work *work, const struct task_field *field, struct slice text)
{
    switch (field->value) {
    case VALUE_TEXT:
        return task_put(work, field->param, text);
    case VALUE_FLAG:
        return put_flag(work, field->param, text);
    case VALUE_IMAGE:
        return put_image(work, field->param, text);
    case VALUE_SUBDOMAIN:
        return put_subdomain(work, field->param, text);
    case VALUE_LANGUAGE:
        return put_language(work, field->param, text);
    case VALUE_GRID:
        return put_grid(work, field->param, text);
    case VALUE_FRESH:
        return is_false(text) ? 0 : task_put(work, field->param, SLICE_OF("none"));
    case VALUE_COOKIES:
    case VALUE_PARTS:
    case VALUE_IGNORED:
        break;
    }
    return 0;
}

int task_put_value(struct task_work *work, const struct task_field *field, struct yyjson_val *value)
{
    struct slice text;
    if (field->value == VALUE_IGNORED)
        return 0;
    if (field->value == VALUE_COOKIES)
        return put_cookies(work, field->param, value);
    if (field->value == VALUE_PARTS)
        return put_parts(work, value);
    const int code = task_check(work, params_json_text(work->params, value, &text));
    return code != 0 ? code : put_text_value(work, field, text);
}
