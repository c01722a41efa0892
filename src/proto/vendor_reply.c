#include "proto/vendor_reply.h"

#include "base/assert.h"
#include "proto/vendor_errors.h"
#include "proto/vendor_scan.h"
#include "proto/vendor_text.h"

#include <stdlib.h>
#include <yyjson.h>

/* Refusals are short. A longer reply is an answer, and if it is nested too deeply to be handed out,
 * parsing it would only hold the loop, for up to 10 ms. */
#define REFUSAL_MAX_BYTES ((size_t)16 * 1024)

enum status { STATUS_ABSENT, STATUS_NO, STATUS_YES, STATUS_ODD };

static yyjson_doc *parse(struct reading *reading, struct slice json)
{
    /* Numbers stay text: an id beyond 2^53 must not pass through a double. A paid answer is
     * accepted whatever its bytes are, and whatever the vendor's server appends to the JSON. */
    const yyjson_read_flag flags =
        YYJSON_READ_NUMBER_AS_RAW | YYJSON_READ_ALLOW_INVALID_UNICODE | YYJSON_READ_STOP_WHEN_DONE;
    char *data = (char *)(size_t)json.data; /* not written to without YYJSON_READ_INSITU */
    if (yyjson_read_max_memory_usage(json.len, flags) > sizeof reading->pool - 256) {
        yyjson_read_err problem = {0};
        yyjson_doc *doc = yyjson_read_opts(data, json.len, flags, NULL, &problem);
        /* A paid answer must not be taken for unreadable because memory ran out. */
        ASSERT(doc != NULL || problem.code != YYJSON_READ_ERROR_MEMORY_ALLOCATION);
        return doc;
    }
    yyjson_alc pool;
    (void)yyjson_alc_pool_init(&pool, reading->pool, sizeof reading->pool);
    return yyjson_read_opts(data, json.len, flags, &pool, NULL);
}

static yyjson_doc *parse_prefix(struct reading *reading, struct slice json)
{
    const size_t whole = scan_whole_members(json);
    if (whole == 0)
        return NULL;
    char *closed = malloc(whole + 1);
    if (closed == NULL)
        return NULL;
    memcpy(closed, json.data, whole);
    closed[whole] = '}';
    yyjson_doc *doc = parse(reading, (struct slice){.data = closed, .len = whole + 1});
    free(closed);
    return doc;
}

static struct slice value_text(yyjson_val *value)
{
    if (yyjson_is_raw(value))
        return (struct slice){.data = yyjson_get_raw(value), .len = yyjson_get_len(value)};
    if (yyjson_is_str(value))
        return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    return SLICE_NONE;
}

/* A number, a string or a bool (docs/protocol.md 2). */
static enum status status_of(yyjson_val *value)
{
    if (value == NULL)
        return STATUS_ABSENT;
    if (yyjson_is_bool(value))
        return yyjson_get_bool(value) ? STATUS_YES : STATUS_NO;
    const struct slice text = value_text(value);
    if (slice_equals(text, SLICE_OF("1")))
        return STATUS_YES;
    return slice_equals(text, SLICE_OF("0")) ? STATUS_NO : STATUS_ODD;
}

/* Finds the members that carry the result; false if one is duplicated, which makes the reply contradictory. */
static bool find_members(yyjson_val *root, yyjson_val **status, yyjson_val **request,
                         yyjson_val **result)
{
    struct {
        const char *name;
        yyjson_val **place;
    } const known[] = {{"status", status}, {"request", request}, {"result", result}};
    yyjson_obj_iter members = yyjson_obj_iter_with(root);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&members)) != NULL;) {
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (!yyjson_equals_str(key, known[i].name))
                continue;
            if (*known[i].place != NULL)
                return false;
            *known[i].place = yyjson_obj_iter_get_val(key);
        }
    }
    return true;
}

static bool has_strings(yyjson_val *root, const char *const names[GEETEST_MEMBERS])
{
    for (size_t i = 0; i < GEETEST_MEMBERS; i++)
        if (!yyjson_is_str(yyjson_obj_get(root, names[i])))
            return false;
    return true;
}

/* GeeTest's answers may come without a status. */
static enum reading_kind kind_of_object(yyjson_val *root)
{
    if (has_strings(root, GEETEST_V3))
        return READING_GEETEST;
    return has_strings(root, GEETEST_V4) ? READING_FIELDS : READING_OBJECT;
}

