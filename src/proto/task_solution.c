/* Solutions of the createTask dialect: the vendor's answer in the members that a type's clients read. */
#include "proto/task_solution.h"

#include "base/assert.h"
#include "proto/json_out.h"
#include "proto/task_table.h"

#include <stdlib.h>
#include <yyjson.h>

#define READ_FLAGS (YYJSON_READ_NUMBER_AS_RAW | YYJSON_READ_ALLOW_INVALID_UNICODE)

/* Places in which the parts of an answer can be. */
struct sources {
    struct slice text;
    yyjson_doc *extra_doc; /* owned, or NULL: the vendor's reply besides its text */
    yyjson_doc *text_doc;  /* owned, or NULL: the text, if it is JSON itself */
    yyjson_val *extra, *request, *inner;
};

static yyjson_doc *open_json(struct slice text)
{
    if (text.len == 0 || (text.data[0] != '{' && text.data[0] != '['))
        return NULL;
    /* The text is not written to without YYJSON_READ_INSITU. */
    return yyjson_read_opts((char *)(size_t)text.data, text.len, READ_FLAGS, NULL, NULL);
}

static void sources_open(struct sources *sources, const struct answer *answer)
{
    sources->text = blob_slice(answer->text);
    sources->extra_doc = answer->extra == NULL ? NULL : open_json(blob_slice(answer->extra));
    sources->text_doc = open_json(sources->text);
    sources->extra = yyjson_doc_get_root(sources->extra_doc);
    sources->request = yyjson_obj_get(sources->extra, "request");
    sources->inner = yyjson_doc_get_root(sources->text_doc);
}

static void sources_close(struct sources *sources)
{
    yyjson_doc_free(sources->extra_doc);
    yyjson_doc_free(sources->text_doc);
}

static yyjson_val *find_name(const struct sources *sources, const char *name)
{
    yyjson_val *const places[] = {sources->request, sources->extra, sources->inner};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        yyjson_val *const value = yyjson_obj_get(places[i], name);
        if (value != NULL && !yyjson_is_null(value))
            return value;
    }
    return NULL;
}

static yyjson_val *find_member(const struct sources *sources, const struct task_member *member)
{
    if (member->from[0] == NULL)
        return find_name(sources, member->name);
    yyjson_val *found = NULL;
    for (size_t i = 0; found == NULL && i < TASK_NAMES_MAX && member->from[i] != NULL; i++)
        found = find_name(sources, member->from[i]);
    return found;
}

