#include "cli/bench_log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <yyjson.h>

#define REQUEST "request_accepted"
#define LOST "log_lines_lost"

/* The fields that matter, borrowed from the line; the first one of a name counts. */
struct fields {
    struct slice time, event, key, type;
    uint64_t count;
};

static void take_field(struct fields *fields, struct slice name, struct slice value)
{
    const struct {
        struct slice name;
        struct slice *place;
    } known[] = {
        {SLICE_OF("time"), &fields->time},
        {SLICE_OF("event"), &fields->event},
        {SLICE_OF("key"), &fields->key},
        {SLICE_OF("type"), &fields->type},
    };
    unsigned long long count = 0;
    if (slice_equals(name, SLICE_OF("count")) && slice_to_u64(value, &count))
        fields->count = count;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (slice_equals(name, known[i].name) && !slice_is_given(*known[i].place))
            *known[i].place = value;
}

/* ---- the two forms ----------------------------------------------------------------------- */

/* Takes a value off the rest: up to the next blank, or a quoted one, whose escapes stay as they are. */
static struct slice take_value(struct slice *rest)
{
    if (rest->len == 0 || rest->data[0] != '"')
        return slice_take(rest, ' ');
    size_t end = 1;
    while (end < rest->len && rest->data[end] != '"')
        end += rest->data[end] == '\\' ? 2 : 1;
    if (end >= rest->len)
        end = rest->len - 1;
    const struct slice value = {.data = rest->data, .len = end + 1};
    *rest = slice_skip(*rest, end + 1);
    (void)slice_take(rest, ' ');
    return value;
}

static void read_pairs(struct slice text, struct fields *fields)
{
    while (text.len > 0) {
        size_t len = 0;
        while (len < text.len && text.data[len] != '=' && text.data[len] != ' ')
            len++;
        const struct slice name = {.data = text.data, .len = len};
        const bool is_pair = len < text.len && text.data[len] == '=';
        text = slice_skip(text, len < text.len ? len + 1 : len);
        if (is_pair)
            take_field(fields, name, take_value(&text));
    }
}

/* The document owns what the fields point to. */
static yyjson_doc *read_object(struct slice text, struct fields *fields)
{
    static const char *const names[] = {"time", "event", "key", "type"};
    yyjson_doc *const doc = yyjson_read(text.data, text.len, 0);
    yyjson_val *const root = yyjson_doc_get_root(doc);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        take_field(fields, slice_from(names[i]),
                   slice_from(yyjson_get_str(yyjson_obj_get(root, names[i]))));
    fields->count = yyjson_get_uint(yyjson_obj_get(root, "count"));
    return doc;
}

/* ---- meaning ----------------------------------------------------------------------------- */

/* "2026-01-31T23:59:59.123Z". */
static bool read_time(struct slice text, uint64_t *ms)
{
    struct tm date = {.tm_mday = 1};
    char copy[32];
    unsigned long long fraction = 0;
    if (text.len >= sizeof copy)
        return false;
    (void)snprintf(copy, sizeof copy, "%.*s", (int)text.len, text.data);
    const char *const rest = strptime(copy, "%Y-%m-%dT%H:%M:%S.", &date);
    if (rest == NULL || strlen(rest) != 4 || rest[3] != 'Z' ||
        !slice_to_u64((struct slice){.data = rest, .len = 3}, &fraction))
        return false;
    const time_t seconds = timegm(&date);
    *ms = (uint64_t)(seconds > 0 ? seconds : 0) * 1000 + fraction;
    return seconds > 0;
}

static bool is_hexadecimal(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (memchr("0123456789abcdef", text.data[i], 16) == NULL)
            return false;
    return true;
}

static bool read_request(const struct fields *fields, struct bench_log_line *line)
{
    if (!read_time(fields->time, &line->at_ms) || fields->key.len < BENCH_LOG_KEY_DIGITS ||
        !is_hexadecimal(fields->key) || fields->type.len == 0 ||
        fields->type.len >= sizeof line->type)
        return false;
    (void)snprintf(line->key, sizeof line->key, "%.*s", BENCH_LOG_KEY_DIGITS, fields->key.data);
    (void)snprintf(line->type, sizeof line->type, "%.*s", (int)fields->type.len, fields->type.data);
    return true;
}

static enum bench_log_kind judge(const struct fields *fields, struct bench_log_line *line)
{
    if (slice_equals(fields->event, SLICE_OF(REQUEST)))
        return read_request(fields, line) ? BENCH_LOG_REQUEST : BENCH_LOG_OTHER;
    line->lost = fields->count;
    return slice_equals(fields->event, SLICE_OF(LOST)) ? BENCH_LOG_LOST : BENCH_LOG_OTHER;
}

/* ---- the whole --------------------------------------------------------------------------- */

static struct slice from(struct slice text, struct slice word)
{
    const char *const found = memmem(text.data, text.len, word.data, word.len);
    return found == NULL ? SLICE_NONE : slice_skip(text, (size_t)(found - text.data));
}

enum bench_log_kind bench_log_read(struct slice text, struct bench_log_line *line)
{
    const bool may_matter =
        slice_is_given(from(text, SLICE_OF(REQUEST))) || slice_is_given(from(text, SLICE_OF(LOST)));
    struct fields fields = {.time = SLICE_NONE};
    if (!may_matter) /* most lines: they need not be taken apart */
        return BENCH_LOG_OTHER;
    const struct slice object = from(text, SLICE_OF("{\"time\":"));
    if (!slice_is_given(object)) {
        read_pairs(from(text, SLICE_OF("time=")), &fields);
        return judge(&fields, line);
    }
    yyjson_doc *const doc = read_object(object, &fields);
    const enum bench_log_kind kind = judge(&fields, line);
    yyjson_doc_free(doc);
    return kind;
}
