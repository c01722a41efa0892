/* JSON requests: what is read is what yyjson says the members are, and written in JSON or as a form it is the same.
 *
 * Input: the body. */
#include "same.h"

#include "proto/json_body.h"

#include <stdlib.h>
#include <yyjson.h>

/* A member's value as a parameter has it; scratch keeps what has to be written for it. */
static struct slice expected_value(yyjson_val *value, char **scratch)
{
    size_t len = 0;
    *scratch = NULL;
    if (yyjson_is_str(value))
        return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    if (yyjson_is_raw(value))
        return (struct slice){.data = yyjson_get_raw(value), .len = yyjson_get_len(value)};
    if (yyjson_is_bool(value))
        return yyjson_get_bool(value) ? SLICE_OF("true") : SLICE_OF("false");
    *scratch = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, &len);
    HOLDS(*scratch != NULL);
    return (struct slice){.data = *scratch, .len = len};
}

static void check_members(const struct params *params, yyjson_val *root)
{
    size_t count = 0;
    yyjson_obj_iter iter = yyjson_obj_iter_with(root);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        const struct slice name = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        if (yyjson_is_null(value)) {
            HOLDS(params_find(params, name) == NULL);
            continue;
        }
        char *scratch;
        HOLDS(count < params->count);
        const struct param *param = &params->items[count++];
        HOLDS(slice_equals(param->name, name));
        HOLDS(slice_equals(param->value, expected_value(value, &scratch)));
        free(scratch);
    }
    HOLDS(count == params->count);
}

static void check_against_yyjson(const struct params *params, int code, struct slice body)
{
    yyjson_doc *doc = yyjson_read(body.data, body.len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (code == 0)
        HOLDS(yyjson_is_obj(root));
    if (code == 0)
        check_members(params, root);
    yyjson_doc_free(doc);
}

/* Every value as a string: yyjson let only UTF-8 pass, so nothing is lost on the way. */
static void check_written(const struct params *params)
{
    struct buf text;
    struct params again;
    buf_init(&text, (size_t)1 << 22);
    params_init(&again, PARAMS_CAP);
    write_as_json(&text, params);
    HOLDS(params_add_body(&again, SLICE_OF("text/plain"), buf_slice(&text)) == 0);
    HOLDS(params_are_same(params, &again));
    buf_reset(&text);
    write_as_form(&text, params);
    check_form_means(buf_slice(&text), params);
    params_close(&again);
    buf_close(&text);
}

/* Too little room is an answer, also in the middle of nested values. */
static void check_full(struct slice body)
{
    struct params params;
    params_init(&params, body.len / 2 + 1);
    check_reading(&params, params_add_json(&params, body));
    params_close(&params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy((struct slice){.data = (const char *)data, .len = size});
    const struct slice body = {.data = bytes, .len = size};
    struct params params;
    params_init(&params, PARAMS_CAP);
    const int code = params_add_json(&params, body);
    check_reading(&params, code);
    check_against_yyjson(&params, code, body);
    check_full(body);
    if (code == 0) {
        check_written(&params);
        check_packing(&params);
    }
    params_close(&params);
    free(bytes);
    return 0;
}