static void add_json(struct buf *out, const yyjson_val *value)
{
    size_t len = 0;
    char *const text = yyjson_val_write(value, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    ASSERT(text != NULL);
    (void)json_add_clean(out, (struct slice){.data = text, .len = len});
    free(text);
}

static void add_text(struct buf *out, const char *name, struct slice text)
{
    json_member(out, name);
    (void)json_add_string(out, text);
}

/* ---- plain forms ------------------------------------------------------------------------- */

/* The value after "name" and a separator in the vendor's plain texts: challenge:…,validate:…, or
 * cf_clearance=…;user_agent=… Only the text's start and what follows an end can be a name, so that
 * a long token costs no more than one memchr. */
static struct slice find_plain(struct slice text, const char *name, char separator, char end)
{
    const struct slice word = slice_from(name);
    while (text.len > word.len) {
        const struct slice piece = slice_take(&text, end);
        if (piece.len > word.len && piece.data[word.len] == separator &&
            slice_starts_with(piece, word))
            return slice_skip(piece, word.len + 1);
    }
    return SLICE_NONE;
}

static struct slice plain_member(const struct sources *sources, const struct task_member *member)
{
    struct slice found = find_plain(sources->text, member->name, ':', ',');
    for (size_t i = 0; !slice_is_given(found) && i < TASK_NAMES_MAX && member->from[i] != NULL; i++)
        found = find_plain(sources->text, member->from[i], '=', ';');
    return found;
}

static struct slice clearance_of(const struct sources *sources)
{
    yyjson_val *value = yyjson_obj_get(find_name(sources, "cookies"), "cf_clearance");
    if (value == NULL)
        value = find_name(sources, "cf_clearance");
    if (yyjson_is_str(value))
        return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    const struct slice plain = find_plain(sources->text, "cf_clearance", '=', ';');
    return slice_is_given(plain) ? plain : sources->text;
}

/* ---- numbers and points ------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next number of a text, with a sign and a fraction if it has them. */
static bool take_number(struct slice *rest, struct slice *number)
{
    size_t at = 0;
    while (at < rest->len && !is_digit(rest->data[at]))
        at++;
    if (at == rest->len)
        return false;
    const size_t start = at > 0 && rest->data[at - 1] == '-' ? at - 1 : at;
    while (at < rest->len && is_digit(rest->data[at]))
        at++;
    if (at + 1 < rest->len && rest->data[at] == '.' && is_digit(rest->data[at + 1]))
        for (at++; at < rest->len && is_digit(rest->data[at]);)
            at++;
    *number = (struct slice){.data = rest->data + start, .len = at - start};
    *rest = slice_skip(*rest, at);
    return true;
}

/* JSON has no leading zeros. */
static void add_number(struct buf *out, struct slice number)
{
    if (number.data[0] == '-') {
        buf_add_char(out, '-');
        number = slice_skip(number, 1);
    }
    while (number.len > 1 && number.data[0] == '0' && is_digit(number.data[1]))
        number = slice_skip(number, 1);
    buf_add(out, number);
}

/* "click:1/3/7", "[1,3,7]" and "1,3,7" */
static void add_cells(struct buf *out, struct slice text)
{
    struct slice number;
    json_open(out, '[');
    while (take_number(&text, &number)) {
        json_item(out);
        add_number(out, number);
    }
    json_close(out, ']');
}

/* Points are pairs of numbers, x first, in whichever form they come: "coordinates:x=39,y=59;…" or
 * [{"x":39,"y":59}]. */
static void add_points(struct buf *out, struct slice text, bool is_pair)
{
    struct slice x;
    struct slice y;
    json_open(out, '[');
    while (take_number(&text, &x) && take_number(&text, &y)) {
        json_item(out);
        buf_add(out, is_pair ? SLICE_OF("[") : SLICE_OF("{\"x\":"));
        add_number(out, x);
        buf_add(out, is_pair ? SLICE_OF(",") : SLICE_OF(",\"y\":"));
        add_number(out, y);
        buf_add_char(out, is_pair ? ']' : '}');
    }
    json_close(out, ']');
}

static void add_first_number(struct buf *out, struct slice text)
{
    struct slice number;
    if (take_number(&text, &number))
        add_number(out, number);
    else
        buf_add_char(out, '0');
}

/* ---- members ----------------------------------------------------------------------------- */

static void write_found(struct buf *out, const struct task_member *member,
                        const struct sources *sources, struct slice otherwise)
{
    yyjson_val *const value = find_member(sources, member);
    if (value != NULL) {
        json_member(out, member->name);
        add_json(out, value);
        return;
    }
    const struct slice plain = plain_member(sources, member);
    if (slice_is_given(plain))
        add_text(out, member->name, plain);
    else if (slice_is_given(otherwise))
        add_text(out, member->name, otherwise);
}

static void write_jar(struct buf *out, const char *name, struct slice value)
{
    json_member(out, name);
    json_open(out, '{');
    add_text(out, "cf_clearance", value);
    json_close(out, '}');
}

/* An array or object of the vendor's stays one. */
static void write_json(struct buf *out, const char *name, const struct sources *sources)
{
    yyjson_val *const value = yyjson_is_ctn(sources->request) ? sources->request : sources->inner;
    json_member(out, name);
    if (value != NULL)
        add_json(out, value);
    else
        (void)json_add_string(out, sources->text);
}

static void write_member(struct buf *out, const struct task_member *member,
                         const struct sources *sources)
{
    switch (member->part) {
    case PART_ANSWER:
        add_text(out, member->name, sources->text);
        return;
    case PART_MEMBER:
        write_found(out, member, sources, SLICE_NONE);
        return;
    case PART_MEMBER_OR_NIL:
        write_found(out, member, sources, SLICE_OF(""));
        return;
    case PART_MEMBER_OR_ANSWER:
        write_found(out, member, sources, sources->text);
        return;
    case PART_CLEARANCE:
        add_text(out, member->name, clearance_of(sources));
        return;
    case PART_JAR:
        write_jar(out, member->name, clearance_of(sources));
        return;
    case PART_NIL:
        json_string(out, member->name, "");
        return;
    case PART_NUMBER:
        json_member(out, member->name);
        add_first_number(out, sources->text);
        return;
    case PART_CELLS:
        json_member(out, member->name);
        add_cells(out, sources->text);
        return;
    case PART_POINTS:
    case PART_PAIRS:
        json_member(out, member->name);
        add_points(out, sources->text, member->part == PART_PAIRS);
        return;
    case PART_JSON:
        write_json(out, member->name, sources);
        return;
    }
    UNREACHABLE();
}

void task_write_solution(struct buf *out, uint8_t layout, const struct answer *answer)
{
    struct sources sources;
    sources_open(&sources, answer);
    json_open(out, '{');
    const struct task_member *member = task_members(layout < LAYOUT_COUNT ? layout : LAYOUT_NONE);
    for (; member->name != NULL; member++)
        write_member(out, member, &sources);
    json_close(out, '}');
    sources_close(&sources);
}
