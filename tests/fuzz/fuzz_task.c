/* Bodies of the createTask dialect: whatever they hold, they become parameters of the vendor that no caller can forge,
 * or an error with all its members; and whatever an answer holds, its solution is JSON in every layout.
 *
 * Input: the body, which also serves as the vendor's answer. */
#include "same.h"

#include "proto/pack.h"
#include "proto/task_read.h"
#include "proto/task_solution.h"
#include "proto/task_table.h"
#include "proto/task_write.h"

#include <solvegate/engine.h>

#include <stdlib.h>
#include <yyjson.h>

#define OUT_CAP ((size_t)1 << 24)
#define SOLUTION_MAX 65536

/* Options that may stand beside a task. */
static bool is_option(struct slice name)
{
    static const struct slice options[] = {
        {"pingback", 8},     {"reuse", 5},        {"priority", 8},
        {"min_ttl", 7},      {"max_age", 7},      {"wait", 4},
        {"max_retries", 11}, {"retry_delay", 11}, {"idempotency_key", 15},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (slice_equals(options[i], name))
            return true;
    return false;
}

static void check_params(const struct params *params)
{
    HOLDS(params->count > 0 && slice_equals(params->items[0].name, SLICE_OF("method")));
    for (size_t i = 0; i < params->count; i++) {
        const struct param *const param = &params->items[i];
        HOLDS(!slice_is_given(param->filename));
        HOLDS(!param_is_transport(param->name) || is_option(param->name));
        for (size_t j = 0; j < param->name.len; j++)
            HOLDS(param->name.data[j] < 'A' || param->name.data[j] > 'Z' ||
                  slice_equals(param->name, SLICE_OF("userAgent")));
    }
}

static void check_body(struct slice body)
{
    struct params params;
    struct params again;
    struct task_body read;
    struct task_body reread;
    params_init(&params, PARAMS_CAP);
    params_init(&again, PARAMS_CAP);
    const int code = task_read(&params, body, true, &read);
    HOLDS((code == 0) == (read.word == NULL));
    if (code == 0) {
        HOLDS(read.layout > LAYOUT_NONE && read.layout < LAYOUT_COUNT);
        check_reading(&params, code);
        check_params(&params);
        check_packing(&params);
        HOLDS(task_read(&again, body, true, &reread) == 0 && params_are_same(&params, &again));
        HOLDS(task_read(&again, body, false, &reread) == 0);
    } else {
        HOLDS(slice_starts_with(slice_from(read.word), SLICE_OF("ERROR_")) &&
              read.detail[0] != '\0');
    }
    params_close(&params);
    params_close(&again);
}

/* Too little room is an answer, also in the middle of a task. */
static void check_full(struct slice body)
{
    struct params params;
    struct task_body read;
    params_init(&params, body.len / 2 + 1);
    if (task_read(&params, body, true, &read) != 0)
        HOLDS(read.word != NULL);
    params_close(&params);
}

static bool is_object(struct slice text)
{
    yyjson_doc *const doc = yyjson_read(text.data, text.len, YYJSON_READ_NUMBER_AS_RAW);
    const bool is_it = yyjson_is_obj(yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return is_it;
}

static void check_solutions(struct slice text)
{
    struct buf out;
    struct answer answer = {.state = REQUEST_SOLVED, .text = blob_new(text)};
    answer.extra = is_object(text) ? blob_new(text) : NULL;
    buf_init(&out, OUT_CAP);
    for (uint8_t layout = 0; layout < (1U << SHORT_ID_LAYOUT_BITS); layout++) {
        answer.id = 64U + layout;
        buf_reset(&out);
        task_write_solution(&out, layout, &answer);
        HOLDS(!out.is_full && json_is_valid(buf_slice(&out)));
        buf_reset(&out);
        task_write_result(&out, &answer, &(struct task_facts){.wall_ms = layout, .has_id = true});
        HOLDS(!out.is_full && json_is_valid(buf_slice(&out)));
    }
    buf_close(&out);
    answer_close(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy((struct slice){.data = (const char *)data, .len = size});
    const struct slice body = {.data = bytes, .len = size};
    check_body(body);
    check_full(body);
    if (size > 0 && size <= SOLUTION_MAX)
        check_solutions(body);
    free(bytes);
    return 0;
}
