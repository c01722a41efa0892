#include "store/store_fact.h"

#include "proto/json_out.h"
#include "store/row_words.h"

#include <sodium.h>
#include <yyjson.h>

static const char *const outcomes[] = {
    [OUTCOME_NOT_SENT] = "not_sent",
    [OUTCOME_ACCEPTED] = "accepted",
    [OUTCOME_REJECTED] = "rejected",
    [OUTCOME_AMBIGUOUS] = "ambiguous",
    [OUTCOME_PENDING] = "pending",
    [OUTCOME_SOLVED] = "solved",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_UNHEARD] = "unheard",
    [OUTCOME_UNDELIVERABLE] = "undeliverable",
    [OUTCOME_WITHDRAWN] = "withdrawn",
};
#define OUTCOMES (sizeof outcomes / sizeof outcomes[0])

/* In hexadecimal, since the vendor may write anything, also what is not UTF-8. */
static void add_text(struct buf *out, const char *name, const char *text)
{
    if (text[0] != '\0')
        json_hex(out, name, (const uint8_t *)text, strlen(text));
}

static bool read_text(yyjson_val *object, const char *name, char *text, size_t size)
{
    yyjson_val *const value = yyjson_obj_get(object, name);
    size_t count = 0;
    text[0] = '\0';
    if (value == NULL)
        return true;
    if (!yyjson_is_str(value) || sodium_hex2bin((uint8_t *)text, size - 1, yyjson_get_str(value),
                                                yyjson_get_len(value), NULL, &count, NULL) != 0)
        return false;
    text[count] = '\0';
    return strlen(text) == count;
}

void fact_add_body(struct buf *out, const struct vendor_result *result)
{
    json_open(out, '{');
    json_string(out, "outcome", outcomes[result->outcome]);
    json_string(out, "class", error_class_words.name_at(result->class));
    add_text(out, "code", result->code);
    add_text(out, "task", result->task_id);
    if (result->is_short)
        json_bool(out, "short", true);
    if (result->retry_after_ms > 0)
        json_number(out, "retry_after", result->retry_after_ms);
    json_close(out, '}');
}

static bool read_outcome(yyjson_val *object, enum outcome *outcome)
{
    yyjson_val *const value = yyjson_obj_get(object, "outcome");
    for (unsigned i = 0; i < OUTCOMES; i++)
        if (yyjson_equals_str(value, outcomes[i])) {
            *outcome = (enum outcome)i;
            return true;
        }
    return false;
}

static bool read_class(yyjson_val *object, enum error_class *class)
{
    yyjson_val *const value = yyjson_obj_get(object, "class");
    unsigned place;
    if (!yyjson_is_str(value) ||
        !row_words_find(&error_class_words,
                        (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)},
                        &place))
        return false;
    *class = (enum error_class)place;
    return true;
}

bool fact_read_body(struct slice body, struct vendor_result *result)
{
    yyjson_doc *const doc = yyjson_read(body.data, body.len, 0);
    yyjson_val *const object = yyjson_doc_get_root(doc);
    const bool is_sound = yyjson_is_obj(object) && read_outcome(object, &result->outcome) &&
                          read_class(object, &result->class) &&
                          read_text(object, "code", result->code, sizeof result->code) &&
                          read_text(object, "task", result->task_id, sizeof result->task_id);
    if (is_sound) {
        result->is_short = yyjson_get_bool(yyjson_obj_get(object, "short"));
        result->retry_after_ms = (uint32_t)yyjson_get_uint(yyjson_obj_get(object, "retry_after"));
    }
    yyjson_doc_free(doc);
    return is_sound;
}

void fact_close(struct fact *fact)
{
    blob_unref(fact->result.text);
    blob_unref(fact->result.extra);
    fact->result.text = fact->result.extra = NULL;
}
