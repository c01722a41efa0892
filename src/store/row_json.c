#include "store/row_json.h"

#include "base/assert.h"
#include "proto/json_out.h"
#include "store/row_words.h"

#include <solvegate/words.h>

#include <stddef.h>
#include <stdlib.h>
#include <yyjson.h>

struct counter {
    const char *name;
    size_t offset;
};

static const struct counter stats_counters[] = {
#define STATS_AS_COUNTER(field, unit, metric, labels, text) {#field, offsetof(struct stats, field)},
    STATS_LIST(STATS_AS_COUNTER)
#undef STATS_AS_COUNTER
};

static const struct counter tally_counters[] = {
#define TALLY_AS_COUNTER(field, unit, metric, text) {#field, offsetof(struct tally, field)},
    TALLY_LIST(TALLY_AS_COUNTER)
#undef TALLY_AS_COUNTER
};

#define COUNT_OF(array) (sizeof array / sizeof((array)[0]))

static void add_counters(struct buf *out, const void *values, const struct counter *counters,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_number(out, counters[i].name,
                    *(const uint64_t *)((const void *)((const char *)values + counters[i].offset)));
}

static void read_counters(yyjson_val *object, void *values, const struct counter *counters,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = yyjson_get_uint(yyjson_obj_get(object, counters[i].name));
        memcpy((char *)values + counters[i].offset, &value, sizeof value);
    }
}

/* Hours in which nothing was paid for in shadow mode are left out. */
static void add_hours(struct buf *out, const struct blob *bytes)
{
    struct shadow_hour hours[SHADOW_HOURS];
    if (bytes == NULL || bytes->len != sizeof hours)
        return;
    memcpy(hours, bytes->data, sizeof hours);
    json_member(out, "shadow_hours");
    json_open(out, '[');
    for (unsigned i = 0; i < SHADOW_HOURS; i++) {
        if (hours[i].paid == 0)
            continue;
        json_open(out, '{');
        json_number(out, "hour", i);
        json_number(out, "paid", hours[i].paid);
        json_number(out, "duplicates", hours[i].duplicates);
        json_number(out, "saved_micro", hours[i].saved_micro);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static struct blob *read_hours(yyjson_val *list)
{
    struct shadow_hour hours[SHADOW_HOURS] = {{0}};
    yyjson_arr_iter iter;
    if (!yyjson_is_arr(list))
        return NULL;
    (void)yyjson_arr_iter_init(list, &iter);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter)) != NULL;) {
        yyjson_val *const number = yyjson_obj_get(item, "hour");
        if (!yyjson_is_uint(number) || yyjson_get_uint(number) >= SHADOW_HOURS)
            continue;
        hours[yyjson_get_uint(number)] = (struct shadow_hour){
            .paid = yyjson_get_uint(yyjson_obj_get(item, "paid")),
            .duplicates = yyjson_get_uint(yyjson_obj_get(item, "duplicates")),
            .saved_micro = yyjson_get_uint(yyjson_obj_get(item, "saved_micro")),
        };
    }
    return blob_new((struct slice){.data = (const char *)hours, .len = sizeof hours});
}

void row_json_add_stats(struct buf *out, const struct day_row *day)
{
    const struct stats stats = record_stats(day);
    json_open(out, '{');
    add_counters(out, &stats, stats_counters, COUNT_OF(stats_counters));
    add_hours(out, day->hours);
    json_close(out, '}');
}

bool row_json_read_stats(struct slice json, struct day_row *day)
{
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    yyjson_val *const object = yyjson_doc_get_root(doc);
    const bool is_object = yyjson_is_obj(object);
    struct stats stats = {0};
    read_counters(object, &stats, stats_counters, COUNT_OF(stats_counters));
    day->stats = is_object ? record_pack_stats(&stats) : NULL;
    day->hours = read_hours(yyjson_obj_get(object, "shadow_hours"));
    yyjson_doc_free(doc);
    return is_object;
}

void row_json_add_tally(struct buf *out, const struct tally *tally)
{
    json_open(out, '{');
    add_counters(out, tally, tally_counters, COUNT_OF(tally_counters));
    json_close(out, '}');
}

bool row_json_read_tally(struct slice json, struct tally *tally)
{
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    yyjson_val *const object = yyjson_doc_get_root(doc);
    const bool is_object = yyjson_is_obj(object);
    read_counters(object, tally, tally_counters, COUNT_OF(tally_counters));
    yyjson_doc_free(doc);
    return is_object;
}

void row_json_add_notes(struct buf *out, const struct letter_row *letter)
{
    json_open(out, '[');
    for (size_t i = 0; i < letter->note_count; i++) {
        const struct attempt_note *const note = &letter->notes[i];
        json_open(out, '{');
        json_member(out, "began");
        buf_addf(out, "%lld", (long long)note->wall_ms);
        json_number(out, "took_ms", note->took_ms);
        json_string(out, "class", error_class_name(note->class));
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
    if (!row_words_find(&error_class_words, text_of(object, "class"), &class))
        return false;
    note->class = (enum error_class) class;
    return true;
}

static bool read_notes(yyjson_val *array, struct letter_row *letter)
{
    const size_t count = yyjson_arr_size(array);
    if (!yyjson_is_arr(array) || count > NOTES_MAX)
        return false;
    if (count == 0)
        return true;
    letter->notes = calloc(count, sizeof *letter->notes);
    ASSERT(letter->notes != NULL);
    for (size_t i = 0; i < count; i++) {
        letter->note_count = i + 1;
        if (!read_note(yyjson_arr_get(array, i), &letter->notes[i]))
            return false;
    }
    return true;
}

bool row_json_read_notes(struct slice json, struct letter_row *letter)
{
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    const bool is_good = read_notes(yyjson_doc_get_root(doc), letter);
    yyjson_doc_free(doc);
    return is_good;
}
