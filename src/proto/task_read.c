/* Reads the body of a createTask request: its key, and its task as the vendor's parameters. */
#include "proto/task_read.h"

#include "proto/json_body.h"
#include "proto/params_private.h"
#include "proto/task_proxy.h"
#include "proto/task_value.h"

#include <yyjson.h>

/* Room for what is written besides the body: names in snake_case, cookies, a proxy. */
#define SPARE_BYTES ((size_t)16 * 1024)
#define SUFFIX SLICE_OF("proxyless")
/* Longer than any caller is held. */
#define INSTANT_WAIT SLICE_OF("50s")

/* ---- members ----------------------------------------------------------------------------- */

static struct slice text_of(yyjson_val *value)
{
    if (yyjson_is_str(value))
        return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    if (yyjson_is_raw(value))
        return (struct slice){.data = yyjson_get_raw(value), .len = yyjson_get_len(value)};
    return SLICE_NONE;
}

static bool is_used(const struct task_work *work, struct slice name)
{
    for (size_t i = 0; i < work->count; i++)
        if (slice_equals(work->names[i], name))
            return work->is_used[i];
    return false;
}

/* The object in a text that holds its JSON, as one client sends it. */
static yyjson_val *open_side(struct task_work *work, yyjson_val *value)
{
    for (size_t i = 0; i < work->side_count; i++)
        if (work->sides[i].of == value)
            return yyjson_doc_get_root(work->sides[i].doc);
    const struct slice text = text_of(value);
    if (text.len == 0 || text.data[0] != '{' || work->side_count == TASK_SIDES_MAX)
        return NULL;
    const bool is_small = params_check_json(work->params, text) == 0;
    work->params->mistake[0] = '\0'; /* It is passed on as text. */
    yyjson_doc *const doc =
        is_small ? yyjson_read(text.data, text.len, YYJSON_READ_NUMBER_AS_RAW) : NULL;
    work->sides[work->side_count].of = value;
    work->sides[work->side_count++].doc = doc;
    return yyjson_doc_get_root(doc);
}

static yyjson_val *object_at(struct task_work *work, struct slice name)
{
    yyjson_val *const value = yyjson_obj_getn(work->task, name.data, name.len);
    return yyjson_is_obj(value) ? value : open_side(work, value);
}

/* The "object" of "object.name"; not given if the member has no dot. */
static struct slice head_of(const char *member)
{
    const char *const dot = strchr(member, '.');
    return dot == NULL ? SLICE_NONE : (struct slice){.data = member, .len = (size_t)(dot - member)};
}

/* ---- fields ------------------------------------------------------------------------------ */

static int read_field(struct task_work *work, const struct task_field *field)
{
    const struct slice head = head_of(field->member);
    if (!slice_is_given(head)) {
        yyjson_val *value = task_member(work, field->member);
        /* The pool of workers stands beside the task. */
        if (value == NULL && field->value == VALUE_LANGUAGE)
            value = yyjson_obj_get(work->root, field->member);
        return value == NULL || yyjson_is_null(value) ? 0 : task_put_value(work, field, value);
    }
    yyjson_val *const value = yyjson_obj_get(object_at(work, head), field->member + head.len + 1);
    if (value == NULL)
        return 0;
    task_mark_used(work, head);
    return yyjson_is_null(value) ? 0 : task_put_value(work, field, value);
}

static int read_fields(struct task_work *work)
{
    int code = 0;
    for (const struct task_field *field = work->type->fields; code == 0 && field->member != NULL;
         field++)
        code = read_field(work, field);
    for (const struct task_field *field = task_common_fields; code == 0 && field->member != NULL;
         field++)
        if (!is_used(work, slice_from(field->member)))
            code = read_field(work, field);
    return code;
}

static bool is_named(const struct task_type *type, struct slice head, struct slice name)
{
    for (const struct task_field *field = type->fields; field->member != NULL; field++)
        if (slice_equals(head_of(field->member), head) &&
            slice_equals(slice_from(field->member + head.len + 1), name))
            return true;
    return false;
}

/* An object of which no field reads some member is passed on whole, so that it counts. */
static bool is_read_wholly(struct task_work *work, struct slice head)
{
    bool has_field = false;
    for (const struct task_field *field = work->type->fields; field->member != NULL; field++)
        has_field |= slice_equals(head_of(field->member), head);
    if (!has_field)
        return true;
    yyjson_obj_iter iter = yyjson_obj_iter_with(object_at(work, head));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;)
        if (!is_named(work->type, head, text_of(key)) &&
            !yyjson_is_null(yyjson_obj_iter_get_val(key)))
            return false;
    return true;
}

