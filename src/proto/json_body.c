/* JSON bodies, read in place by yyjson, and the flat object of parameters that most of them are. */
#include "proto/json_body.h"

#include "proto/params_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <yyjson.h>

/* docs/reliability.md 1.1: yyjson 0.10 has no limit of its own. */
#define DEPTH_MAX 16
/* Limits the cost of a body of nothing but commas, which would be a hundred times its length (threat 5). */
#define VALUES_MAX 4096

static int refuse_too_long(struct params *params)
{
    return params_fail_length(params);
}

/* Sets the lowest bit of each zero byte of the word. A byte above such a byte may be counted by
 * mistake, so the sum is never too small. */
static uint64_t zero_bytes(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return ((word - ones) & ~word & (ones << 7)) >> 7;
}

/* Counts bytes that open or separate values, inside strings or not, so possibly too many. Looks at
 * eight bytes at a time, because it runs over every body. */
static bool is_plainly_small(struct slice text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t openers = 0;
    uint64_t commas = 0;
    size_t i = 0;
    for (; i + 8 <= text.len; i += 8) {
        uint64_t word;
        memcpy(&word, text.data + i, 8);
        /* '[' and '{' differ only in the bit 0x20. */
        openers += (zero_bytes((word | ones * 0x20) ^ ones * '{') * ones) >> 56;
        commas += (zero_bytes(word ^ ones * ',') * ones) >> 56;
    }
    for (; i < text.len; i++) {
        openers += text.data[i] == '{' || text.data[i] == '[';
        commas += text.data[i] == ',';
    }
    return openers <= DEPTH_MAX && openers + commas <= VALUES_MAX / 2;
}

/* The exact count, for bodies with brackets or commas inside strings. yyjson checks afterwards
 * whether the text is JSON at all. */
static int scan_exactly(struct params *params, struct slice text)
{
    size_t depth = 0;
    size_t values = 0;
    bool is_string = false;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (is_string && c == '\\')
            i++;
        else if (c == '"')
            is_string = !is_string;
        else if (is_string)
            continue;
        else if (c == '{' || c == '[')
            depth++, values++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
        else if (c == ',')
            values++;
        if (depth > DEPTH_MAX)
            return params_fail(params, ERR_INVALID, "the JSON body is nested deeper than %d levels",
                               DEPTH_MAX);
        if (values > VALUES_MAX)
            return params_fail(params, ERR_FULL, "the JSON body has more than %d values",
                               VALUES_MAX);
    }
    return 0;
}

/* An object or array is stored as its compact text. The immutable writer is iterative, and the
 * depth is already limited. */
static int nested_text(struct params *params, yyjson_val *value, struct slice *text)
{
    size_t len = 0;
    yyjson_write_err problem;
    char *const written = yyjson_val_write_opts(value, YYJSON_WRITE_NOFLAG, NULL, &len, &problem);
    if (written == NULL)
        return params_fail(params, ERR_INVALID, "a JSON value cannot be written: %s", problem.msg);
    const struct buf *const arena = &params->arena;
    int code = 0;
    /* The reader's strings live in the arena, so it must not move now. Room was reserved: the
     * compact text is never longer than the text that was read. */
    if (len > arena->room - arena->len) {
        code = refuse_too_long(params);
    } else {
        *text = (struct slice){.data = arena->data + arena->len, .len = len};
        buf_add(&params->arena, (struct slice){.data = written, .len = len});
    }
    free(written);
    return code;
}

int params_json_text(struct params *params, yyjson_val *value, struct slice *text)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NONE:
    case YYJSON_TYPE_NULL:
        *text = SLICE_NONE;
        return 0;
    case YYJSON_TYPE_BOOL:
        *text = yyjson_get_bool(value) ? SLICE_OF("true") : SLICE_OF("false");
        return 0;
    case YYJSON_TYPE_RAW: /* a number, exactly as it was written */
        *text = (struct slice){.data = yyjson_get_raw(value), .len = yyjson_get_len(value)};
        return 0;
    case YYJSON_TYPE_STR:
        *text = (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
        return 0;
    default:
        return nested_text(params, value, text);
    }
}

static int add_member(struct params *params, struct slice name, yyjson_val *value)
{
    struct param item = {.name = name, .filename = SLICE_NONE};
    const int code = params_json_text(params, value, &item.value);
    if (code != 0 || !slice_is_given(item.value))
        return code;
    return params_put(params, item);
}

static int add_members(struct params *params, yyjson_val *root)
{
    struct slice names[PARAMS_MAX];
    char quoted[PARAMS_QUOTE_MAX];
    size_t count = 0;
    if (!yyjson_is_obj(root))
        return params_fail(params, ERR_INVALID, "the JSON body is not an object");
    if (yyjson_obj_size(root) > PARAMS_MAX)
        return params_fail(params, ERR_FULL, "more than %d parameters", PARAMS_MAX);
    yyjson_obj_iter iter = yyjson_obj_iter_with(root);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct slice name = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        for (size_t i = 0; i < count; i++)
            if (slice_equals(names[i], name))
                return params_fail(params, ERR_INVALID, "the JSON member '%s' is given twice",
                                   params_quote(name, quoted));
        names[count++] = name;
        const int code = add_member(params, name, yyjson_obj_iter_get_val(key));
        if (code != 0)
            return code;
    }
    return 0;
}

/* Copies the text into the arena: yyjson unescapes in place, and the values of the params stay there. */
static char *copy_text(struct params *params, struct slice body, size_t spare)
{
    const struct buf *const arena = &params->arena;
    const size_t least = body.len + YYJSON_PADDING_SIZE;
    const size_t left = arena->cap - arena->len;
    if (least > left)
        return NULL;
    char *const text = params_reserve(params, left - least < spare ? left : least + spare);
    if (text == NULL)
        return NULL;
    memcpy(text, body.data, body.len);
    memset(text + body.len, 0, YYJSON_PADDING_SIZE);
    buf_commit(&params->arena, least);
    return text;
}

int params_check_json(struct params *params, struct slice text)
{
    return is_plainly_small(text) ? 0 : scan_exactly(params, text);
}

int params_parse_json(struct params *params, struct slice body, size_t spare, yyjson_val **root)
{
    const yyjson_read_flag flags = YYJSON_READ_INSITU | YYJSON_READ_NUMBER_AS_RAW;
    yyjson_read_err problem;
    yyjson_alc pool;
    const int code = params_check_json(params, body);
    if (code != 0)
        return code;
    char *const text = copy_text(params, body, spare);
    const size_t room = yyjson_read_max_memory_usage(body.len, flags);
    char *const memory = room == 0 ? NULL : buf_reserve(&params->json_room, room);
    if (text == NULL || memory == NULL)
        return refuse_too_long(params);
    if (!yyjson_alc_pool_init(&pool, memory, room))
        return refuse_too_long(params);
    /* The document lives in the pool, which is reused for the next body: nothing to free. */
    yyjson_doc *const doc = yyjson_read_opts(text, body.len, flags, &pool, &problem);
    if (doc == NULL)
        return params_fail(params, ERR_INVALID, "the body is not valid JSON at byte %zu: %s",
                           problem.pos, problem.msg);
    *root = yyjson_doc_get_root(doc);
    return 0;
}

int params_add_json(struct params *params, struct slice body)
{
    yyjson_val *root;
    /* Nested values are written after the text and take at most about as much again. */
    const int code = params_parse_json(params, body, body.len, &root);
    return code != 0 ? code : add_members(params, root);
}
