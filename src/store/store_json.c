#include "store/store_json.h"

#include "proto/json_out.h"
#include "store/store_words.h"

#include <stdlib.h>
#include <yyjson.h>

void store_json_add_stats(struct buf *out, const struct stats *stats)
{
    json_open(out, '{');
#define STATS_AS_MEMBER(field, text) json_number(out, #field, stats->field);
    STATS_LIST(STATS_AS_MEMBER)
#undef STATS_AS_MEMBER
    json_close(out, '}');
}

bool store_json_read_stats(struct slice json, struct stats *stats)
{
    *stats = (struct stats){0};
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    yyjson_val *const object = yyjson_doc_get_root(doc);
    const bool is_object = yyjson_is_obj(object);
    if (is_object) {
#define STATS_FROM_MEMBER(field, text) \
    stats->field = yyjson_get_uint(yyjson_obj_get(object, #field));
        STATS_LIST(STATS_FROM_MEMBER)
#undef STATS_FROM_MEMBER
    }
    yyjson_doc_free(doc);
    return is_object;
}

void store_json_add_tally(struct buf *out, const struct tally *tally)
{
    json_open(out, '{');
#define TALLY_AS_MEMBER(field, text) json_number(out, #field, tally->field);
    TALLY_LIST(TALLY_AS_MEMBER)
#undef TALLY_AS_MEMBER
    json_close(out, '}');
}

bool store_json_read_tally(struct slice json, struct tally *tally)
{
    *tally = (struct tally){0};
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    yyjson_val *const object = yyjson_doc_get_root(doc);
    const bool is_object = yyjson_is_obj(object);
    if (is_object) {
#define TALLY_FROM_MEMBER(field, text) \
    tally->field = yyjson_get_uint(yyjson_obj_get(object, #field));
        TALLY_LIST(TALLY_FROM_MEMBER)
#undef TALLY_FROM_MEMBER
    }
    yyjson_doc_free(doc);
    return is_object;
}

void store_json_add_notes(struct buf *out, const struct letter_row *letter)
{
    json_open(out, '[');
    for (size_t i = 0; i < letter->note_count; i++) {
        const struct attempt_note *const note = &letter->notes[i];
        json_open(out, '{');
        json_member(out, "began");
        buf_addf(out, "%lld", (long long)note->wall_ms);
        json_number(out, "took_ms", note->took_ms);
        json_string(out, "class", class_name(note->class));
        if (note->code != NULL)
            json_text(out, "code", blob_slice(note->code));
        if (note->task_id != NULL)
            json_text(out, "task", blob_slice(note->task_id));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static struct slice text_of(yyjson_val *object, const char *name)
{
    yyjson_val *const value = yyjson_obj_get(object, name);
    return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
}

static struct blob *blob_of(yyjson_val *object, const char *name)
{
    const struct slice text = text_of(object, name);
    return slice_is_given(text) ? blob_new(text) : NULL;
}

static bool read_note(yyjson_val *object, struct attempt_note *note)
{
    const uint64_t took_ms = yyjson_get_uint(yyjson_obj_get(object, "took_ms"));
    unsigned class = 0;
    *note = (struct attempt_note){
        .wall_ms = yyjson_get_sint(yyjson_obj_get(object, "began")),
        .took_ms = took_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)took_ms,
        .code = blob_of(object, "code"),
        .task_id = blob_of(object, "task"),
    };
    if (!word_find(text_of(object, "class"), word_of_class, CLASS_COUNT, &class))
        return false;
    note->class = (enum class) class;
    return true;
}

static bool read_notes(yyjson_val *array, struct letter_row *letter)
{
    const size_t count = yyjson_arr_size(array);
    if (!yyjson_is_arr(array) || count > NOTES_MAX)
        return false;
    if (count == 0)
        return true;
    letter->notes = calloc(count, sizeof(*letter->notes));
    ASSERT(letter->notes != NULL);
    for (size_t i = 0; i < count; i++) {
        letter->note_count = i + 1;
        if (!read_note(yyjson_arr_get(array, i), &letter->notes[i]))
            return false;
    }
    return true;
}

bool store_json_read_notes(struct slice json, struct letter_row *letter)
{
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    const bool is_good = read_notes(yyjson_doc_get_root(doc), letter);
    yyjson_doc_free(doc);
    return is_good;
}