/* ---- members that no field names --------------------------------------------------------- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* captchaId is captcha_id, challengeURL is challenge_url, SceneId is scene_id. */
static int snake_name(struct task_work *work, struct slice name, struct slice *snake)
{
    char *const room = task_room(work, 2 * name.len);
    if (room == NULL)
        return task_check(work, params_fail_length(work->params));
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];
        const bool is_before_lower =
            i + 1 < name.len && name.data[i + 1] >= 'a' && name.data[i + 1] <= 'z';
        if (is_upper(c) && i > 0 && name.data[i - 1] != '_' &&
            (!is_upper(name.data[i - 1]) || is_before_lower))
            room[len++] = '_';
        room[len++] = is_upper(c) ? (char)(c - 'A' + 'a') : c;
    }
    buf_commit(&work->params->arena, len);
    *snake = (struct slice){.data = room, .len = len};
    return 0;
}

/* A member must not pass for a field of the call, such as the key or the method. */
static int pass_on(struct task_work *work, struct slice name, yyjson_val *value)
{
    char quoted[PARAMS_QUOTE_MAX];
    struct param item = {.filename = SLICE_NONE};
    int code = snake_name(work, name, &item.name);
    if (code != 0)
        return code;
    if (param_is_transport(item.name) || params_find(work->params, item.name) != NULL)
        return task_fail(work, "ERROR_BAD_PARAMETERS", "task: the member '%s' is not allowed here",
                         params_quote(name, quoted));
    code = params_json_text(work->params, value, &item.value);
    return task_check(work, code != 0 ? code : params_put(work->params, item));
}

static int read_others(struct task_work *work)
{
    int code = 0;
    size_t i = 0;
    yyjson_obj_iter iter = yyjson_obj_iter_with(work->task);
    for (yyjson_val *key; code == 0 && (key = yyjson_obj_iter_next(&iter)) != NULL; i++) {
        yyjson_val *const value = yyjson_obj_iter_get_val(key);
        if (yyjson_is_null(value) || (work->is_used[i] && is_read_wholly(work, work->names[i])))
            continue;
        code = pass_on(work, work->names[i], value);
    }
    return code;
}

/* ---- types ------------------------------------------------------------------------------- */

static struct slice without_suffix(struct slice type, bool *is_proxyless)
{
    const size_t len = type.len < SUFFIX.len ? 0 : type.len - SUFFIX.len;
    *is_proxyless =
        len > 0 &&
        slice_equals_nocase((struct slice){.data = type.data + len, .len = SUFFIX.len}, SUFFIX);
    return *is_proxyless ? (struct slice){.data = type.data, .len = len} : type;
}

static bool is_given(const struct task_work *work, const char *member)
{
    yyjson_val *const value = yyjson_obj_get(work->task, member);
    return value != NULL && !yyjson_is_null(value) &&
           !(yyjson_is_str(value) && yyjson_get_len(value) == 0);
}

static bool holds(const struct task_work *work, const struct task_type *type)
{
    if (type->without != NULL && is_given(work, type->without))
        return false;
    if (type->with == NULL)
        return true;
    return type->value == NULL ? is_given(work, type->with)
                               : slice_equals(text_of(yyjson_obj_get(work->task, type->with)),
                                              slice_from(type->value));
}

static int find_type(struct task_work *work)
{
    char quoted[PARAMS_QUOTE_MAX];
    const struct slice given = params_trim(text_of(yyjson_obj_get(work->task, "type")));
    const struct slice name = without_suffix(given, &work->is_proxyless);
    for (const struct task_type *type = task_types; type->name != NULL; type++)
        if (slice_equals_nocase(slice_from(type->name), name) && holds(work, type)) {
            work->type = type;
            return 0;
        }
    return task_fail(work, "ERROR_TASK_NOT_SUPPORTED", "the task type '%s' is not supported",
                     params_quote(given, quoted));
}

/* The names of an object's members; a member that is given twice contradicts itself. */
static int list_members(struct task_work *work, yyjson_val *object, const char *where)
{
    char quoted[PARAMS_QUOTE_MAX];
    work->count = 0;
    if (yyjson_obj_size(object) > PARAMS_MAX)
        return task_fail(work, "ERROR_BAD_PARAMETERS", "%s: more than %d members", where,
                         PARAMS_MAX);
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
        const struct slice name = text_of(key);
        for (size_t i = 0; i < work->count; i++)
            if (slice_equals(work->names[i], name))
                return task_fail(work, "ERROR_BAD_PARAMETERS", "%s: the member '%s' is given twice",
                                 where, params_quote(name, quoted));
        work->names[work->count++] = name;
    }
    return 0;
}