/* Null and the empty string are no answer if another member has one. */
static bool is_filled(yyjson_val *value)
{
    return value != NULL && !yyjson_is_null(value) &&
           !(yyjson_is_str(value) && yyjson_get_len(value) == 0);
}

/* The reason of a refusal is in `request`; in some dialects only in `error_text`. */
static struct slice reason_of(yyjson_val *root, yyjson_val *answer)
{
    const struct slice text =
        value_text(answer != NULL ? answer : yyjson_obj_get(root, "error_text"));
    return slice_is_given(text) ? text : SLICE_OF("");
}

static void judge_json(struct reading *reading, const struct vendor_options *options)
{
    yyjson_val *root = yyjson_doc_get_root(reading->doc);
    yyjson_val *status_value = NULL;
    yyjson_val *request = NULL;
    yyjson_val *result = NULL;
    if (!yyjson_is_obj(root) || !find_members(root, &status_value, &request, &result))
        return;
    const enum status status = status_of(status_value);
    const bool is_in_request = request != NULL && (is_filled(request) || !is_filled(result));
    reading->answer = is_in_request ? request : result;
    reading->text = value_text(reading->answer);
    reading->is_number = yyjson_is_raw(reading->answer);
    reading->is_yes = status == STATUS_YES;
    reading->is_no = status == STATUS_NO;
    const bool has_answer = reading->answer != NULL && !yyjson_is_null(reading->answer);
    if (status == STATUS_ODD)
        return;
    if (yyjson_is_str(reading->answer) && vendor_is_error(options, reading->text)) {
        reading->kind = READING_ERROR;
    } else if (status == STATUS_NO) {
        reading->text = reason_of(root, reading->answer);
        reading->kind = reading->text.len > 0 || has_answer ? READING_ERROR : READING_NOTHING;
    } else if (status == STATUS_YES && has_answer) {
        reading->kind = READING_ANSWER;
    } else if (status == STATUS_YES) {
        reading->kind = READING_FIELDS;
    } else if (reading->answer == NULL) {
        reading->kind = kind_of_object(root);
    }
}

static void read_json(struct reading *reading, const struct vendor_options *options,
                      struct slice body, bool wants_prefix)
{
    if (body.len <= REFUSAL_MAX_BYTES || !scan_is_too_deep(body))
        reading->doc = parse(reading, body);
    if (reading->doc == NULL && wants_prefix) {
        reading->doc = parse_prefix(reading, body);
        reading->is_cut = reading->doc != NULL;
    }
    if (reading->doc != NULL)
        judge_json(reading, options);
    /* In a truncated reply only a success with a whole string is unmistakable: a number may continue. */
    if (reading->is_cut && (reading->kind != READING_ANSWER || reading->is_number))
        reading->kind = READING_NOTHING;
    else if (reading->kind == READING_NOTHING && scan_says_yes(body))
        reading->kind = READING_UNREADABLE;
}

/* Truncated plain text cannot be told from complete plain text, so the reply must have arrived in full. */
static void read_plain(struct reading *reading, const struct vendor_options *options,
                       struct slice body)
{
    const struct slice ok = SLICE_OF("OK|");
    if (vendor_is_error(options, body)) {
        reading->kind = READING_ERROR;
        reading->text = body;
    } else if (slice_starts_with(body, ok)) {
        reading->text = slice_skip(body, ok.len);
        reading->kind = vendor_is_error(options, reading->text) ? READING_ERROR : READING_ANSWER;
        reading->is_yes = true;
    }
}

void reading_open(struct reading *reading, const struct vendor_options *options,
                  const struct vendor_reply *reply, bool wants_prefix)
{
    reading->kind = READING_NOTHING;
    reading->text = SLICE_NONE;
    reading->is_number = false;
    reading->doc = NULL;
    reading->answer = NULL;
    reading->is_cut = false;
    reading->is_yes = false;
    reading->is_no = false;
    const struct slice body = vendor_trim(reply->body);
    if (body.len == 0)
        return;
    if (body.data[0] == '{')
        read_json(reading, options, body, wants_prefix);
    else if (reply->is_complete && !reply->is_too_big)
        read_plain(reading, options, body);
}

void reading_close(struct reading *reading)
{
    yyjson_doc_free(reading->doc);
    reading->doc = NULL;
}
