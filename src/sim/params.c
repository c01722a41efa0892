#include "sim/params.h"

#include "base/assert.h"
#include "sim/multipart.h"

#include <stdlib.h>
#include <yyjson.h>

#define JSON_DEPTH_MAX 32

void params_init(struct params *params)
{
    *params = (struct params){.count = 0};
}

static void drop_document(struct params *params)
{
    yyjson_doc_free(params->document);
    params->document = NULL;
}

void params_close(struct params *params)
{
    drop_document(params);
    free(params->scratch);
    params_init(params);
}

int params_add(struct params *params, const struct param *param)
{
    if (params->count == PARAMS_MAX)
        return ERR_FULL;
    params->list[params->count++] = *param;
    return 0;
}

/* Decoding never lengthens text, so one allocation suffices for the whole call and nothing moves. */
static void reserve_scratch(struct params *params, size_t bytes)
{
    params->scratch_used = 0;
    if (bytes <= params->scratch_room)
        return;
    free(params->scratch);
    params->scratch = malloc(bytes);
    ASSERT(params->scratch != NULL);
    params->scratch_room = bytes;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Percent signs that encode nothing stay unchanged, as in PHP. */
static struct slice form_decode(struct params *params, struct slice text)
{
    bool is_plain = true;

    for (size_t i = 0; i < text.len && is_plain; i++)
        is_plain = text.data[i] != '%' && text.data[i] != '+';
    if (is_plain)
        return text;
    char *out = params->scratch + params->scratch_used;
    size_t length = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        const int high = c == '%' && i + 2 < text.len ? hex_value(text.data[i + 1]) : -1;
        const int low = high >= 0 ? hex_value(text.data[i + 2]) : -1;
        if (low >= 0) {
            out[length++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[length++] = c == '+' ? ' ' : c;
        }
    }
    params->scratch_used += length;
    return (struct slice){.data = out, .len = length};
}

static int add_pair(struct params *params, const char *from, const char *end)
{
    const char *equals = memchr(from, '=', (size_t)(end - from));
    const char *name_end = equals == NULL ? end : equals;
    const struct slice name = {from, (size_t)(name_end - from)};
    const struct slice value =
        equals == NULL ? SLICE_OF("") : (struct slice){equals + 1, (size_t)(end - equals - 1)};

    if (name.len == 0)
        return 0;
    const struct param param = {.name = form_decode(params, name),
                                .value = form_decode(params, value)};
    return params_add(params, &param);
}

static int parse_form(struct params *params, struct slice form)
{
    const char *at = form.data;
    const char *end = form.data + form.len;

    while (at < end) {
        const char *mark = memchr(at, '&', (size_t)(end - at));
        const char *pair_end = mark == NULL ? end : mark;
        const int rc = add_pair(params, at, pair_end);
        if (rc != 0)
            return rc;
        at = pair_end + 1;
    }
    return 0;
}

/* The parser is iterative, but only an attack nests this deep. */
static bool is_too_deep(struct slice json)
{
    int depth = 0;
    bool is_string = false;

    for (size_t i = 0; i < json.len; i++) {
        const char c = json.data[i];
        if (is_string) {
            i += c == '\\' ? 1 : 0;
            is_string = c != '"';
        } else if (c == '"') {
            is_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > JSON_DEPTH_MAX)
                return true;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return false;
}

/* Objects and arrays are kept as their JSON text. */
static int nested_text(struct params *params, yyjson_val *value, struct slice *text)
{
    size_t length = 0;
    char *json = yyjson_val_write(value, 0, &length);

    if (json == NULL)
        return ERR_INVALID;
    if (length > params->scratch_room - params->scratch_used) {
        free(json);
        return ERR_FULL;
    }
    char *copy = params->scratch + params->scratch_used;
    memcpy(copy, json, length);
    free(json);
    params->scratch_used += length;
    *text = (struct slice){.data = copy, .len = length};
    return 0;
}

static int json_text(struct params *params, yyjson_val *value, struct slice *text)
{
    if (yyjson_is_str(value))
        *text = (struct slice){yyjson_get_str(value), yyjson_get_len(value)};
    else if (yyjson_is_raw(value))
        *text = (struct slice){yyjson_get_raw(value), yyjson_get_len(value)};
    else if (yyjson_is_bool(value))
        *text = yyjson_get_bool(value) ? SLICE_OF("true") : SLICE_OF("false");
    else if (yyjson_is_null(value))
        *text = SLICE_OF("");
    else
        return nested_text(params, value, text);
    return 0;
}

static int parse_json(struct params *params, struct slice body)
{
    if (is_too_deep(body))
        return ERR_INVALID;
    yyjson_doc *document = yyjson_read(body.data, body.len, YYJSON_READ_NUMBER_AS_RAW);
    params->document = document;
    yyjson_val *root = yyjson_doc_get_root(document);
    if (!yyjson_is_obj(root))
        return ERR_INVALID;
    yyjson_obj_iter members;
    yyjson_obj_iter_init(root, &members);
    for (yyjson_val *name = yyjson_obj_iter_next(&members); name != NULL;
         name = yyjson_obj_iter_next(&members)) {
        struct param param = {.name = {yyjson_get_str(name), yyjson_get_len(name)}};
        int rc = json_text(params, yyjson_obj_iter_get_val(name), &param.value);
        if (rc == 0)
            rc = params_add(params, &param);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static bool looks_like_json(struct slice body)
{
    size_t i = 0;

    while (i < body.len && (body.data[i] == ' ' || body.data[i] == '\t' || body.data[i] == '\r' ||
                            body.data[i] == '\n'))
        i++;
    return i < body.len && body.data[i] == '{';
}

int params_parse(struct params *params, struct slice query, struct slice content_type,
                 struct slice body)
{
    drop_document(params);
    params->count = 0;
    reserve_scratch(params, query.len + 2 * body.len + 64);
    const int rc = parse_form(params, query);
    if (rc != 0 || body.len == 0)
        return rc;
    const struct slice boundary = multipart_boundary(content_type);
    if (slice_is_given(boundary))
        return multipart_parse(params, boundary, body);
    return looks_like_json(body) ? parse_json(params, body) : parse_form(params, body);
}

const struct param *params_find(const struct params *params, struct slice name)
{
    for (size_t i = params->count; i > 0; i--)
        if (slice_equals(params->list[i - 1].name, name))
            return &params->list[i - 1];
    return NULL;
}

struct slice params_get(const struct params *params, struct slice name)
{
    const struct param *param = params_find(params, name);

    return param == NULL ? SLICE_NONE : param->value;
}

bool params_has(const struct params *params, struct slice name)
{
    return slice_trim(params_get(params, name)).len > 0;
}

bool params_is_set(const struct params *params, struct slice name)
{
    const struct slice value = params_get(params, name);

    return slice_equals(value, SLICE_OF("1")) || slice_equals_nocase(value, SLICE_OF("true"));
}