static int put_type(struct task_work *work)
{
    const struct task_type *const type = work->type;
    int code = task_put(work, "method", slice_from(type->method));
    for (size_t i = 0; code == 0 && i < TASK_FIXED_MAX && type->fixed[i].name != NULL; i++)
        code = task_put(work, type->fixed[i].name, slice_from(type->fixed[i].value));
    return code;
}

/* ---- the body around the task ------------------------------------------------------------ */

/* Options of the gateway itself, which stand beside the task, and the address of the notice. */
static int read_options(struct task_work *work)
{
    static const struct task_field options[] = {
        {"callbackUrl", "pingback", VALUE_TEXT},
        {"reuse", "reuse", VALUE_TEXT},
        {"priority", "priority", VALUE_TEXT},
        {"min_ttl", "min_ttl", VALUE_TEXT},
        {"max_age", "max_age", VALUE_TEXT},
        {"max_retries", "max_retries", VALUE_TEXT},
        {"retry_delay", "retry_delay", VALUE_TEXT},
        {"wait", "wait", VALUE_TEXT},
        {"idempotency_key", "idempotency_key", VALUE_TEXT},
    };
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof options / sizeof options[0]; i++) {
        yyjson_val *const value = yyjson_obj_get(work->root, options[i].member);
        if (value != NULL && !yyjson_is_null(value))
            code = task_put_value(work, &options[i], value);
    }
    return code;
}

/* CapSolver's clients name their application. They take an image's text from the reply to
 * createTask and never ask again. */
static int read_instant(struct task_work *work)
{
    const bool is_capsolver = slice_is_given(text_of(yyjson_obj_get(work->root, "appId"))) ||
                              slice_is_given(text_of(yyjson_obj_get(work->root, "AppID")));
    return work->type->is_instant && is_capsolver ? task_put(work, "wait", INSTANT_WAIT) : 0;
}

static int read_task(struct task_work *work)
{
    work->task = yyjson_obj_get(work->root, "task");
    if (!yyjson_is_obj(work->task))
        return task_fail(work, "ERROR_TASK_ABSENT", "the body has no object 'task'");
    int code = list_members(work, work->task, "task");
    if (code == 0)
        code = find_type(work);
    if (code == 0)
        code = put_type(work);
    if (code == 0)
        code = read_options(work);
    if (code == 0)
        code = read_instant(work);
    if (code == 0)
        code = read_fields(work);
    if (code == 0)
        code = task_put_proxy(work);
    if (code == 0)
        code = read_others(work);
    work->read->layout = work->type == NULL ? LAYOUT_NONE : (uint8_t)work->type->layout;
    return code;
}

/* cm-js writes clientkey. */
static struct slice key_of(yyjson_val *root)
{
    const struct slice key = text_of(yyjson_obj_get(root, "clientKey"));
    return slice_is_given(key) ? key : text_of(yyjson_obj_get(root, "clientkey"));
}

int task_read(struct params *params, struct slice body, bool has_task, struct task_body *read)
{
    struct task_work work = {.params = params, .read = read};
    *read = (struct task_body){.client_key = SLICE_NONE};
    params_reset(params);
    int code =
        task_check(&work, params_parse_json(params, body, body.len + SPARE_BYTES, &work.root));
    if (code == 0 && !yyjson_is_obj(work.root))
        code = task_fail(&work, "ERROR_BAD_PARAMETERS", "the body is not a JSON object");
    if (code != 0)
        return code;
    read->client_key = key_of(work.root);
    read->task_id = text_of(yyjson_obj_get(work.root, "taskId"));
    read->queue_id = text_of(yyjson_obj_get(work.root, "queueId"));
    code = list_members(&work, work.root, "the body");
    if (code != 0)
        return code;
    if (!has_task)
        return 0;
    code = read_task(&work);
    for (size_t i = 0; i < work.side_count; i++)
        yyjson_doc_free(work.sides[i].doc);
    return code;
}

uint8_t task_layout_of(request_id id)
{
    const uint64_t layout = id & ((UINT64_C(1) << SHORT_ID_LAYOUT_BITS) - 1);
    return id < SHORT_ID_LIMIT && layout < LAYOUT_COUNT ? (uint8_t)layout : LAYOUT_NONE;
}
